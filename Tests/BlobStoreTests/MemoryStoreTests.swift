import BlobStore
import Glibc
import TestSupport
import Testing

/// The stand-in for a disk must be as treacherous as a disk, and no more.
struct MemoryStoreTests {
  private static let many: [UInt64] = Array(0..<200)

  @Test(arguments: Seeds.first(50))
  func keepsWhatABarrierCovered(seed: UInt64) throws {
    let store = MemoryStore()
    try store.create("a", [1, 2, 3])
    try store.rename("a", to: "b/c")
    try store.barrier()
    try store.create("later", [4])
    #expect(try store.imageAfterPowerCut(seed: seed).read("b/c", limit: 9) == [1, 2, 3])
  }

  @Test func losesTearsAndReordersWithoutABarrier() throws {
    let store = MemoryStore()
    let bytes = [UInt8](repeating: 7, count: 100)
    try store.create("first", bytes)
    try store.create("second", bytes)
    let images = Self.many.map { store.imageAfterPowerCut(seed: $0).blobs }
    #expect(images.contains { $0.isEmpty })
    #expect(images.contains { $0["first"] == nil && $0["second"] != nil })
    #expect(images.contains { ($0["first"]?.count).map { $0 < 100 } ?? false })
    #expect(images.contains { $0["first"]?.count == 100 && $0["first"] != bytes })
    #expect(images.contains { $0["first"] == bytes && $0["second"] == bytes })
  }

  @Test(arguments: Seeds.first(100))
  func aRenameNeverLosesBothNames(seed: UInt64) throws {
    let store = MemoryStore()
    try store.create("old", [1])
    try store.create("new", [2])
    try store.barrier()
    try store.rename("old", to: "new")
    let blobs = store.imageAfterPowerCut(seed: seed).blobs
    #expect(blobs.values.contains([1]))
    #expect(blobs["new"] != nil)
  }

  @Test(arguments: Seeds.first(50))
  func aDurableReplaceNeedsNoBarrier(seed: UInt64) throws {
    let store = MemoryStore()
    try store.replace("a/b", [1, 2], durably: true)
    #expect(try store.imageAfterPowerCut(seed: seed).read("a/b", limit: 9) == [1, 2])
  }

  @Test(arguments: Seeds.first(50))
  func aDurableRenameAfterABarrierKeepsTheBlob(seed: UInt64) throws {
    let store = MemoryStore()
    try store.create("heads/temporary", [1])
    try store.barrier()
    try store.renameDurably("heads/temporary", to: "heads/head")
    #expect(store.imageAfterPowerCut(seed: seed).blobs == ["heads/head": [1]])
  }

  @Test func aPowerCutIsReproducible() throws {
    let store = MemoryStore()
    for number in 0..<20 { try store.create(BlobPath("\(number)"), [1, 2, 3, 4]) }
    for seed in Self.many {
      let first = store.imageAfterPowerCut(seed: seed).blobs
      #expect(store.imageAfterPowerCut(seed: seed).blobs == first)
    }
  }

  @Test func stopsAtTheChosenCall() throws {
    let store = MemoryStore()
    try store.create("a", [1])
    store.cut(after: 2)
    try store.create("b", [2])
    let stopped = BlobStoreError.io(path: "c", errno: EIO)
    #expect(throws: stopped) { try store.create("c", [3, 4]) }
    #expect(throws: stopped) { try store.remove("c") }
    #expect(throws: BlobStoreError.self) { try store.barrier() }
    let after = store.imageAfterKill()
    #expect(after.blobs == ["a": [1], "b": [2], "c": [3]])
    try after.create("d", [5])
  }

  @Test func fillsUp() throws {
    let store = MemoryStore()
    store.limit(toBytes: 4)
    try store.create("a", [1, 2, 3])
    #expect(throws: BlobStoreError.noSpace(path: "b")) { try store.create("b", [1, 2]) }
    #expect(store.space().availableBytes == 1)
  }
}
