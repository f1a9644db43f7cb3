import BlobStore
import Threads
import VaultCrypto
import VaultErrors
import VaultModel

/// From contents to objects: staged first, then brought to their place by a commit.
extension ObjectStore {
  // MARK: Staging

  /// `stage` for a content that nobody holds: it stays for as long as this process lives, or until a commit takes it.
  ///
  /// - Throws: What `stage` throws.
  package func put(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(VaultError) -> ContentDigest {
    try stageCounted(kind, content).digest
  }

  /// Hashes, seals and stages the content. Equal contents are stored once.
  ///
  /// - Returns: What holds it: the content stays staged for as long as this lives, or until a commit takes it. It is not durable
  ///   before that commit.
  ///
  /// - Throws: `noSpace`, `readOnly`, `io`.
  package func stage(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(VaultError) -> ObjectUse {
    let (digest, number) = try stageCounted(kind, content)
    return ObjectUse(digest, number: number, in: self)
  }

  /// `put` for content in an array.
  package func put(_ kind: ObjectKind, _ content: [UInt8]) throws(VaultError) -> ContentDigest {
    try content.withBytes { (bytes) throws(VaultError) in try put(kind, bytes) }
  }

  /// `stage` for content in an array.
  package func stage(_ kind: ObjectKind, _ content: [UInt8]) throws(VaultError) -> ObjectUse {
    try content.withBytes { (bytes) throws(VaultError) in try stage(kind, bytes) }
  }

  /// Stages the content and counts one more user of it, who ends that with the number that is returned (`endUse`).
  private func stageCounted(
    _ kind: ObjectKind, _ bytes: UnsafeRawBufferPointer
  ) throws(VaultError) -> (digest: ContentDigest, number: UInt64) {
    guard let staging else { throw .readOnly }
    let content = HashedContent(kind, bytes)
    try Self.requireSize(of: content)
    let digest = content.digest
    if let number = staged.withLock({ $0.use(digest) }) { return (digest, number) }
    let place = ObjectPlace(of: digest, keys.current)
    let failures = staging.failedBarriers
    let size = ObjectLayout(of: kind).fileSize(contentSize: bytes.count)
    // Whether there is such an object in its place already, a small one asks only when a commit takes it.
    let isHeld = size <= Staging.heldObjectSize ? try staging.hold(size) : false
    if !isHeld {
      if let number = waitForTurn(digest) { return (digest, number) }
    }
    defer { if !isHeld { staged.withLock { $0.endTurn(digest) } } }
    if !isHeld, let number = try linkExisting(digest, kind, place, staging) {
      return (digest, number)
    }
    // All else is what a commit writes, for which the room was kept.
    if !isHeld, kind == .chunk { try staging.requireRoom(for: size, besides: stagedCount) }
    let isPooled = size <= buffers.byteCount
    let buffer =
      isPooled ? buffers.take() : .allocate(byteCount: size, alignment: 4096)
    defer { if isPooled { buffers.put(buffer) } else { buffer.deallocate() } }
    let sealed = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<size])
    place.keys.seal(content, as: place.name, into: sealed)
    if isHeld {
      return (digest, add(digest, kind, place, in: .memory(Array(sealed)), since: failures))
    }
    try create(staging.path(of: place.name), UnsafeRawBufferPointer(sealed))
    return (digest, add(digest, kind, place, in: .folder, since: failures))
  }

  /// Returns when it is this thread's turn to bring the object's file to the staging folder; or the number of the object,
  /// if another thread has staged the same content meanwhile.
  private func waitForTurn(_ digest: ContentDigest) -> UInt64? {
    while true {
      switch staged.withLock({ $0.takeTurn(digest) }) {
      case .begins: return nil
      case .staged(let number): return number
      case .waits: SystemThread.pause(for: .microseconds(100))
      }
    }
  }

  /// Creates the staged file. In this thread's turn, so that a file which is there is nobody's: it was left when one that
  /// nobody used could not be removed.
  private func create(
    _ path: BlobPath, _ sealed: UnsafeRawBufferPointer
  ) throws(VaultError) {
    try storing { () throws(BlobStoreError) in
      do throws(BlobStoreError) { try store.create(path, sealed) } catch {
        guard case .alreadyExists = error else { throw error }
        try store.remove(path)
        try store.create(path, sealed)
      }
    }
  }

  /// Takes an object that is already in its place for the content, if it opens.
  private func linkExisting(
    _ digest: ContentDigest, _ kind: ObjectKind, _ place: ObjectPlace, _ staging: Staging
  ) throws(VaultError) -> UInt64? {
    let final = path(of: place.name)
    let failures = staging.failedBarriers
    guard !isDoubtful(place.name), try storing(store.size(of: final)) != nil else { return nil }
    // One that does not open is replaced when the good one is published.
    guard opens(kind, place) else { return nil }
    do {
      // The link keeps the content alive even if `collect` removes the object before the commit.
      try store.link(final, to: staging.path(of: place.name))
    } catch {
      switch error {
      case .notFound, .alreadyExists: return nil
      default: throw VaultError(error)
      }
    }
    return add(digest, kind, place, in: .link, since: failures)
  }

  private func add(
    _ digest: ContentDigest, _ kind: ObjectKind, _ sealed: ObjectPlace,
    in place: StagedObjects.Place, since failures: UInt64
  ) -> UInt64 {
    let (number, freed) = staged.withLock {
      $0.add(digest, kind, sealed, in: place, since: failures)
    }
    letGo(freed)
    return number
  }

  func endUse(of digest: ContentDigest, number: UInt64) {
    letGo(staged.withLock { $0.endUse(of: digest, number: number) })
  }

  private func letGo(_ heldByteCount: Int?) {
    if let heldByteCount { staging?.letGo(heldByteCount) }
  }

  /// Removes the staged files that nobody uses.
  package func removeUnused() {
    guard let staging else { return }
    for (digest, name) in staged.withLock({ $0.takeUnused() }) {
      // What cannot be removed is removed with the staging folder.
      try? store.remove(staging.path(of: name))
      staged.withLock { $0.endTurn(digest) }
    }
  }

  // MARK: What is staged

  /// How many objects wait for a commit.
  package var stagedCount: Int { staged.withLock { $0.count } }

  /// Where an object is to be found.
  package enum Whereabouts {
    /// In its place, if anywhere.
    case inPlace
    /// In memory only: its sealed file.
    case held([UInt8])
    case inStagingFolder
  }

  /// Where this process has the content, or had it before a commit took it.
  package func whereabouts(of digest: ContentDigest) -> Whereabouts {
    switch staged.withLock({ $0[digest]?.place }) {
    case nil: .inPlace
    case .memory(let sealed): .held(sealed)
    case .folder, .link: .inStagingFolder
    }
  }

  /// Whether the content is staged, and waits for a commit.
  package func isStaged(_ digest: ContentDigest) -> Bool { staged.withLock { $0[digest] != nil } }

  // MARK: Publishing

  /// Moves a staged object to its place; does nothing when it is there already. Only a commit does that, which ends with
  /// `settle` or `restage`.
  ///
  /// What is staged, or stands, under the keys of another epoch than the one in use is sealed anew. What another device
  /// means to remove, or may mean to, is written anew, though it is there: a program that copies files and deletions
  /// tells by the file itself whether it is still the one that was deleted elsewhere.
  ///
  /// - Throws: `missing` if it is neither staged nor in its place; `damaged`; `noSpace`, `io`.
  package func publish(_ digest: ContentDigest) throws(VaultError) {
    let place = ObjectPlace(of: digest, keys.current)
    try bring(digest, to: place)
    if announced.withLock({ $0.mayName(place.name) }) { try renew(path(of: place.name)) }
  }

  private func bring(_ digest: ContentDigest, to place: ObjectPlace) throws(VaultError) {
    guard let staging, let object = staged.withLock({ $0[digest] }) else {
      return try requireInPlace(digest, place)
    }
    guard object.sealed.name == place.name else {
      // It stays staged as it is, for those who use it.
      let bytes = try content(digest, kind: object.kind)
      _ = try write(object.kind, bytes, under: place.keys)
      return
    }
    switch object.place {
    case .memory(let sealed): try write(sealed, object.kind, place)
    case .folder, .link:
      let path = staging.path(of: place.name)
      do throws(VaultError) {
        if isDoubtful(place.name) || object.failedBarriers != staging.failedBarriers {
          let file = try opening { () throws(BlobStoreError) in
            try store.read(path, limit: Self.fileSizeLimit(of: object.kind))
          }
          _ = try content(object.kind, in: file, at: path, place)
          try rewrite(place, file)
          try storing { () throws(BlobStoreError) in try store.remove(path) }
        } else {
          let failures = object.failedBarriers
          try staging.writing(place.name, since: failures) { () throws(BlobStoreError) in
            try store.rename(path, to: self.path(of: place.name))
            // Renaming one link of a file over another does nothing and leaves both.
            if case .link = object.place { try store.remove(path) }
          }
        }
      } catch {
        if error.isDamage { staged.withLock { $0.forget(digest) } }
        throw error
      }
    }
    staged.withLock { $0.markPublished(digest) }
  }

  /// Puts the object in its place as a new file, whatever stands there.
  private func rewrite(_ place: ObjectPlace, _ file: [UInt8]) throws(VaultError) {
    guard let staging else { throw .readOnly }
    try staging.writing(place.name) { () throws(BlobStoreError) in
      try store.put(path(of: place.name), file, .always)
    }
  }

  /// - Throws: `missing` for what is nowhere here, unless a lazy vault keeps it elsewhere.
  private func requireInPlace(
    _ digest: ContentDigest, _ place: ObjectPlace
  ) throws(VaultError) {
    let final = path(of: place.name)
    let isOwn = staged.withLock { $0.settled.contains(place.name) }
    let isThere = try storing { () throws(BlobStoreError) in
      // What another program or process has put there a moment ago may be on no disk yet.
      try isOwn ? store.size(of: final) != nil : store.takeOver(final)
    }
    if isThere {
      guard isDoubtful(place.name) else { return }
      return try rewrite(place, sealedObject(place.name).file)
    }
    if let former = try standing(digest) {
      let kind = try kind(of: former.name)
      _ = try write(kind, try placedContent(digest, kind: kind), under: place.keys)
      return
    }
    // What a lazy vault keeps elsewhere is in its place there.
    guard lazy != nil else { throw .missing(path: final.string) }
  }

  private func write(
    _ held: [UInt8], _ kind: ObjectKind, _ place: ObjectPlace
  ) throws(VaultError) {
    guard let staging else { throw .readOnly }
    if isDoubtful(place.name) { return try rewrite(place, held) }
    do throws(VaultError) {
      return try staging.writing(place.name) { () throws(BlobStoreError) in
        try store.put(path(of: place.name), held, .ifAbsent)
      }
    } catch {
      guard case .alreadyExists = error else { throw error }
    }
    if opens(kind, place) { return }
    try rewrite(place, held)
  }

  /// How many objects the commit under way has brought to their places.
  package var publishedCount: Int { staged.withLock { $0.published.count } }

  /// The commit under way is done: what it has brought to its place stays there.
  package func settle() {
    for byteCount in staged.withLock({ $0.settle() }) { letGo(byteCount) }
  }

  /// The commit under way failed, or leaves out what it has brought to its place since `position`. No head names that,
  /// so it is staged again for those who use it: whoever collects what is not named may remove it from its place.
  package func restage(from position: Int = 0) {
    guard let staging else { return }
    if position == 0 { staging.doubt(staged.withLock { $0.publishedNames }) }
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

  // MARK: What others mean to remove

  /// Gives an object's file another inode and time; does nothing where there is none.
  private func renew(_ path: BlobPath) throws(VaultError) {
    do {
      let bytes = try store.read(path, limit: Self.fileSizeLimit(of: .announcement))
      try store.put(path, bytes, .always)
    } catch {
      if case .notFound = error { return }
      throw VaultError(error)
    }
  }

  /// Takes note of what other devices mean to remove; `announcements` are the objects that say it.
  ///
  /// One that cannot be read yet is read when it is here: a program that copies files brings the head before it. Only who is
  /// about to commit calls it, so there is never a second call meanwhile.
  ///
  /// - Throws: `io` and the like, but nothing for one that is missing or damaged.
  package func noteAnnounced(_ announcements: Set<ContentDigest>) throws(VaultError) {
    var known = announced.withLock { $0 }
    known.read = known.read.filter { announcements.contains($0.key) }
    known.unread = []
    for digest in announcements where known.read[digest] == nil {
      do throws(VaultError) {
        known.read[digest] = try announcedNames(digest)
      } catch {
        guard error.isDamage else { throw error }
        known.unread.insert(digest)
      }
    }
    announced.withLock { $0 = known }
  }

  /// What an announcement names.
  ///
  /// - Throws: `missing`, `damaged`.
  package func announcedNames(_ announcement: ContentDigest) throws(VaultError) -> Set<ObjectName> {
    let bytes = try content(announcement, kind: .announcement)
    do { return Set(try Announcement(decoding: bytes).names) } catch {
      throw VaultError(error, path: path(of: announcement).string)
    }
  }
}
