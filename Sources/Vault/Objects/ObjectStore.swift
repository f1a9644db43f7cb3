import BlobStore
import Glibc
import Synchronization
import VaultCrypto
import VaultModel

/// The objects of one member: content in, name out, and back.
///
/// New objects are *staged*: sealed on disk, or in memory while they are small, but named by no commit. `publish`
/// brings them to their place as part of a commit; `settle` or `restage` says how that has ended. Safe to use from any thread; calls run on the caller's thread.
package final class ObjectStore: Sendable {
  let member: MemberID
  let keys: MemberKeys
  let store: any LocalStore
  // Nil in a vault opened for reading.
  let staging: Staging?
  // Nil in a vault that is wholly here.
  let lazy: LazyChunks?
  let buffers: BufferPool
  /// What no commit of this process has taken yet.
  let staged = Mutex(StagedObjects())
  let readers = Mutex(ReaderCache(capacity: openReaderLimit))
  private let announced = Mutex(AnnouncedObjects())

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

  /// Stages the content for as long as this process lives, or until a commit takes it.
  ///
  /// - Throws: What `stage` throws.
  package func put(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(VaultError) -> ObjectName {
    try stageCounted(kind, content).name
  }

  /// Hashes, seals and stages the content; the same content is stored once. It stays for as long as what is returned,
  /// or until a commit takes it. Not durable before a commit that names it.
  ///
  /// - Throws: `noSpace`, `readOnly`, `io`.
  package func stage(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(VaultError) -> ObjectUse {
    let (name, number) = try stageCounted(kind, content)
    return ObjectUse(name, number: number, in: self)
  }

  /// Counts one user, who ends its use by the number.
  private func stageCounted(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(VaultError) -> (name: ObjectName, number: UInt64) {
    guard let staging else { throw .readOnly }
    precondition(content.count <= ObjectLayout.maximumContentSize(of: kind))
    let epoch = keys.current
    let hashed = HashedContent(kind, content)
    let name = epoch.name(of: hashed.digest)
    if let number = staged.withLock({ $0.use(name) }) { return (name, number) }
    let size = ObjectLayout(of: kind).fileSize(contentSize: content.count)
    // Whether there is such an object in its place already, a small one asks only when a commit takes it.
    let isHeld = size <= Staging.heldObjectSize ? try staging.hold(size) : false
    if !isHeld {
      if let number = waitForTurn(name) { return (name, number) }
    }
    defer { if !isHeld { staged.withLock { $0.endTurn(name) } } }
    if !isHeld, let number = try linkExisting(name, kind: kind, staging: staging) {
      return (name, number)
    }
    let isPooled = size <= buffers.byteCount
    let buffer =
      isPooled ? buffers.take() : .allocate(byteCount: size, alignment: 4096)
    defer { if isPooled { buffers.put(buffer) } else { buffer.deallocate() } }
    let sealed = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<size])
    epoch.seal(hashed, as: name, into: sealed)
    if isHeld { return (name, add(name, kind, in: .memory(Array(sealed)))) }
    return (name, try create(name, kind, UnsafeRawBufferPointer(sealed), staging))
  }

  /// The name that content gets when it is put now.
  func name(of content: [UInt8], kind: ObjectKind) -> ObjectName {
    keys.current.name(kind: kind, content: content)
  }

  /// `put` for content in an array.
  package func put(_ kind: ObjectKind, _ content: [UInt8]) throws(VaultError) -> ObjectName {
    try content.withBytes { (bytes) throws(VaultError) in try put(kind, bytes) }
  }

  /// `stage` for content in an array.
  package func stage(_ kind: ObjectKind, _ content: [UInt8]) throws(VaultError) -> ObjectUse {
    try content.withBytes { (bytes) throws(VaultError) in try stage(kind, bytes) }
  }

  /// Returns when it is this thread's turn to bring the object's file to the staging folder; or the number of the object,
  /// if another thread has staged the same content meanwhile.
  private func waitForTurn(_ name: ObjectName) -> UInt64? {
    while true {
      switch staged.withLock({ $0.takeTurn(name) }) {
      case .begins: return nil
      case .staged(let number): return number
      case .waits: usleep(100)
      }
    }
  }

  /// Creates the staged file. In this thread's turn, so that a file which is there is nobody's: it was left when one that
  /// nobody used could not be removed.
  private func create(
    _ name: ObjectName, _ kind: ObjectKind, _ sealed: UnsafeRawBufferPointer, _ staging: Staging
  ) throws(VaultError) -> UInt64 {
    let path = staging.path(of: name)
    try storing { () throws(BlobStoreError) in
      do throws(BlobStoreError) { try store.create(path, sealed) } catch {
        guard case .alreadyExists = error else { throw error }
        try store.remove(path)
        try store.create(path, sealed)
      }
    }
    return add(name, kind, in: .folder)
  }

  /// Takes an object that is already in its place for the content, if it opens.
  private func linkExisting(
    _ name: ObjectName, kind: ObjectKind, staging: Staging
  ) throws(VaultError) -> UInt64? {
    let final = path(of: name)
    guard try storing({ () throws(BlobStoreError) in try store.size(of: final) }) != nil else {
      return nil
    }
    // One that does not open is replaced when the good one is published.
    guard opensInPlace(name, kind) else { return nil }
    do throws(BlobStoreError) {
      // The link keeps the content alive even if `collect` removes the object before the commit.
      try store.link(final, to: staging.path(of: name))
    } catch {
      switch error {
      case .notFound, .alreadyExists: return nil
      default: throw VaultError(error)
      }
    }
    return add(name, kind, in: .link)
  }

  private func add(_ name: ObjectName, _ kind: ObjectKind, in place: StagedObjects.Place) -> UInt64
  {
    let (number, freed) = staged.withLock { $0.add(name, kind, in: place) }
    letGo(freed)
    return number
  }

  func endUse(of name: ObjectName, number: UInt64) {
    letGo(staged.withLock { $0.endUse(of: name, number: number) })
  }

  private func letGo(_ heldByteCount: Int?) {
    if let heldByteCount { staging?.letGo(heldByteCount) }
  }

  /// Removes the staged files that nobody uses.
  package func removeUnused() {
    guard let staging else { return }
    staged.withLock { staged in
      // Under the lock, so that nobody stages the same content again in between. What cannot be
      // removed is removed with the staging folder.
      for name in staged.takeUnused() { try? store.remove(staging.path(of: name)) }
    }
  }

  /// How many objects wait for a commit.
  package var stagedCount: Int { staged.withLock { $0.count } }

  /// Where an object is to be found.
  enum Whereabouts {
    /// In its place, if anywhere.
    case inPlace
    /// In memory only: its sealed file.
    case held([UInt8])
    case inStagingFolder
  }

  func whereabouts(of name: ObjectName) -> Whereabouts {
    switch staged.withLock({ $0[name]?.place }) {
    case nil: .inPlace
    case .memory(let sealed): .held(sealed)
    case .folder, .link: .inStagingFolder
    }
  }

  func isStaged(_ name: ObjectName) -> Bool { staged.withLock { $0[name] != nil } }

  /// Moves a staged object to its place; does nothing when it is there already. Only a commit does that, which ends with
  /// `settle` or `restage`.
  ///
  /// What another device means to remove is written anew, though it is there: a program that copies files and deletions
  /// tells by the file itself whether it is still the one that was deleted elsewhere.
  ///
  /// - Throws: `missing` if it is neither staged nor in its place.
  func publish(_ name: ObjectName) throws(VaultError) {
    try bring(name)
    if announced.withLock({ $0.names.contains(name) }) { try renew(path(of: name)) }
  }

  private func bring(_ name: ObjectName) throws(VaultError) {
    let final = path(of: name)
    let (object, isOwn) = staged.withLock { ($0[name], $0.settled.contains(name)) }
    guard let staging, let object else {
      let isThere = try storing { () throws(BlobStoreError) in
        // What another program or process has put there a moment ago may be on no disk yet.
        try isOwn ? store.size(of: final) != nil : store.takeOver(final)
      }
      guard isThere else {
        // What a lazy vault keeps elsewhere is in its place there.
        if lazy != nil { return }
        throw .missing(path: final.string)
      }
      return
    }
    switch object.place {
    case .memory(let sealed): try write(sealed, name, object.kind)
    case .folder, .link:
      let path = staging.path(of: name)
      do throws(BlobStoreError) {
        try store.rename(path, to: final)
        // Renaming one link of a file over another does nothing and leaves both.
        if case .link = object.place { try store.remove(path) }
      } catch {
        if case .notFound = error { staged.withLock { $0.forget(name) } }
        throw VaultError(error)
      }
    }
    staged.withLock { $0.markPublished(name) }
  }

  /// How many objects the commit under way has brought to their places.
  var publishedCount: Int { staged.withLock { $0.published.count } }

  /// The commit under way is done: what it has brought to its place stays there.
  func settle() {
    for byteCount in staged.withLock({ $0.settle() }) { letGo(byteCount) }
  }

  /// The commit under way failed, or leaves out what it has brought to its place since `position`. No head names that,
  /// so it is staged again for those who use it: whoever collects what is not named may remove it from its place.
  func restage(from position: Int = 0) {
    guard let staging else { return }
    let freed = staged.withLock { staged in
      staged.restage(from: position) { name in
        do throws(BlobStoreError) {
          try store.link(path(of: name), to: staging.path(of: name))
          return true
        } catch {
          if case .alreadyExists = error { return true }
          // Such as where a disk knows no links; the object stays in its place.
          return false
        }
      }
    }
    for byteCount in freed { letGo(byteCount) }
  }

  /// Gives an object's file another inode and time; does nothing where there is none.
  private func renew(_ path: BlobPath) throws(VaultError) {
    do throws(BlobStoreError) {
      let bytes = try store.read(path, limit: Self.fileSizeLimit(of: .announcement))
      try store.put(path, bytes, .always)
    } catch {
      if case .notFound = error { return }
      throw VaultError(error)
    }
  }

  /// Takes note of what other devices mean to remove; `announcements` are the objects that say it.
  ///
  /// One that cannot be read yet is read when it is here: a program that copies files brings the head before it.
  func noteAnnounced(_ announcements: Set<ObjectName>) {
    announced.withLock { announced in
      guard announcements != announced.read else { return }
      announced = AnnouncedObjects()
      for name in announcements {
        guard let bytes = try? content(name, kind: .announcement),
          let announcement = try? Announcement(decoding: bytes)
        else { continue }
        announced.read.insert(name)
        announced.names.formUnion(announcement.names)
      }
    }
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
      _ = try content(name, kind: kind, at: path(of: name))
      return true
    } catch {
      return false
    }
  }
}

/// What other devices have announced that they will remove.
private struct AnnouncedObjects {
  /// The announcements that were read.
  var read: Set<ObjectName> = []
  var names: Set<ObjectName> = []
}
