import BlobStore
import Glibc
import Synchronization
import VaultCrypto
import VaultModel

/// The objects of one member: content in, name out, and back.
///
/// New objects are *staged*: sealed on disk, or in memory while they are small, but named by no commit. `publish`
/// brings them to their place as part of a commit. Safe to use from any thread; calls run on the caller's thread.
package final class ObjectStore: Sendable {
  let member: MemberID
  let keys: MemberKeys
  let store: any LocalStore
  // Nil in a vault opened for reading.
  let staging: Staging?
  // Nil in a vault that is wholly here.
  let lazy: LazyChunks?
  let buffers: BufferPool
  /// An object that no commit of this process has taken yet.
  struct Staged: Sendable {
    let kind: ObjectKind
    /// How many drafts use it.
    var userCount: Int
    /// It is a link to an object that was in its place already.
    var isLink = false
    /// The sealed file of a small object, which stands nowhere else; nil when it is in the staging folder.
    var held: [UInt8]?
  }

  let staged = Mutex<[ObjectName: Staged]>([:])
  let readers = Mutex(ReaderCache(capacity: openReaderLimit))

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
  static let sealedChunkSize = ObjectLayout.largestFileSize(of: .chunk)

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
    let size = ObjectLayout.current(for: kind).fileSize(contentSize: content.count)
    // Whether there is such an object in its place already, a small one asks only when a commit takes it.
    let isHeld = size <= Staging.heldObjectSize ? try staging.hold(size) : false
    if !isHeld, try linkExisting(name, kind: kind, staging: staging) { return name }
    let isPooled = size <= buffers.byteCount
    let buffer =
      isPooled ? buffers.take() : .allocate(byteCount: size, alignment: 4096)
    defer { if isPooled { buffers.put(buffer) } else { buffer.deallocate() } }
    let sealed = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<size])
    epoch.seal(name: name, kind: kind, content: content, into: sealed)
    if isHeld {
      hold(name, kind, Array(sealed), staging)
    } else {
      try create(name, kind, UnsafeRawBufferPointer(sealed), staging)
    }
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

  /// Keeps a small object in memory, or joins another thread that staged the same content meanwhile.
  private func hold(
    _ name: ObjectName, _ kind: ObjectKind, _ sealed: [UInt8], _ staging: Staging
  ) {
    let isNew = staged.withLock { staged in
      staged[name, default: Staged(kind: kind, userCount: 0, held: sealed)].userCount += 1
      return staged[name]?.userCount == 1
    }
    if !isNew { staging.letGo(sealed.count) }
  }

  /// Creates the staged file, or joins another thread that stages the same content at this moment.
  private func create(
    _ name: ObjectName, _ kind: ObjectKind, _ sealed: UnsafeRawBufferPointer, _ staging: Staging
  ) throws(VaultError) {
    let path = staging.path(of: name)
    for attempt in 0... {
      do throws(BlobStoreError) {
        try store.create(path, sealed)
        retain(name, kind, isLink: false)
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
    // One that does not open is replaced when the good one is published.
    guard opensInPlace(name, kind) else { return false }
    do throws(BlobStoreError) {
      // The link keeps the content alive even if `collect` removes the object before the commit.
      try store.link(final, to: staging.path(of: name))
    } catch {
      switch error {
      case .notFound, .alreadyExists: return retainStaged(name)
      default: throw VaultError(error)
      }
    }
    retain(name, kind, isLink: true)
    return true
  }

  private func retain(_ name: ObjectName, _ kind: ObjectKind, isLink: Bool) {
    staged.withLock {
      $0[name, default: Staged(kind: kind, userCount: 0, isLink: isLink)].userCount += 1
    }
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
      if let held = object.held { return staging.letGo(held.count) }
      // Under the lock, so that nobody stages the same content again in between. What cannot be
      // removed is removed with the staging folder.
      try? store.remove(staging.path(of: name))
    }
  }

  /// Where an object is to be found.
  enum Whereabouts {
    /// In its place, if anywhere.
    case inPlace
    /// In memory only: its sealed file.
    case held([UInt8])
    case inStagingFolder
  }

  func whereabouts(of name: ObjectName) -> Whereabouts {
    staged.withLock { staged in
      guard let object = staged[name] else { return .inPlace }
      return object.held.map(Whereabouts.held) ?? .inStagingFolder
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
    if let held = object.held {
      try write(held, name, object.kind)
    } else {
      try storing { () throws(BlobStoreError) in
        let path = staging.path(of: name)
        try store.rename(path, to: final)
        // Renaming one link of a file over another does nothing and leaves both.
        if object.isLink { try store.remove(path) }
      }
    }
    // Its users now have it in its place; what they discard later is not staged any more.
    let published = staged.withLock { $0.removeValue(forKey: name) }
    if let held = published?.held { staging.letGo(held.count) }
  }

  private func write(
    _ held: [UInt8], _ name: ObjectName, _ kind: ObjectKind
  ) throws(VaultError) {
    let final = path(of: name)
    do throws(BlobStoreError) {
      return try store.put(final, held, .ifAbsent)
    } catch {
      guard case .alreadyExists = error else { throw VaultError(error) }
    }
    if opensInPlace(name, kind) { return }
    try storing { () throws(BlobStoreError) in try store.put(final, held, .always) }
  }

  /// Whether what stands in an object's place has the content that the name is of: anybody could put something there.
  private func opensInPlace(_ name: ObjectName, _ kind: ObjectKind) -> Bool {
    do throws(VaultError) {
      _ = try content(name, kind: kind, at: path(of: name), true)
      return true
    } catch {
      return false
    }
  }
}
