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
}
