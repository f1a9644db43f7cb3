import BlobStore
import TestSupport
import VaultCrypto
import VaultErrors
import VaultModel

@testable import VaultObjects

/// The objects of one member in memory, with no vault around them.
struct MemoryObjects {
  let store: MemoryStore
  let keys: EpochKeys
  let objects: ObjectStore

  /// - Parameters:
  ///   - readers: Where readers are kept.
  ///   - wrapping: What the objects are given in the place of the store in memory.
  init(
    readers: ReaderCache = ReaderCache(), wrapping: (MemoryStore) -> any LocalStore = { $0 }
  ) throws {
    let member = MemberID.random()
    store = MemoryStore()
    keys = EpochKeys(
      FamilyMemberKey.random(), member: member, binding: Binding(vault: VaultID.random()))
    let wrapped = wrapping(store)
    objects = ObjectStore(
      member: member, keys: MemberKeys(current: MemberKeys.Epoch(id: .random(), keys: keys)),
      store: wrapped,
      staging: try Staging.make(in: wrapped, root: nil, device: .random(), token: "test"),
      lazy: nil, buffers: BufferPool(keptCount: 2), readers: readers)
  }
}

extension ObjectStore {
  /// What a reader of the chunk gives for a range of its content.
  func read(_ digest: ContentDigest, _ range: Range<Int>) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    let reader = try reader(digest)
    let count = try bytes.withUnsafeMutableBytes { buffer throws(VaultError) in
      try reader.read(at: range.lowerBound, into: buffer)
    }
    return Array(bytes.prefix(count))
  }
}
