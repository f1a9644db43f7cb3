import BlobStore
import Glibc
import MachineState
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// A disk that cannot read its staging folder, or not even write there, until the folder has another name.
private final class DamagedStaging: InspectingStore {
  let inner: any LocalStore
  private let failing: Set<StoreCall.Kind>
  private let isPutAside = Atomic(false)

  init(_ inner: any LocalStore, failing: Set<StoreCall.Kind>) {
    self.inner = inner
    self.failing = failing
  }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    if call.kind == .rename, call.path == "staging" { isPutAside.store(true, ordering: .relaxed) }
    guard failing.contains(call.kind), call.path.string.hasPrefix("staging"),
      !isPutAside.load(ordering: .relaxed)
    else { return }
    throw .io(path: call.path.string, errno: EIO)
  }
}

@Suite struct DamagedStagingTests {
  @Test(arguments: [[StoreCall.Kind.list], [.removeFolder], [.list, .replace], [.replace]])
  func whatADamagedDiskKeepsThereIsInNobodysWay(failing: [StoreCall.Kind]) throws {
    let folder = try TemporaryFolder()
    let disk = try DirectoryStore.make(folder.appending("vault"))
    let state = StateFolder(store: MemoryStore())
    let id = VaultID.random()
    let created = try Vault.create(
      VaultCopy(id: id, store: disk, state: state, clock: .system), device: MemoryVault.newDevice,
      password: SecretBytes(copying: Array(MemoryVault.password.utf8)))
    func open(on store: any LocalStore) throws -> Vault {
      try Vault.open(
        VaultCopy(id: id, store: store, state: state, clock: .system), key: created.unlockKey,
        options: OpenOptions())
    }
    // Of a process that has died.
    _ = try open(on: disk).addMember(named: #require(FileName("Emma")))
    let vault = try open(on: DamagedStaging(disk, failing: Set(failing)))
    let member = try #require(vault.members.first)
    _ = try member.objects.put(.chunk, [UInt8](repeating: 1, count: 100_000))
    let problem = try #require(vault.problems.first { $0.path == "staging" })
    #expect(problem.severity == .warning)
    #expect(problem.reason.contains("nothing that was saved"), "\(problem.reason)")
  }
}
