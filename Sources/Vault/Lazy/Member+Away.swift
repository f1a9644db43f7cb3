import VaultErrors
import VaultModel
import VaultObjects

/// What is made of a content without anything being fetched for it.
package enum ContentHere<Value> {
  case here(Value)
  /// The object that a lazy vault keeps elsewhere; nil where something is damaged or missing.
  case lacking(ContentDigest?)
}

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

  /// The first bytes of an item's content, at most `byteCount`, if they are here.
  package func beginningHere(
    of item: Item, byteCount: Int
  ) throws(VaultError) -> ContentHere<[UInt8]> {
    do {
      if let away = try firstChunkAway(of: item, byteCount: byteCount) { return .lacking(away) }
      return .here(try beginning(of: item, byteCount: byteCount))
    } catch {
      guard error.isDamage else { throw error }
      return .lacking(nil)
    }
  }
}
