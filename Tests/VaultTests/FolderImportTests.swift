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
}
