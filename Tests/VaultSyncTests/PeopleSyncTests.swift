import BlobStore
import MachineState
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultModel

@testable import Vault
@testable import VaultSync

/// Two adults who share nothing but a remote that neither of them trusts.
@Suite struct PeopleSyncTests {
  /// One adult's folder and open vault.
  private struct Adult {
    let store: MemoryStore
    let vault: Vault

    @discardableResult
    func sync(_ remote: MemoryStore) throws -> SyncReport {
      try RemoteSync(
        vault: vault, remote: remote, name: #require(RemoteName("usb")), options: SyncOptions()
      ).run()
    }

    var emma: Member? { vault.members.first { $0.name.string == "Emma" } }

    func write(_ title: String) throws {
      let commit = try #require(emma).commit([.newRecord(title, note: "a note")])
      if let failure = commit.failures.values.first { throw failure }
    }
  }

  private let usb = MemoryStore()
  private let anna: Adult
  private let ben: Adult

  /// Ben has joined with Anna's invitation in an empty folder, and both have synced.
  init() throws {
    let family = try Family(count: 1)
    anna = Adult(store: family[0].store, vault: family[0].vault)
    try anna.write("Visit")
    try anna.sync(usb)
    let (store, state) = (MemoryStore(), StateFolder(store: MemoryStore()))
    let device = NewDevice(
      personName: "Ben", deviceName: "tablet", deviceKind: "tablet", passwordCost: .floor,
      recoveryCost: .floor)
    let joined = try Vault.join(
      anna.vault.invite(),
      in: VaultCopy(id: anna.vault.invite().vault, store: store, state: state, clock: .system),
      device: device, password: SecretBytes(copying: Array("pw".utf8)), words: .random())
    ben = Adult(
      store: store,
      vault: try Vault.open(
        VaultCopy(id: joined.id, store: store, state: state, clock: .system), key: joined.unlockKey,
        options: OpenOptions()))
    #expect(try ben.sync(usb).problems == [])
    try anna.sync(usb)
  }

  @Test func theInvitersNextSyncShowsWhoJoined() throws {
    #expect(ben.emma == nil)
    #expect(try anna.vault.acceptIntroductions() == [ben.vault.person])
    let known = try anna.vault.knownPeople().first { !$0.isSelf }
    #expect(known?.name == "Ben")
    #expect(known?.verification == .invitedInPerson)
  }

  @Test func aShareTravelsToWhomItIsForAndTheirChangesBack() throws {
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .editor)
    try anna.sync(usb)
    #expect(try ben.sync(usb).problems == [])
    #expect(try #require(ben.emma).record(titled: "Visit") != nil)
    try ben.write("Vaccine")
    #expect(try ben.sync(usb).problems == [])
    #expect(try anna.sync(usb).problems == [])
    #expect(try #require(anna.emma).record(titled: "Vaccine") != nil)
  }

  @Test func whatAViewersModifiedClientPushesIsNotFollowed() throws {
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .viewer)
    try anna.sync(usb)
    try ben.sync(usb)
    let emma = try #require(ben.emma)
    try emma.heads.withLock { heads in
      var writer = CommitWriter(member: emma, heads: heads)
      try writer.add([.newRecord("Forged")])
      _ = try writer.finish()
    }
    let path = VaultPath.head(emma.id, ben.vault.device)
    for (name, bytes) in ben.store.blobs where name.string.hasPrefix("members/") {
      try usb.replace(name, bytes, durably: false)
    }
    let report = try anna.sync(usb)
    #expect(report.problems.map(\.path) == [path.string])
    #expect(try #require(anna.emma).record(titled: "Forged") == nil)
    #expect(anna.store.blobs[.init(path.string)] == nil)
    try anna.write("Vaccine")
    try anna.sync(usb)
    try ben.sync(usb)
    #expect(emma.record(titled: "Vaccine") != nil)
  }
}
