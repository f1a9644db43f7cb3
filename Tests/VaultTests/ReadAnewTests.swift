import BlobStore
import Synchronization
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault

/// A process that reads all heads anew, since another one has begun an epoch, shows what it knew until it is done.
struct ReadAnewTests {
  /// A store that calls somebody at each call, who may ask the vault.
  private final class Lookout: InspectingStore {
    let inner: any LocalStore
    private let look = Mutex<(@Sendable (StoreCall) throws(BlobStoreError) -> Void)?>(nil)

    init(_ inner: any LocalStore) { self.inner = inner }

    func whenCalled(_ look: (@Sendable (StoreCall) throws(BlobStoreError) -> Void)?) {
      self.look.withLock { $0 = look }
    }

    func inspect(_ call: StoreCall) throws(BlobStoreError) {
      try look.withLock { (look) throws(BlobStoreError) in try look?(call) }
    }
  }

  @Test func nothingGoesOutOfSightMeanwhile() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    for title in ["Visit", "Scan", "Letter"] { try adults.anna.write(title) }
    try adults.meet()
    try adults.ben.write("Late", "written offline")
    let lookout = Lookout(adults.anna.store)
    let vault = try adults.anna.open(on: lookout)
    let emma = try #require(vault.openedMembers.first { $0.name.string == "Emma" })
    #expect(emma.childCount(of: .root) == 3)

    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    try adults.carry(from: adults.ben, to: adults.anna)
    let seen = Mutex<[Set<String>]>([])
    lookout.whenCalled { _ in
      let titles = Set(emma.children(of: .root).map(\.title.string))
      seen.withLock { $0.append(titles) }
    }
    _ = try emma.refresh()
    let whole: Set = ["Visit", "Scan", "Letter"]
    let all = seen.withLock { $0 }
    #expect(all.count > 3 && all.allSatisfy { $0.isSuperset(of: whole) }, "\(all)")
    #expect(Set(emma.children(of: .root).map(\.title.string)) == whole.union(["Late"]))
  }

  @Test func whatCannotBeReadLeavesEverythingInSight() throws {
    let adults = try Adults()
    for title in ["Visit", "Scan"] { try adults.anna.write(title) }
    let lookout = Lookout(adults.anna.store)
    let vault = try adults.anna.open(on: lookout)
    let emma = try #require(vault.openedMembers.first { $0.name.string == "Emma" })
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    let epoch = emma.epoch
    let objects = "members/\(emma.id.hex)/objects/"
    lookout.whenCalled { call throws(BlobStoreError) in
      if call.path.string.hasPrefix(objects) { throw .io(path: call.path.string, errno: 5) }
    }
    #expect(throws: VaultError.self) { try emma.refresh() }
    #expect(Set(emma.children(of: .root).map(\.title.string)) == ["Visit", "Scan"])
    lookout.whenCalled(nil)
    _ = try emma.refresh()
    #expect(emma.epoch != epoch)
    #expect(Set(emma.children(of: .root).map(\.title.string)) == ["Visit", "Scan"])
  }

  /// Anna's mount, which has what Ben wrote and nobody else has got. It cannot read his head when an epoch comes that Carla has
  /// begun.
  private struct UnreadHead {
    let adults: Adults
    let lookout: Lookout
    let vault: Vault
    let emma: Member

    init() throws {
      adults = try Adults()
      try adults.share(with: adults.ben, .editor)
      try adults.share(with: adults.carla, .owner)
      try adults.anna.write("Visit")
      try adults.meet()
      try adults.ben.write("Late")
      try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
      lookout = Lookout(adults.anna.store)
      vault = try adults.anna.open(on: lookout)
      emma = try #require(vault.openedMembers.first { $0.name.string == "Emma" })
      try adults.carla.vault.beginEpoch(of: #require(adults.carla.emma), without: [])
      try Replicas.carry(from: adults.carla.store, to: adults.anna.store)
      let head = VaultPath.head(emma.id, adults.ben.vault.device).string
      lookout.whenCalled { call throws(BlobStoreError) in
        if call.path.string == head { throw .io(path: head, errno: 5) }
      }
    }

    var titles: Set<String> { Set(emma.children(of: .root).map(\.title.string)) }
  }

  @Test func whatOthersBroughtStaysInSightWhileTheirHeadCannotBeRead() throws {
    let mount = try UnreadHead()
    #expect(throws: VaultError.self) { try mount.emma.refresh() }
    #expect(mount.titles == ["Visit", "Late"])
    mount.lookout.whenCalled(nil)
    _ = try mount.emma.refresh()
    #expect(try mount.emma.epoch == #require(mount.adults.carla.emma).epoch)
    #expect(mount.titles == ["Visit", "Late"])
  }

  @Test func aHeadThatCannotBeReadForLongKeepsNobodyFromSaving() throws {
    let mount = try UnreadHead()
    #expect(throws: VaultError.self) { try mount.emma.refresh() }
    mount.adults.anna.clock.advance(seconds: 60)
    let commit = try mount.emma.commit([.newRecord("Mine", note: "saved")])
    #expect(commit.failures.isEmpty)
    mount.lookout.whenCalled(nil)
    // What could not be read twice is looked at again after a minute.
    mount.adults.anna.clock.advance(days: 1)
    _ = try mount.emma.refresh()
    #expect(mount.titles == ["Visit", "Late", "Mine"])
  }
}
