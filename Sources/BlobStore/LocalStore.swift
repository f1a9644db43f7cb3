/// A store on this machine's own disk (or one that pretends to be): what the vault folder itself needs besides what any
/// copy of it can offer.
///
/// **What is durable.** When a call returns, its effect is visible to every other process and survives the end of this
/// one, however sudden. It survives a loss of power only after a later `barrier` has returned (or, where a call says
/// so, by itself). Without a barrier, what was done may be lost, torn or kept in any order.
///
/// After any error the store is as it was before the call, except where a call says otherwise.
package protocol LocalStore: BlobStore {
  /// A reader for parts of a blob, which goes on reading the same bytes after the blob is replaced or removed.
  /// Throws `notFound` when it is absent.
  func openForReading(_ path: BlobPath) throws(BlobStoreError) -> any BlobReader

  /// Makes a new blob, and the folders it needs. Throws `alreadyExists`, without touching it, when there is one.
  ///
  /// Others may see the blob while it is half written, and a crash or a loss of power may leave it torn: for staging
  /// folders only, from where `rename` moves what is whole.
  func create(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer) throws(BlobStoreError)

  /// Moves a blob to another name, atomically in place of what was there, and makes the folders it needs. Throws
  /// `notFound` when `from` is absent.
  func rename(_ from: BlobPath, to: BlobPath) throws(BlobStoreError)

  /// `rename` of a blob whose bytes are on disk, as after a barrier; on disk under its new name when this returns.
  ///
  /// Whenever the power goes meanwhile, the new name stands for all of the old or all of the new, as far as the file
  /// system lets anybody have that: FAT may lose a file that is replaced at the very instant.
  func renameDurably(_ from: BlobPath, to: BlobPath) throws(BlobStoreError)

  /// Gives a blob a second name, and makes the folders it needs. Throws `notFound` when `from` is absent and
  /// `alreadyExists` when `to` is not.
  ///
  /// A store without links copies the bytes, as `create` would.
  func link(_ from: BlobPath, to: BlobPath) throws(BlobStoreError)

  /// Writes a blob, new or in place of what was there: whoever reads it, then or after a crash, gets all of the old or
  /// all of the new. Makes the folders it needs.
  ///
  /// With `durably` it is on disk when the call returns, the folders that it made included; without, a loss of power
  /// may bring back the old, or a torn blob.
  func replace(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer, durably: Bool)
    throws(BlobStoreError)

  /// Writes into a blob that is there, within its size, and returns when that is on disk. Throws `notFound` when it is
  /// absent.
  ///
  /// It changes these bytes and nothing else, so the disk has one thing to do. After a crash, and after an error, each
  /// of the bytes may be the old or the new one.
  func overwrite(_ path: BlobPath, at offset: UInt64, _ bytes: UnsafeRawBufferPointer)
    throws(BlobStoreError)

  /// Removes a folder, which is not the root, and everything in it. Removing what is absent succeeds. After an error a
  /// part of it may be gone.
  func removeFolder(_ path: BlobPath) throws(BlobStoreError)

  /// Returns when whatever is done from now on reaches the disk only after everything that any caller did before.
  ///
  /// What was done before is on disk at the latest when the next `renameDurably`, of any blob, has returned.
  ///
  /// After an error, nothing since the last successful barrier may be taken for durable, and a second try that
  /// succeeds proves nothing about it.
  func barrier() throws(BlobStoreError)

  /// Whether there is such a blob; has the next barrier wait for it where somebody else, another program or a process of
  /// ours, may have put it there a moment ago.
  func takeOver(_ path: BlobPath) throws(BlobStoreError) -> Bool

  /// How much room there is.
  func space() throws(BlobStoreError) -> BlobSpace

  /// Remembers that the blob was of use just now, for `lastUse`. Does nothing where there is no such blob, nor in a store
  /// that keeps no times.
  func noteUse(of path: BlobPath) throws(BlobStoreError)

  /// When the blob was written or of use last, in nanoseconds since 1970; nil when it is absent, or the store keeps no times.
  func lastUse(of path: BlobPath) throws(BlobStoreError) -> UInt64?

  /// When the blob came to this store by the clock of the system, in milliseconds since 1970, or was given a name or
  /// attributes since: no program chooses it, not even one that brings files with their dates. Nil when it is absent, or the
  /// store keeps no times.
  func arrival(of path: BlobPath) throws(BlobStoreError) -> UInt64?
}

extension LocalStore {
  package func takeOver(_ path: BlobPath) throws(BlobStoreError) -> Bool {
    try size(of: path) != nil
  }

  package func noteUse(of path: BlobPath) throws(BlobStoreError) {}
  package func lastUse(of path: BlobPath) throws(BlobStoreError) -> UInt64? { nil }
  package func arrival(of path: BlobPath) throws(BlobStoreError) -> UInt64? { nil }
}

/// Reads parts of one blob. Any number of threads may use one reader; the descriptor or connection behind it is let go
/// with the last reference.
package protocol BlobReader: AnyObject, Sendable {
  /// The blob's size in bytes when it was opened.
  var size: UInt64 { get }

  /// Fills the buffer from `offset` on and returns the number of bytes read: fewer than asked for only where the blob
  /// ends, 0 at its end and behind it.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(BlobStoreError)
    -> Int

  /// Whether the blob has no name any more, so that only this reader keeps its bytes on the disk.
  var isRemoved: Bool { get }

  /// These bytes will be read soon: may fetch them from the disk meanwhile. Does not wait.
  func readAhead(_ range: Range<UInt64>)
}

extension BlobReader {
  package func readAhead(_ range: Range<UInt64>) {}
}

/// The room on a store's disk.
package struct BlobSpace: Hashable, Sendable {
  package var totalBytes: UInt64
  /// What this user may still write.
  package var availableBytes: UInt64
  package var totalFiles: UInt64
  package var availableFiles: UInt64

  package init(
    totalBytes: UInt64, availableBytes: UInt64, totalFiles: UInt64, availableFiles: UInt64
  ) {
    self.totalBytes = totalBytes
    self.availableBytes = availableBytes
    self.totalFiles = totalFiles
    self.availableFiles = availableFiles
  }

  /// Some file systems make inodes as they need them, and report none.
  package func hasRoom(forFiles count: UInt64) -> Bool {
    totalFiles == 0 || availableFiles >= count
  }
}
