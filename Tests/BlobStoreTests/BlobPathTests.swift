import BlobStore
import Testing

struct BlobPathTests {
  @Test(arguments: ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "./a", "a\0b"])
  func refusesMalformedPaths(_ text: String) {
    #expect(throws: BlobStoreError.invalidPath(text)) { try BlobPath(parsing: text) }
  }

  @Test(arguments: ["a", "a/b", ".a", "..a", "a..", "...", "a/.b.tmp-1-2", "é/ü"])
  func takesWellFormedPaths(_ text: String) throws {
    #expect(try BlobPath(parsing: text).string == text)
  }

  @Test func splitsIntoParentAndName() {
    let path: BlobPath = "a/b/c"
    #expect(path.parent == "a/b")
    #expect(path.name == "c")
    #expect(BlobPath("a").parent == .root)
    #expect(BlobPath.root.parent == nil)
    #expect(BlobPath.root.appending("x/y") == "x/y")
    #expect(BlobPath("x").appending("y") == "x/y")
  }

  @Test(arguments: ["", ".", "..", "a/b", "/", "a\0b"])
  func hasNoChildOfAnImpossibleName(_ name: String) {
    #expect(BlobPath("folder").child(named: name) == nil)
  }

  @Test func countsItsParts() {
    #expect(BlobPath.root.partCount == 0)
    #expect(BlobPath("a").partCount == 1)
    #expect(BlobPath("a/b/c").partCount == 3)
    #expect(BlobPath.root.child(named: "a") == "a")
    #expect(BlobPath("a").child(named: "...") == "a/...")
  }
}
