/// A tree of named blobs: a folder on a disk, a bucket, a part of memory.
///
/// Every call blocks and may come from any thread; calls about different blobs do not wait for each other's disk.
/// Of two calls about one blob that run at once, either may come first, but neither sees the other half done, unless
/// `create` says otherwise. Folders exist where there are blobs in them; a store may show an empty one.
///
/// **What is durable.** When a call returns, its effect is visible to every other process and survives the end of this
/// one, however sudden. It survives a loss of power only after a later `barrier` has returned (or, where a call says
/// so, by itself). Without a barrier, what was done may be lost, torn or kept in any order.
///
/// **Errors.** `noSpace`, `readOnly` and `permission` mean the same in every store. After any error the store is as it
/// was before the call, except where a call says otherwise.
package protocol BlobStore: Sendable {
  /// The whole blob. Throws `notFound` when it is absent and `tooLarge`, before it allocates, when it has more than
  /// `limit` bytes.
  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8]

  /// A reader for parts of a blob, which goes on reading the same bytes after the blob is replaced or removed.
  /// Throws `notFound` when it is absent.
  func openForReading(_ path: BlobPath) throws(BlobStoreError) -> any BlobReader

  /// The blob's size in bytes; nil when it is absent. Throws `notABlob` for a folder.
  func size(of path: BlobPath) throws(BlobStoreError) -> UInt64?

  /// Makes a new blob, and the folders it needs. Throws `alreadyExists`, without touching it, when there is one.
  ///
  /// Others may see the blob while it is half written, and a crash or a loss of power may leave it torn: for staging
  /// folders only, from where `rename` moves what is whole.
  func create(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer) throws(BlobStoreError)

  /// Moves a blob to another name, atomically in place of what was there, and makes the folders it needs. Throws
  /// `notFound` when `from` is absent.
  func rename(_ from: BlobPath, to: BlobPath) throws(BlobStoreError)

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

  /// Removes a blob. Removing what is absent succeeds. Throws `notABlob` for a folder.
  func remove(_ path: BlobPath) throws(BlobStoreError)

  /// Removes a folder, which is not the root, and everything in it. Removing what is absent succeeds. After an error a
  /// part of it may be gone.
  func removeFolder(_ path: BlobPath) throws(BlobStoreError)

  /// What is in a folder, sorted by name; empty when it is absent. Names of temporary files are included, so whoever
  /// reads the list must parse every name.
  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry]

  /// Returns when whatever is done from now on reaches the disk only after everything that any caller did before.
  ///
  /// What was done before is on disk at the latest when the next `syncFolder`, of any folder, has returned.
  ///
  /// After an error, nothing since the last successful barrier may be taken for durable, and a second try that
  /// succeeds proves nothing about it.
  func barrier() throws(BlobStoreError)

  /// Returns when the names in this one folder (not the bytes of the blobs) are on disk. Throws `notFound` when the
  /// folder is absent.
  func syncFolder(_ path: BlobPath) throws(BlobStoreError)

  /// How much room there is.
  func space() throws(BlobStoreError) -> BlobSpace
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
}

/// One line of a folder's list.
package struct BlobEntry: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case blob
    case folder
    /// A link, pipe, socket or device, which no call of a store opens.
    case other
  }

  /// Text that is not UTF-8 arrives with replacement characters, so it names nothing that a store could open.
  package var name: String
  package var kind: Kind
  /// In bytes; 0 unless it is a blob.
  package var size: UInt64
  /// Differs after a blob was replaced, written or exchanged under this name, as well as the store can tell; says
  /// nothing by itself. Where the file system's times are coarse, a blob replaced twice within a tick whose second
  /// file got the first one's place on disk may show the same.
  package var fingerprint: UInt64

  package init(name: String, kind: Kind, size: UInt64, fingerprint: UInt64) {
    self.name = name
    self.kind = kind
    self.size = size
    self.fingerprint = fingerprint
  }

  package var isFolder: Bool { kind == .folder }
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
}
