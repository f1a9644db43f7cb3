import BlobStore
import VaultErrors
import VaultModel
import VaultObjects

extension Member {
  /// Makes sure that a lazy vault's disk has room for all chunks of the member that are current, which new keys need here: each
  /// under the new keys and, until everything is, under the old ones. What only older versions need is not counted, since it
  /// may be gone. Does nothing for a vault that is wholly here.
  ///
  /// - Throws: `noRoomForNewKeys`.
  func requireRoomForNewKeys() throws(VaultError) {
    guard objects.isLazy else { return }
    var current: [ContentDigest: UInt64] = [:]
    MemberWalk(member: self, readsAhead: true).walkAll(
      keeps: { _, _ in false },
      visit: { object in
        if let byteCount = object.chunkByteCount { current[object.digest] = byteCount }
      }, fail: { _, _ in }, progress: { _ in })
    let listed = try objects.listed().map { ($0.name, $0.byteCount) }
    let sizes = Dictionary(listed) { first, _ in first }
    let here = objects.places(of: current.keys, among: sizes)
    let needed: UInt64 = current.reduce(0) { sum, chunk in
      sum + chunk.value * (here[chunk.key] == nil ? 2 : 1)
    }
    let space = try storing(context.store.space())
    guard space.availableBytes >= needed else {
      throw .noRoomForNewKeys(member: id, byteCount: needed)
    }
  }
}
