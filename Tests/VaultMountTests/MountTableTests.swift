import BlobStore
import SystemPackage
import Testing

@testable import VaultMount

@Suite struct MountTableTests {
  private func parse(_ text: String) -> [MountTableEntry] { MountTable.parse(Array(text.utf8)) }

  @Test func readsAnEntryWithAndWithoutOptionalFields() {
    let entries = parse(
      """
      36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue
      42 27 0:39 / /mnt/family rw,nosuid - fuse.kinvault /home/a/Family rw,user_id=0
      """)
    #expect(
      entries == [
        MountTableEntry(device: "98:0", mountpoint: "/mnt2", type: "ext3", source: "/dev/root"),
        MountTableEntry(
          device: "0:39", mountpoint: "/mnt/family", type: "fuse.kinvault", source: "/home/a/Family"
        ),
      ])
  }

  @Test func unescapesBlanksAndKeepsBytesThatAreNotUTF8() {
    var line = Array("42 27 0:39 / /a\\040b\\134c\\012".utf8)
    line += [0xff, 0xfe] + Array(" rw - fuse.kinvault x rw".utf8)
    let entry = MountTable.parse(line).first
    #expect(entry?.mountpoint.bytes == Array("/a b\\c\n".utf8) + [0xff, 0xfe])
  }

  @Test(arguments: [
    "", "\n\n", "42", "42 27 0:39 / /mnt rw", "42 27 0:39 / /mnt rw - fuse", "- - - - - - - - -",
    "42 27 0:39 / /mnt rw a b c d e f",
  ])
  func passesOverLinesThatDoNotFit(_ text: String) {
    _ = parse(text).map { #expect($0.type != "fuse.kinvault") }
  }

  @Test func readsTheTableOfThisMachine() throws {
    #expect(try MountTable.entry(at: "/proc")?.type == "proc")
    #expect(try !MountTable.isVaultMount("/proc"))
  }
}

@Suite struct OctalEscapesTests {
  @Test func everyByteComesBack() {
    let bytes = (1...255).map { UInt8($0) }
    let encoded = OctalEscapes.encode(bytes)
    #expect(!encoded.contains { $0 <= 0x20 })
    #expect(OctalEscapes.decode(encoded[...]) == bytes)
  }

  @Test(arguments: ["\\", "\\0", "\\04", "\\048", "\\777", "\\400", "a\\"])
  func keepsWhatIsNoEscape(_ text: String) {
    #expect(OctalEscapes.decode(Array(text.utf8)[...]) == Array(text.utf8))
  }
}
