import VaultModel

extension Member {
  /// The first of the chunks with an item's first bytes that a lazy vault keeps elsewhere; nil if all of them are here, and
  /// in a vault that is wholly here. Nothing is fetched.
  ///
  /// - Throws: `missing`, `damaged` of a list of chunks.
  package func firstChunkAway(
    of item: Item, byteCount: Int
  ) throws(VaultError) -> ContentDigest? {
    guard objects.isLazy else { return nil }
    let wanted = Item.chunkCount(size: min(item.size, UInt64(byteCount)))
    for chunk in try chunks(of: item.content).prefix(Int(wanted)) {
      guard let chunk, !objects.isStaged(chunk) else { continue }
      if try !objects.isPresent(chunk) { return chunk }
    }
    return nil
  }
}
