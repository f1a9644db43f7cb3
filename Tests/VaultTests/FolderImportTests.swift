import BlobStore
import Glibc
import SystemPackage
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultPlain

@testable import Vault

/// A disk that loses what is staged before a commit brings it to its place.
private final class LosingStaging: InspectingStore {
  let inner: any LocalStore

  init(_ inner: any LocalStore) { self.inner = inner }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    guard call.kind == .rename, call.path.string.hasPrefix("staging/"),
      call.target?.string.contains("objects/") ?? false
    else { return }
    throw .notFound(path: call.path.string)
  }
}

/// Plain folders that become records.
@Suite struct FolderImportTests {
  /// What a commit leaves out is told: whoever deletes the plain folder afterwards has lost nothing.
  @Test func aFileThatIsHeldBackIsNoSuccess() throws {
    let folder = try TemporaryFolder()
    let scan = folder.appending("scan").string
    let descriptor = open(scan, O_WRONLY | O_CREAT, 0o600)
    try #require(descriptor >= 0)
    let bytes = [UInt8](repeating: 1, count: 500_000)
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)

    let memory = try MemoryVault()
    _ = try memory.open().addMember(named: #require(FileName("Emma")))
    let vault = try memory.open(on: LosingStaging(memory.store))
    let member = try #require(vault.members.first)
    var plain = FolderImport(
      into: member, files: FileImport(into: member, mediaType: { _, _ in "" }))
    let title = try #require(FileName("Disc"))
    let failure = #expect(throws: PlainFileError.self) {
      try plain.run(
        PlainFile(path: Array(folder.path.string.utf8)), titled: title, in: .root)
    }
    guard case .vault(.missing) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  // MARK: A file that somebody writes to

  private static func put(_ bytes: [UInt8], to path: String, flags: Int32) {
    let descriptor = open(path, O_WRONLY | O_CREAT | flags, 0o600)
    #expect(descriptor >= 0)
    #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
  }

  private static func firstByte(of path: String) -> UInt8 {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var byte: UInt8 = 0
    #expect(read(descriptor, &byte, 1) == 1)
    return byte
  }

  /// So that a change shows, however coarse the file system's times are.
  private static func makeOld(_ path: String) {
    let long = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, path, [long, long], 0) == 0)
  }

  /// Half of one state and half of another is no state that the file ever had.
  @Test func aFileThatChangesWhileItIsReadIsReadAnew() throws {
    let folder = try TemporaryFolder()
    let path = folder.appending("scan").string
    let size = Limits.chunkBytes + 1000
    let new = [UInt8](repeating: 2, count: size)
    Self.put([UInt8](repeating: 1, count: size), to: path, flags: 0)
    Self.makeOld(path)

    let vault = try MemoryVault().open()
    let emma = try vault.addMember(named: #require(FileName("Emma")))
    // Told of the first part, while the second one is still to be read.
    var files = FileImport(
      into: emma, mediaType: { _, _ in "" },
      progress: { _ in if Self.firstByte(of: path) == 1 { Self.put(new, to: path, flags: 0) } })
    let name = try #require(FileName("scan"))
    let item = try files.item(for: PlainFile(path: Array(path.utf8)), named: name)
    var edit = RecordEdit.newRecord("Visit", note: "all well")
    edit.items[name] = item
    try #require(try emma.commit([edit]).firstFailure == nil)
    #expect(try emma.bytes(of: "scan", in: edit.record) == new)
    #expect(item.modified.seconds > 1_000_000_000)
  }

  /// What was committed before a failure stays, and is to be told.
  @Test func whatIsInTheVaultAfterAFailureIsKnown() throws {
    for folderCount in [1, 300] {
      let folder = try TemporaryFolder()
      for number in 0..<folderCount {
        try #require(mkdir(folder.appending("a \(number)").string, 0o700) == 0)
      }
      try #require(mkdir(folder.appending("b").string, 0o700) == 0)
      Self.put([1], to: folder.appending("b/scan").string, flags: 0)
      let memory = try MemoryVault()
      _ = try memory.open().addMember(named: #require(FileName("Emma")))
      let disk = FaultyStore(memory.store)
      let vault = try memory.open(on: disk)
      let emma = try #require(vault.members.first)
      // Full from the one file on.
      var plain = FolderImport(
        into: emma,
        files: FileImport(
          into: emma, mediaType: { _, _ in "" },
          progress: { _ in
            for kind in [StoreCall.Kind.put, .create, .link, .replace, .overwrite] {
              disk.fail(kind, andAllLater: true, with: .noSpace)
            }
          }))
      let title = try #require(FileName("Disc"))
      #expect(throws: PlainFileError.self) {
        try plain.run(PlainFile(path: Array(folder.path.string.utf8)), titled: title, in: .root)
      }
      #expect(plain.hasCommitted == (folderCount == 300))
      #expect(emma.children(of: .root).isEmpty == !plain.hasCommitted)
    }
  }

  /// One file that is written to all the time, such as a log, does not keep a whole folder out.
  @Test func aFileThatChangesAllTheTimeIsLeftOutOfItsFolder() throws {
    let folder = try TemporaryFolder()
    try #require(mkdir(folder.appending("scans").string, 0o700) == 0)
    let path = folder.appending("log").string
    Self.put([1], to: path, flags: 0)
    Self.put([2], to: folder.appending("scans/scan").string, flags: 0)
    let vault = try MemoryVault().open()
    let emma = try vault.addMember(named: #require(FileName("Emma")))
    var plain = FolderImport(
      into: emma,
      files: FileImport(
        into: emma, mediaType: { _, _ in "" },
        progress: { _ in Self.put([1], to: path, flags: O_APPEND) }))
    let title = try #require(FileName("Disc"))
    try plain.run(PlainFile(path: Array(folder.path.string.utf8)), titled: title, in: .root)
    #expect(plain.leftOut.count == 1)
    guard case .changing(path)? = plain.leftOut.first else {
      Issue.record("\(plain.leftOut)")
      return
    }
    let disc = try #require(emma.record(titled: "Disc"))
    #expect(try emma.bytes(of: "log", in: disc.record) == nil)
    let scans = try #require(emma.record(titled: "scans"))
    #expect(try emma.bytes(of: "scan", in: scans.record) == [2])
  }

  @Test func aFileThatChangesAllTheTimeIsNoSuccess() throws {
    let folder = try TemporaryFolder()
    let path = folder.appending("log").string
    Self.put([1], to: path, flags: 0)
    let vault = try MemoryVault().open()
    let emma = try vault.addMember(named: #require(FileName("Emma")))
    var files = FileImport(
      into: emma, mediaType: { _, _ in "" },
      progress: { _ in Self.put([1], to: path, flags: O_APPEND) })
    let name = try #require(FileName("log"))
    do throws(PlainFileError) {
      _ = try files.item(for: PlainFile(path: Array(path.utf8)), named: name)
      Issue.record("half of it was taken in")
    } catch {
      guard case .changing = error else { throw error }
    }
  }
}
