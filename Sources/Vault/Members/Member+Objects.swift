import BlobStore
import VaultErrors
import VaultModel
import VaultObjects

/// What whoever shows a member, searches it, or takes plain files in and out does with its objects.
///
/// Contents are named by their digests; under which keys and in which file an object lies concerns a sync only, which has
/// `sealedObjects` for it.
extension Member {
  // MARK: Contents

  /// Takes in a part of a file's content, at most a chunk, for as long as this process lives or until a commit names it.
  ///
  /// - Throws: `noSpace`, `readOnly`, `io`.
  package func putChunk(_ content: [UInt8]) throws(VaultError) -> ContentDigest {
    try objects.put(.chunk, content)
  }

  /// Takes in a content, which stays for as long as `hold` lives or until a commit names it. The same content is kept once.
  /// It is not durable before that commit.
  ///
  /// - Throws: `noSpace`, `readOnly`, `io`.
  package func stage(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(VaultError) -> (digest: ContentDigest, hold: any AnyObject & Sendable) {
    let use = try objects.stage(kind, content)
    return (use.digest, use)
  }

  /// Fills the buffer from the chunk's content at `offset`, authenticated; the rest of the chunk is not read.
  ///
  /// - Returns: How many bytes were there; less than asked only at the end of the chunk.
  /// - Throws: `missing`, `damaged`, `io`; `away` in a lazy vault.
  package func read(
    _ chunk: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(VaultError) -> Int {
    try objects.read(chunk, at: offset, into: buffer)
  }

  /// The same for a chunk that is on this machine; nil where a lazy vault keeps it elsewhere. No remote is asked.
  package func readIfHere(
    _ chunk: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(VaultError) -> Int? {
    try objects.readIfHere(chunk, at: offset, into: buffer)
  }

  /// Brings a chunk here that `readIfHere` has missed. Blocks for as long as a remote takes.
  ///
  /// - Throws: `away` when it cannot be had; `gone` when nobody has it any more; `damaged`, `noSpace`, `io`.
  package func bring(_ chunk: ContentDigest) throws(VaultError) { try objects.fetchIfAway(chunk) }

  /// The first bytes of a chunk, which the size of its file says that it has.
  ///
  /// - Throws: `missing`; `damaged`, also of a chunk that is shorter; `away` in a lazy vault.
  package func chunk(_ chunk: ContentDigest, byteCount: Int) throws(VaultError) -> [UInt8] {
    let content = try objects.content(chunk, kind: .chunk)
    guard content.count >= byteCount else {
      throw .damaged(path: objects.path(of: chunk).string, reason: "it is too short")
    }
    return content.count == byteCount ? content : Array(content.prefix(byteCount))
  }

  /// Whether an object stands in the vault's folder for the content. It is not opened, so it may be damaged.
  package func isHere(_ digest: ContentDigest) throws(VaultError) -> Bool {
    try objects.isPresent(digest)
  }

  /// The name of the content's object in the audit log: the one that it has under the keys in use.
  package func objectName(of digest: ContentDigest) -> ObjectName { objects.name(of: digest) }

  // MARK: Reading ahead

  /// Begins to open these chunks, which will be read one after the other, and to bring here what a lazy vault keeps elsewhere.
  package func willRead(_ chunks: [ContentDigest]) {
    for chunk in chunks { objects.prefetch(chunk) }
    objects.openAhead(chunks, threadCount: 1, readsOn: true)
  }

  /// Begins to open these chunks, each of which will be read from its beginning.
  package func willReadBeginnings(of chunks: [ContentDigest]) {
    objects.openAhead(chunks, threadCount: 4, readsOn: true)
  }

  /// Begins to open these chunks, of which parts will be read here and there.
  package func willLookUp(_ chunks: [ContentDigest]) { objects.openAhead(chunks) }

  // MARK: Tidying

  /// Removes what was staged and nobody holds any more. Nothing else does so before the vault is closed.
  package func removeUnusedObjects() { objects.removeUnused() }

  /// Closes the files of objects that another process has removed: only then does the disk give their room back.
  package func closeRemovedObjects() { objects.forgetRemoved() }
}
