import BlobStore
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Traces

/// Lists that programs keep in files of text, from which entries go and nothing else changes.
@Suite struct ListTests {
  private static let list = ".local/share/recently-used.xbel"

  private static func bookmark(_ uri: String) -> String {
    """
      <bookmark href="\(uri)" added="2026-11-23T17:00:00Z">
        <info>
          <metadata owner="http://freedesktop.org">
            <bookmark:applications>
              <bookmark:application name="Viewer &amp; Co" exec="&apos;viewer %u&apos;" count="1"/>
            </bookmark:applications>
          </metadata>
        </info>
      </bookmark>

    """
  }

  private static func xbel(_ uris: String...) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- <bookmark href="file:///mnt/Family/in a comment"> -->
    <xbel version="1.0" xmlns:bookmark="http://www.freedesktop.org/standards/desktop-bookmarks">

    """ + uris.map(bookmark).joined() + "</xbel>"
  }

  @Test func recentlyUsedFilesOfTheMountGoAndAllElseStaysAsItIs() throws {
    let home = try TraceFolder()
    let others = ["file:///home/anna/a&amp;b%20c.pdf", "file:///mnt/Family2/x", "https://nas/y"]
    try home.write(
      Self.xbel(
        "file:///mnt/Family/Emma/wrist%20X-ray.png", others[0], others[1],
        "file:///mnt/Family/a&#38;b", "file:///mnt/Family/&quot;b&#x26;&apos;&lt;&gt;", others[2]),
      at: Self.list)
    let found = home.search.find()
    let names = found.traces.map { String(decoding: $0.path, as: UTF8.self) }
    #expect(
      names == [
        "/mnt/Family/Emma/wrist X-ray.png", "/mnt/Family/a&b", "/mnt/Family/\"b&'<>",
      ])
    #expect(home.search.remove(sparesUnsavedWork: false) == found)
    #expect(try home.text(Self.list) == Self.xbel(others[0], others[1], others[2]))
    #expect(home.search.find() == TraceReport())
  }

  @Test func aBookmarkMayBeOneTagAndStandInOneLineWithOthers() throws {
    let home = try TraceFolder()
    try home.write(
      "<xbel><bookmark href='file:///mnt/Family/a>b'/><bookmark href='file:///b'/></xbel>",
      at: Self.list)
    #expect(home.search.remove(sparesUnsavedWork: false).traces.count == 1)
    #expect(try home.text(Self.list) == "<xbel><bookmark href='file:///b'/></xbel>")
  }

  /// What cannot be read for sure is left as it is, and that is told.
  @Test(arguments: [
    "<xbel><bookmark href='file:///mnt/Family/a'>", "<xbel><bookmark href='file:///mnt/Family/a'",
    "<xbel><bookmark href='file:///mnt/Family/a'><bookmark href='file:///b'></bookmark></bookmark>",
    "<!DOCTYPE x [<!ENTITY f 'Family'>]><xbel><bookmark href='file:///mnt/&f;/a'/></xbel>",
    "<xbel><bookmark href='file:///mnt/&f;/a'/></xbel>", "<xbel><!-- <bookmark/></xbel>",
    "<xbel><bookmark href=file:///mnt/Family/a /></xbel>", "<xbel></bookmark></xbel>",
    "<xbel><![CDATA[</xbel>", "<xbel><bookmark href='&#xffffffff;'/></xbel>",
  ])
  func aListThatIsNoneIsLeftAlone(text: String) throws {
    try TraceFolder().expectLeftAlone(text, at: Self.list)
  }

  @Test func aHugeListAndALinkedOneAreLeftAlone() throws {
    let home = try TraceFolder()
    try home.write("", at: Self.list)
    #expect(
      truncate(home.folder.appending(Self.list).string, off_t(TraceLook.listByteLimit + 1)) == 0)
    #expect(home.search.remove(sparesUnsavedWork: false).failures.count == 1)
    try home.store.remove(.init(Self.list))
    try home.write(Self.xbel("file:///mnt/Family/a"), at: "elsewhere")
    #expect(symlink("../../elsewhere", home.folder.appending(Self.list).string) == 0)
    let report = home.search.remove(sparesUnsavedWork: false)
    #expect(report.traces.isEmpty && report.failures.count == 1)
    #expect(try home.text("elsewhere") == Self.xbel("file:///mnt/Family/a"))
  }

  @Test func marksAndJumpsInVimsHistoryGoWithTheirLines() throws {
    let home = try TraceFolder()
    let mine = "> ~/doc.txt\n\t*\t1795453705\t0\n\t\"\t2\t0\n"
    let kept = "# File marks:\n'0  2  0  ~/doc.txt\n|4,48,2,0,1795453705,\"~/doc.txt\"\n"
    let last = "# Registers:\n\"0\tLINE\t0\n\t> /mnt/Family/in a register\n:e /mnt/Family/command\n"
    try home.write(
      "# File marks:\n'A  2  0  /mnt/Family/a b.txt\n|4,65,2,0,1795453705,\"/mnt/Family/a b.txt\"\n"
        + kept.dropFirst(14) + "-'  2  0  /mnt/Family/c\n|4,39,2,0,1,\"/mnt/Family/c\"\n"
        + "%/mnt/Family/d\t2\t0\n> /mnt/Family/a b.txt\n\t*\t1\t0\n\t\"\t2\t0\n\n" + mine + last
        + "> /mnt/Family/e\n\t*\t1\t0", at: ".viminfo")
    let report = home.search.remove(sparesUnsavedWork: false)
    #expect(report.traces.count == 5)
    #expect(report.traces.allSatisfy { $0.kind == .vimHistory })
    #expect(try home.text(".viminfo") == kept + "\n" + mine + last)
  }

  @Test func swapFilesOfTheMountGoUnlessAnEditorRuns() throws {
    let home = try TraceFolder()
    func swap(_ path: String, process: Int32) -> [UInt8] {
      var block = Array("b0VIM 9.0".utf8) + [UInt8](repeating: 0, count: 4096)
      let number = UInt32(bitPattern: process)
      for (index, shift) in [0, 8, 16, 24].enumerated() {
        block[24 + index] = UInt8(truncatingIfNeeded: number >> UInt32(shift))
      }
      block.replaceSubrange(108..<108 + path.utf8.count, with: path.utf8)
      return block
    }
    try home.write(swap("/mnt/Family/a", process: 0), at: "shared/.a.swp")
    try home.write(swap("/mnt/Family2/a", process: 0), at: "shared/.a.swo")
    try home.write(swap("/mnt/Family/run", process: getpid()), at: "shared/.run.swp")
    try home.write(swap("/mnt/Family/a", process: 0), at: "shared/picture.png")
    try home.write(Array("b0VIM".utf8), at: "tmp/.cut.swp")
    let spared = home.search.remove(sparesUnsavedWork: true)
    #expect(spared.unsavedWork.map(\.place) == [home.folder.appending("shared/.a.swp")])
    #expect(try spared.traces.isEmpty && home.has("shared/.a.swp"))
    #expect(home.search.find().traces.count == 2)
    let report = home.search.remove(sparesUnsavedWork: false)
    #expect(report.traces.map(\.path) == [Array("/mnt/Family/a".utf8)])
    #expect(report.failures.map(\.place) == [home.folder.appending("shared/.run.swp").string])
    #expect(try !home.has("shared/.a.swp"))
    #expect(try home.has("shared/.a.swo") && home.has("shared/.run.swp"))
    #expect(
      VimPaths.absolute("~anna/x".utf8, home: [0x2f, 0x61], user: "anna") == Array("/a/x".utf8))
    #expect(VimPaths.absolute("~ben/x".utf8, home: [0x2f, 0x61], user: "anna") == nil)
  }

  @Test func undoFilesOfTheMountGo() throws {
    let home = try TraceFolder()
    let magic: [UInt8] = [0x56, 0x69, 0x6D, 0x9F, 0x55, 0x6E, 0x44, 0x6F, 0xE5, 0, 2]
    let ours = ".vim/undo/%mnt%Family%Emma%note.txt"
    for path in [ours, ".vim/undo/%mnt%Family2%note.txt", ".vim/undo/note.txt"] {
      try home.write(magic, at: path)
    }
    // No undo file, whatever it is called.
    try home.write(Array("a letter".utf8), at: ".vim/undo/%mnt%Family%letter")
    let report = home.search.remove(sparesUnsavedWork: true)
    #expect(report.traces.map(\.kind) == [.vimUndoFile] && report.failures.isEmpty)
    #expect(report.traces.map(\.path) == [Array("/mnt/Family/Emma/note.txt".utf8)])
    #expect(try !home.has(ours) && home.has(".vim/undo/%mnt%Family2%note.txt"))
    #expect(try home.has(".vim/undo/note.txt") && home.has(".vim/undo/%mnt%Family%letter"))
  }

  @Test func withoutAMountpointNothingIsFound() {
    #expect(MountedPaths([Array("/".utf8), Array("relative".utf8), []]).isEmpty)
    #expect(!MountedPaths([Array("/".utf8)]).hold(Array("/etc/passwd".utf8)))
  }
}
