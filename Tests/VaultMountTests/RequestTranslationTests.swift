import CFuse
import Glibc
import SystemPackage
import Testing
import VaultFiles
import VaultModel

@testable import VaultMount

@Suite struct RequestTranslationTests {
  @Test func openFlagsNameAccessAndNeverAppend() {
    #expect(OperationTable.openFlags(O_RDONLY) == [.read])
    #expect(OperationTable.openFlags(O_WRONLY | O_APPEND) == [.write])
    #expect(OperationTable.openFlags(O_RDWR | O_TRUNC) == [.read, .write, .truncate])
    #expect(OperationTable.openFlags(O_WRONLY | O_EXCL | O_CREAT) == [.write, .exclusive])
  }

  @Test func aWriteToTheEndSaysSoAndOneOfAMappingDoesNot() {
    var write = fuse_file_info()
    write.flags = O_WRONLY
    #expect(OperationTable.kind(of: write) == .atOffset)
    write.flags = O_WRONLY | O_APPEND
    #expect(OperationTable.kind(of: write) == .atEnd)
    write.writepage = 1
    #expect(OperationTable.kind(of: write) == .ofMapping)
  }

  @Test(arguments: [
    ("6.18.44", true), ("6.6.0-1-amd64", true), ("6.5.13", false), ("6.1.0-28-amd64", false),
    ("7.0-rc1", true), ("5.15.0", false), ("", false), ("x.y", false),
  ])
  func writesAreDirectWhereTheKernelKeepsThemCoherent(release: String, isCoherent: Bool) {
    #expect(DirectWrites.isCoherent(kernelRelease: release) == isCoherent)
  }

  @Test func renameKnowsTheFlagsThatItKeeps() throws {
    #expect(try OperationTable.renameMode(0) == .replace)
    #expect(try OperationTable.renameMode(1) == .noReplace)
    #expect(try OperationTable.renameMode(2) == .exchange)
    #expect(throws: FileError.invalidArgument) { try OperationTable.renameMode(4) }
    #expect(throws: FileError.invalidArgument) { try OperationTable.renameMode(3) }
  }

  @Test func fallocateKnowsItsModes() throws {
    #expect(try OperationTable.allocationMode(0) == .allocate(keepsSize: false))
    #expect(try OperationTable.allocationMode(1) == .allocate(keepsSize: true))
    #expect(try OperationTable.allocationMode(3) == .punchHole)
    #expect(try OperationTable.allocationMode(0x10) == .zeroRange(keepsSize: false))
    #expect(try OperationTable.allocationMode(0x11) == .zeroRange(keepsSize: true))
    #expect(throws: FileError.notSupported) { try OperationTable.allocationMode(8) }
    #expect(throws: FileError.notSupported) { try OperationTable.allocationMode(2) }
  }

  @Test func setattrChangesOnlyWhatItsMaskNames() {
    var wanted = stat()
    wanted.st_mode = 0o100640
    wanted.st_size = 7
    wanted.st_mtim = timespec(tv_sec: 5, tv_nsec: 6)
    #expect(OperationTable.attributeChange(wanted, mask: 0) == AttributeChange())
    let change = OperationTable.attributeChange(
      wanted, mask: FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW)
    #expect(change.size == 7)
    #expect(change.mode == nil)
    #expect(change.accessed == .now)
    guard case .to(let time)? = change.modified else {
      Issue.record("no time")
      return
    }
    #expect((time.seconds, time.nanoseconds) == (5, 6))
  }

  @Test func aReportComesBack() {
    for report in [
      ReadinessPipe.Report.ready(note: ""), .ready(note: "Zwei Fehler: ü"),
      .failed(message: "Kein Platz: ü"),
    ] {
      #expect(ReadinessPipe.Report(decoding: report.encoded) == report)
    }
    #expect(ReadinessPipe.Report(decoding: []) == nil)
  }

  @Test func aPathThatOptionsCannotCarryIsNotNamed() {
    #expect(MountOptions.source("/home/a/Family Ü") == "/home/a/Family Ü")
    #expect(MountOptions.source("/home/a,dev") == "kinvault")
    #expect(MountOptions.source("/home/a\\") == "kinvault")
  }
}
