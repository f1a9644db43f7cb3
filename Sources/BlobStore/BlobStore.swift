/// A tree of named blobs: a folder on a disk, a bucket, a server, a part of memory. What every one of them can do;
/// `LocalStore` adds what only a disk can.
///
/// Every call blocks and may come from any thread; calls about different blobs do not wait for each other.
/// Of two calls about one blob that run at once, either may come first, but neither sees the other half done. Folders
/// exist where there are blobs in them; a store may show an empty one.
///
/// **What is durable.** When a call returns, its effect is visible to whoever asks the store next. It survives a loss
/// of power once a later `flush` has returned.
///
/// **Errors** mean the same in every store. After one the store is as it was before the call, or as it would be after
/// a successful one: a reply may get lost on its way. So every call may be made again.
package protocol BlobStore: Sendable {
  /// The whole blob. Throws `notFound` when it is absent and `tooLarge`, before it allocates, when it has more than
  /// `limit` bytes.
  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8]

  /// `count` bytes from `offset` on: fewer only where the blob ends, none at its end and behind it. Throws `notFound`
  /// when it is absent.
  func read(_ path: BlobPath, at offset: UInt64, count: Int) throws(BlobStoreError) -> [UInt8]

  /// The blob's size in bytes; nil when it is absent. Throws `notABlob` for a folder, where the store has folders.
  func size(of path: BlobPath) throws(BlobStoreError) -> UInt64?

  /// Writes a blob and makes the folders it needs: whoever reads it, then or after a crash, gets all of the old or all
  /// of the new.
  ///
  /// With `ifAbsent` it throws `alreadyExists`, and changes nothing, when there is such a blob.
  func put(_ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition)
    throws(BlobStoreError)

  /// Whether of several `put`s of one blob with `ifAbsent` that race exactly one succeeds. Where it is false the store
  /// looks first and writes then, so the last of those that race wins and none of them knows.
  var decidesRaces: Bool { get }

  /// Removes a blob. Removing what is absent succeeds. Throws `notABlob` for a folder, where the store has folders.
  func remove(_ path: BlobPath) throws(BlobStoreError)

  /// What is in a folder, sorted by name, each blob and each folder once; empty when it is absent. Names of temporary
  /// files are included, and names that no path can have (`..`, or with a `/` in them), so whoever reads the list must
  /// parse every name.
  ///
  /// Throws `endlessListing` when a remote store goes on and on.
  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry]

  /// One step of a walk; `walk` takes all of them. A store that lists a whole tree at once does so here.
  func page(_ position: WalkPosition) throws(BlobStoreError) -> WalkPage

  /// Returns when everything that was put and removed before, by any caller, would survive a loss of power, as far as
  /// the store lets its users decide that: over a network nothing is left to do.
  ///
  /// After an error, nothing since the last successful flush may be taken for durable, and a second try that succeeds
  /// proves nothing about it.
  func flush() throws(BlobStoreError)
}

/// When `put` may write.
package enum PutCondition: Hashable, Sendable {
  case always
  case ifAbsent
}

extension BlobStore {
  package func put(
    _ path: BlobPath, _ bytes: [UInt8], _ condition: PutCondition = .always
  ) throws(BlobStoreError) {
    try bytes.withBytes { (buffer) throws(BlobStoreError) in
      try put(path, buffer, condition)
    }
  }
}

extension LocalStore {
  package func create(_ path: BlobPath, _ bytes: [UInt8]) throws(BlobStoreError) {
    try bytes.withBytes { (buffer) throws(BlobStoreError) in try create(path, buffer) }
  }

  package func overwrite(
    _ path: BlobPath, at offset: UInt64, _ bytes: [UInt8]
  ) throws(BlobStoreError) {
    try bytes.withBytes { (buffer) throws(BlobStoreError) in
      try overwrite(path, at: offset, buffer)
    }
  }

  package func replace(_ path: BlobPath, _ bytes: [UInt8], durably: Bool) throws(BlobStoreError) {
    try bytes.withBytes { (buffer) throws(BlobStoreError) in
      try replace(path, buffer, durably: durably)
    }
  }
}
