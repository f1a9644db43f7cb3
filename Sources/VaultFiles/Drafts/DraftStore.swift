import VaultModel

/// Where the chunks of a draft come from and go to. Every call blocks, and may come from any thread. `read` and `bring` may
/// wait for a remote, the others never do.
protocol DraftStore: Sendable {
  /// Hashes, seals and stages content; the same content gives the same digest.
  func put(_ kind: ObjectKind, _ content: UnsafeRawBufferPointer) throws(FileError) -> StoredObject

  /// Fills the buffer from a chunk's content at `offset`. Content that ends before the buffer does is damage.
  func read(
    _ digest: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError)

  /// The same for a chunk that is on this machine: false, with nothing read, where it is kept elsewhere.
  func readIfHere(
    _ digest: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) -> Bool

  /// Brings a chunk here that `readIfHere` has missed. May take as long as a remote does, so no lock may be held.
  func bring(_ digest: ContentDigest) throws(FileError)

  /// These chunks will be read soon, one after the other. May do nothing.
  func willRead(_ digests: [ContentDigest])

  /// Parts of these chunks will be read, here and there. May do nothing.
  func willLookUp(_ digests: [ContentDigest])

  /// The whole content of an index object.
  func index(_ digest: ContentDigest) throws(FileError) -> [ContentDigest?]
}

extension DraftStore {
  /// What stands in these index objects, one after the other.
  func chunks(in lists: [ContentDigest]) throws(FileError) -> [ContentDigest?] {
    var chunks: [ContentDigest?] = []
    for list in lists { chunks += try index(list) }
    return chunks
  }
}
