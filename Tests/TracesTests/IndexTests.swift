import BlobStore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Traces

/// Databases of file indexers, made up as far as paths go.
@Suite struct IndexTests {
  private static let tracker = ".cache/tracker3/files"
  private static let recoll = ".recoll/xapiandb"

  @Test func anIndexThatKnowsTheMountGoesWhole() throws {
    let home = try TraceFolder()
    try home.write("\0file:///mnt/Family/Emma/x%20y\0", at: "\(Self.tracker)/meta.db-wal")
    try home.write("5", at: "\(Self.tracker)/first-index.txt")
    try home.write("more", at: "\(Self.tracker)/errors/1")
    try home.write("Q/mnt/Family/a|", at: "\(Self.recoll)/postlist.glass")
    try home.write("topdirs = /mnt/Family/", at: ".recoll/recoll.conf")
    let found = home.search.find()
    #expect(found.failures.isEmpty)
    #expect(found.traces.allSatisfy { $0.kind == .fileIndex })
    #expect(found.traces.map(\.place) == [Self.tracker, Self.recoll].map(home.folder.appending))
    #expect(found.traces.allSatisfy { $0.path == Array(TraceFolder.mountpoint.utf8) })
    #expect(home.search.remove(sparesUnsavedWork: false) == found)
    #expect(try home.store.list(".cache/tracker3").isEmpty)
    #expect(try home.store.list(".recoll").map(\.name) == ["recoll.conf"])
    #expect(home.search.remove(sparesUnsavedWork: false) == TraceReport())
  }

  @Test(arguments: [
    "file:///mnt/Family2/a", "file:///mnt/Family", "file:///mnt/Famil%79/a", "file:///mnt/family/a",
    "",
    "file:///mnt/Family/", "mnt/Family/a",
    // A text with a path in it, and the mountpoint's own URI before an entry of 47 bytes.
    "/mnt/Family/a", "file:///mnt/Family/\u{4}\u{1}file:///mnt/x", "file:///mnt/Family/\u{81}",
  ])
  func anIndexThatDoesNotStays(text: String) throws {
    let home = try TraceFolder()
    try home.write(text, at: "\(Self.tracker)/meta.db")
    #expect(home.search.remove(sparesUnsavedWork: false) == TraceReport())
    #expect(try home.has("\(Self.tracker)/meta.db"))
  }

  @Test func aMountpointIsKnownAsAPathAndAsAURI() throws {
    for (database, text) in [
      (Self.recoll, "/mnt/Zoë & Co; 50%/a"),
      (Self.tracker, "file:///mnt/Zo%C3%AB%20&%20Co%3B%2050%25/a"),
    ] {
      let home = try TraceFolder()
      try home.write(text, at: "\(database)/meta.db")
      #expect(home.search.find() == TraceReport())
      #expect(
        home.search(below: "/mnt/Zoë & Co; 50%").remove(sparesUnsavedWork: false).traces.count == 1)
    }
  }

  @Test func anIndexInUseStays() throws {
    let home = try TraceFolder()
    try home.write("file:///mnt/Family/a", at: "\(Self.tracker)/meta.db")
    let place = home.folder.appending(Self.tracker)
    let descriptor = open(place.appending("meta.db").string, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    // As if another process had locked it: F_OFD_SETLK (fcntl.h), which Swift's module leaves out.
    var lock = flock()
    lock.l_type = Int16(F_RDLCK)
    lock.l_whence = Int16(SEEK_SET)
    try #require(fcntl(descriptor, 37, &lock) == 0)
    #expect(home.search.find().traces.count == 1)
    let report = home.search.remove(sparesUnsavedWork: false)
    #expect(report.traces.isEmpty)
    #expect(report.failures.map(\.place) == [place.string])
    #expect(report.failures.first?.reason.contains("tracker3 reset --filesystem") == true)
    #expect(try home.has("\(Self.tracker)/meta.db"))
  }

  @Test func followsNoLinkOutOfAnIndex() throws {
    let home = try TraceFolder()
    try home.write("file:///mnt/Family/a", at: "elsewhere/meta.db")
    try home.write("", at: "\(Self.tracker)/empty")
    let file = home.folder.appending("\(Self.tracker)/meta.db").string
    #expect(symlink("../../../elsewhere/meta.db", file) == 0)
    #expect(home.search.remove(sparesUnsavedWork: false) == TraceReport())
    try home.write("", at: ".recoll/empty")
    #expect(symlink("../elsewhere", home.folder.appending(Self.recoll).string) == 0)
    #expect(home.search.remove(sparesUnsavedWork: false).traces.isEmpty)
    #expect(try home.has("elsewhere/meta.db"))
  }

  /// Around the end of a part, and with all that comes near a text before it.
  @Test func aTextIsFoundWhereverItStands() {
    let texts = ["/a/bab/", "/a/ba/"].map { Array($0.utf8) }
    let scan = TextScan(for: texts, before: 0x21...0x7E)
    func found(_ bytes: [UInt8]) -> Set<Int> {
      scan.found { offset, count in Array(bytes.dropFirst(Int(offset)).prefix(count)) }
    }
    let end = TextScan.partByteCount
    for start in [0, 1, end - 8, end - 7, end - 6, end - 1, end, 2 * end - 9, 2 * end - 16] {
      let before = [UInt8](repeating: UInt8(ascii: "/"), count: start)
      #expect(found(before + texts[0] + [0x21]) == [0])
      #expect(found(before + texts[1] + [0x7E] + before.prefix(100)) == [1])
      #expect(found(before + texts[0].dropLast() + [0x30]) == [])
      #expect(found(before + texts[0] + [0x20] + before.prefix(100)) == [])
      #expect(found(before + texts[0]) == [])
    }
    #expect(found(Array("/a/a/b/bab//a/bab/c".utf8)) == [0])
    #expect(found(Array("/a/ba/bab/a/ba/a/bab/c".utf8)) == [0, 1])
    #expect(TextScan(for: [], before: 0x20...0xFF).found { _, _ in [1, 2] } == [])
  }
}
