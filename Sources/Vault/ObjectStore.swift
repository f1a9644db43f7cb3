import BlobStore
import Glibc
import Synchronization
import VaultCrypto
import VaultModel

/// The objects of one member: content in, name out, and back.
///
/// New objects are *staged*: sealed on disk, but named by no commit. `publish` moves them to their
/// place as part of a commit. Safe to use from any thread; calls run on the caller's thread.
package final class ObjectStore: Sendable {
  let member: MemberID
  let keys: MemberKeys
  let store: any LocalStore
  // Nil in a vault opened for reading.
  let staging: Staging?
  // Nil in a vault that is wholly here.
  let lazy: LazyChunks?
  private let buffers: BufferPool
  /// An object that no commit of this process has taken yet.
  private struct Staged: Sendable {
    /// How many drafts use it.
    var userCount: Int
    /// It is a link to an object that was in its place already.
    var isLink: Bool
  }

  private let staged = Mutex<[ObjectName: Staged]>([:])
  private let readers = Mutex(ReaderCache(capacity: 512))

  init(
    member: MemberID, keys: MemberKeys, store: any LocalStore, staging: Staging?,
    lazy: LazyChunks?, buffers: BufferPool
  ) {
    self.member = member
    self.keys = keys
    self.store = store
    self.staging = staging
    self.lazy = lazy
    self.buffers = buffers
  }

  /// The size of a buffer that any sealed chunk fits into.
  static let sealedChunkSize = ObjectLayout.fileSize(
    contentSize: ObjectLayout.maximumContentSize(of: .chunk))

  func path(of name: ObjectName) -> BlobPath {
    BlobPath(VaultPath.object(member, name).string)
  }

  // MARK: Writing

  /// Hashes, seals and stages the content; the same content is stored once.
  ///
  /// Counts one more user of the staged object: each `put` is answered by one `publish` or `discard`.
  /// Not durable before a commit that names it.
  ///
  /// - Throws: `noSpace`, `readOnly`, `io`.
  package func put(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(VaultError) -> ObjectName {
    guard let staging else { throw .readOnly }
    precondition(content.count <= ObjectLayout.maximumContentSize(of: kind))
    let epoch = keys.current
    let name = epoch.name(kind: kind, content: content)
    if retainStaged(name) { return name }
    if try linkExisting(name, kind: kind, staging: staging) { return name }
    try stage(name, kind, content, epoch, staging)
    return name
  }

  /// The name that content gets when it is put now.
  func name(of content: [UInt8], kind: ObjectKind) -> ObjectName {
    content.withBytes { keys.current.name(kind: kind, content: $0) }
  }

  /// `put` for content in an array.
  package func put(_ kind: ObjectKind, _ content: [UInt8]) throws(VaultError) -> ObjectName {
    try content.withBytes { (bytes) throws(VaultError) in try put(kind, bytes) }
  }

  private func stage(
    _ name: ObjectName, _ kind: ObjectKind, _ content: UnsafeRawBufferPointer, _ epoch: EpochKeys,
    _ staging: Staging
  ) throws(VaultError) {
    let size = ObjectLayout.fileSize(contentSize: content.count)
    let isPooled = size <= buffers.byteCount
    let buffer =
      isPooled ? buffers.take() : .allocate(byteCount: size, alignment: 4096)
    defer { if isPooled { buffers.put(buffer) } else { buffer.deallocate() } }
    let sealed = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<size])
    epoch.seal(name: name, kind: kind, content: content, into: sealed)
    try create(name, UnsafeRawBufferPointer(sealed), staging)
  }

  /// Creates the staged file, or joins another thread that stages the same content at this moment.
  private func create(
    _ name: ObjectName, _ sealed: UnsafeRawBufferPointer, _ staging: Staging
  ) throws(VaultError) {
    let path = staging.path(of: name)
    for attempt in 0... {
      do throws(BlobStoreError) {
        try store.create(path, sealed)
        retain(name, isLink: false)
        return
      } catch {
        guard case .alreadyExists = error else { throw VaultError(error) }
      }
      // Its file is there, but it counts only once its user is counted too; until then it may be
      // about to be counted, or about to be removed.
      if retainStaged(name) { return }
      sched_yield()
      if attempt == 1000 {
        // Nobody will: it was left when a discarded file could not be removed.
        try storing { () throws(BlobStoreError) in try store.remove(path) }
      }
    }
  }

  /// Takes an object that is already in its place for the content, if it opens.
  private func linkExisting(
    _ name: ObjectName, kind: ObjectKind, staging: Staging
  ) throws(VaultError) -> Bool {
    let final = path(of: name)
    guard try storing({ () throws(BlobStoreError) in try store.size(of: final) }) != nil else {
      return false
    }
    // Nobody may plant other content under a name: it counts only if it opens. One that does not is
    // replaced when the good one is published.
    do throws(VaultError) { _ = try content(name, kind: kind) } catch { return false }
    do throws(BlobStoreError) {
      // The link keeps the content alive even if `collect` removes the object before the commit.
      try store.link(final, to: staging.path(of: name))
    } catch {
      switch error {
      case .notFound, .alreadyExists: return retainStaged(name)
      default: throw VaultError(error)
      }
    }
    retain(name, isLink: true)
    return true
  }

  private func retain(_ name: ObjectName, isLink: Bool) {
    staged.withLock { $0[name, default: Staged(userCount: 0, isLink: isLink)].userCount += 1 }
  }

  private func retainStaged(_ name: ObjectName) -> Bool {
    staged.withLock { staged in
      guard staged[name] != nil else { return false }
      staged[name]?.userCount += 1
      return true
    }
  }

  /// One user of a staged object no longer needs it; the last one removes it.
  ///
  /// Does nothing for an object that a commit has taken.
  package func discard(_ name: ObjectName) {
    guard let staging else { return }
    staged.withLock { staged in
      guard let object = staged[name] else { return }
      if object.userCount > 1 {
        staged[name]?.userCount -= 1
        return
      }
      staged[name] = nil
      // Under the lock, so that nobody stages the same content again in between. What cannot be
      // removed is removed with the staging folder.
      try? store.remove(staging.path(of: name))
    }
  }

  func isStaged(_ name: ObjectName) -> Bool { staged.withLock { $0[name] != nil } }

  /// Moves a staged object to its place; does nothing when it is there already.
  ///
  /// - Throws: `missing` if it is neither staged nor in its place.
  func publish(_ name: ObjectName) throws(VaultError) {
    let final = path(of: name)
    guard let staging, let object = staged.withLock({ $0[name] }) else {
      guard try storing({ () throws(BlobStoreError) in try store.size(of: final) }) != nil else {
        // What a lazy vault keeps elsewhere is in its place there.
        if lazy != nil { return }
        throw .missing(path: final.string)
      }
      return
    }
    let path = staging.path(of: name)
    try storing { () throws(BlobStoreError) in
      try store.rename(path, to: final)
      // Renaming one link of a file over another does nothing and leaves both.
      if object.isLink { try store.remove(path) }
    }
    // Its users now have it in its place; what they discard later is not staged any more.
    staged.withLock { $0[name] = nil }
  }

  // MARK: Reading

  /// A reader for parts of the object.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  package func reader(
    _ name: ObjectName, kind: ObjectKind = .chunk
  ) throws(VaultError) -> ObjectReader {
    if let reader = readers.withLock({ $0[name] }) { return reader }
    let reader = try fetchingIfAway(name, kind) { () throws(VaultError) in
      try open(name, kind: kind)
    }
    readers.withLock { $0.insert(reader) }
    return reader
  }

  private func open(_ name: ObjectName, kind: ObjectKind) throws(VaultError) -> ObjectReader {
    if let staging, isStaged(name) {
      do throws(VaultError) {
        return try ObjectReader(
          name: name, kind: kind, path: staging.path(of: name), store: store, keys: keys,
          buffers: buffers)
      } catch {
        // It may have been published since.
        guard case .missing = error else { throw error }
      }
    }
    return try ObjectReader(
      name: name, kind: kind, path: path(of: name), store: store, keys: keys, buffers: buffers)
  }

  /// The whole content, authenticated.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  package func content(_ name: ObjectName, kind: ObjectKind) throws(VaultError) -> [UInt8] {
    var path = path(of: name)
    if let staging, isStaged(name) { path = staging.path(of: name) }
    do throws(VaultError) {
      return try content(name, kind: kind, at: path)
    } catch {
      let final = self.path(of: name)
      guard case .missing = error else { throw error }
      return try fetchingIfAway(name, kind) { () throws(VaultError) in
        try content(name, kind: kind, at: final)
      }
    }
  }

  /// Runs `body`; when it misses the chunk and the vault is lazy, brings the chunk here and runs it again.
  private func fetchingIfAway<Value>(
    _ name: ObjectName, _ kind: ObjectKind, _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    guard let lazy, kind == .chunk else { return try body() }
    lazy.noteUse(name)
    do throws(VaultError) { return try body() } catch {
      guard case .missing = error else { throw error }
      try lazy.fetch(name, for: self)
      return try body()
    }
  }

  /// Whether chunks may be absent here because a remote has them.
  package var isLazy: Bool { lazy != nil }

  /// Brings a chunk here that a lazy vault keeps elsewhere; does nothing for any other.
  ///
  /// - Throws: `away` when it cannot be had; `damaged`, `noSpace`, `io`.
  package func fetchIfAway(_ chunk: ObjectName) throws(VaultError) {
    guard let lazy, try !isPresent(chunk) else { return }
    try lazy.fetch(chunk, for: self)
  }

  /// Says that a chunk will be read soon: a lazy vault begins to bring it here.
  package func prefetch(_ name: ObjectName) {
    guard let lazy, staging != nil, !isStaged(name) else { return }
    // What cannot be told now is told to whoever reads it.
    do throws(VaultError) { if try isPresent(name) { return } } catch { return }
    lazy.fetchAhead(name, for: self)
  }

  private func content(
    _ name: ObjectName, kind: ObjectKind, at path: BlobPath
  ) throws(VaultError) -> [UInt8] {
    let limit = ObjectLayout.fileSize(contentSize: ObjectLayout.maximumContentSize(of: kind))
    let file = try storing { () throws(BlobStoreError) in try store.read(path, limit: limit) }
    return try file.withBytes { (bytes) throws(VaultError) in
      do throws(CryptoError) {
        let header = try ObjectHeader(decoding: bytes)
        guard let epoch = keys[header.keyID] else {
          throw .malformed(reason: "it is sealed with an unknown key")
        }
        return try epoch.open(name: name, kind: kind, file: bytes)
      } catch {
        throw VaultError(error, path: path.string)
      }
    }
  }

  /// What the object's header says it is.
  func kind(of name: ObjectName) throws(VaultError) -> ObjectKind {
    try header(of: name).kind
  }

  private func header(of name: ObjectName) throws(VaultError) -> ObjectHeader {
    let path = path(of: name)
    let blob = try storing { () throws(BlobStoreError) in try store.openForReading(path) }
    return try ObjectHeader(reading: blob, path: path.string)
  }

  /// Forgets open readers of the object, after its file was replaced or removed.
  func forgetReader(_ name: ObjectName) { readers.withLock { $0.remove(name) } }
}

/// The readers used last; their number bounds the open descriptors.
private struct ReaderCache {
  private let capacity: Int
  private var readers: [ObjectName: (reader: ObjectReader, lastUse: UInt64)] = [:]
  private var uses: UInt64 = 0

  init(capacity: Int) { self.capacity = capacity }

  subscript(name: ObjectName) -> ObjectReader? {
    mutating get {
      guard let found = readers[name] else { return nil }
      uses += 1
      readers[name] = (found.reader, uses)
      return found.reader
    }
  }

  mutating func insert(_ reader: ObjectReader) {
    uses += 1
    readers[reader.name] = (reader, uses)
    guard readers.count > capacity else { return }
    // Drops the older half at once, so that insertions stay cheap on average.
    let median = readers.values.map(\.lastUse).sorted()[readers.count / 2]
    readers = readers.filter { $0.value.lastUse > median }
  }

  mutating func remove(_ name: ObjectName) { readers[name] = nil }
}
