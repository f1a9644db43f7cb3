import BlobStore
import Threads
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// Brings objects of one member from a remote to here, as heads of one epoch name them.
final class PullTransfer: ObjectTransfer {
  private let session: SyncSession
  /// What is to be brought. Its coverage is of the heads that were here when the sync began.
  private let named: NamedObjects
  /// What may come of a stranger's member; nil for any other.
  private let room: CargoRoom?
  /// What is here with everything it names, as far as this sync has seen.
  private let complete = Guarded<Set<ContentDigest>>([])
  /// Revisions that were not here before, with the bytes that were pulled for each.
  private let newRevisions = Guarded<[ContentDigest: UInt64]>([:])
  /// Revisions that are here under other keys only, each before those that it replaced.
  private let unsealed = Guarded<[ContentDigest]>([])

  /// What the revisions say that were opened.
  private let readRevisions = Guarded(ReadRevisions())

  private let opened: OpenedContents

  init(
    session: SyncSession, _ named: NamedObjects, opened: OpenedContents = OpenedContents(),
    room: CargoRoom? = nil
  ) {
    (self.session, self.named, self.opened, self.room) = (session, named, opened, room)
  }

  private var objects: ObjectStore { named.objects }
  private var epoch: StatementID { named.epoch }

  /// A walk came to its end: these need not be walked again.
  ///
  /// Only now are revisions put under the keys of the epoch, the older ones first: one that stands under these says that
  /// all it names does, and that its history is as long as it is.
  func finish(_ digests: Set<ContentDigest>) throws(SyncError) {
    let unsealed = unsealed.withLock { unsealed in
      defer { unsealed.removeAll(where: digests.contains) }
      return unsealed.filter(digests.contains)
    }
    for digest in unsealed.reversed() {
      try keeping { () throws(VaultError) in
        _ = try objects.contentSealedAnew(digest, kind: .record, in: epoch)
      }
    }
    complete.withLock { $0.formUnion(digests) }
    newRevisions.withLock { new in
      for digest in digests { new[digest] = nil }
    }
  }

  /// What the revisions say that this sync has opened on the way.
  var read: ReadRevisions { readRevisions.withLock { $0 } }

  func note(_ revision: RecordRevision, named digest: ContentDigest) {
    guard let entry = ReadRevisions.entry(of: revision, named: digest) else { return }
    readRevisions.withLock { $0.note(entry) }
  }

  /// Keeps what is in an object that was brought, for the walk that comes to it.
  func hold(_ digest: ContentDigest, _ content: [UInt8]) {
    opened.hold(objects.name(of: digest, in: epoch), content)
  }

  func holds(_ revision: RecordRevision) -> Bool { named.coverage.holds(revision) }

  func peek(_ digest: ContentDigest, kind: ObjectKind) -> [UInt8]? {
    // What has just come may turn out not to be had whole: nothing is to be built on it.
    if kind == .record, newRevisions.withLock({ $0[digest] != nil }) { return nil }
    return try? objects.placedContent(digest, kind: kind)
  }

  func bring(_ object: ObjectReference, isReplaced: Bool) throws(TransferFailure) -> [UInt8]? {
    try bring(object.digest, kind: object.kind, isReplaced: isReplaced)
  }

  func bring(_ digest: ContentDigest, kind: ObjectKind) throws(TransferFailure) -> [UInt8]? {
    try bring(digest, kind: kind, isReplaced: false)
  }

  private func bring(
    _ digest: ContentDigest, kind: ObjectKind, isReplaced: Bool
  ) throws(TransferFailure) -> [UInt8]? {
    if complete.withLock({ $0.contains(digest) }) { return nil }
    // A lazy vault leaves chunks on the remote until they are read.
    if kind == .chunk, objects.isLazy { return [] }
    if kind != .chunk, let found = opened.take(objects.name(of: digest, in: epoch)) {
      return found
    }
    if let found = try present(digest, kind: kind, isReplaced: isReplaced) { return found }
    let path = objects.vaultPath(of: objects.name(of: digest, in: epoch))
    if session.options.isDryRun, kind == .chunk {
      session.tally(.pull, path, byteCount: try sizeThere(path))
      return []
    }
    let (name, object) = try fetch(digest, kind: kind, isReplaced: isReplaced)
    if !session.options.isDryRun {
      do { try objects.place(name, file: object.file) } catch {
        throw .fatal(.vault(error))
      }
      if kind == .record {
        newRevisions.withLock { $0[digest] = UInt64(object.file.count) }
      }
    }
    session.tally(.pull, path, byteCount: UInt64(object.file.count))
    return object.content
  }

  /// Takes away again what came of older revisions that cannot be had whole: history ends there, and nobody is to miss
  /// the rest. It comes with every sync as long as that is so, and was not taken in any.
  func withdraw(_ revisions: Set<ContentDigest>) throws(SyncError) {
    unsealed.withLock { $0.removeAll(where: revisions.contains) }
    for digest in revisions.sorted() {
      guard let byteCount = newRevisions.withLock({ $0.removeValue(forKey: digest) }) else {
        continue
      }
      let name = objects.name(of: digest, in: epoch)
      try keeping(objects.withdraw(name))
      session.change { $0.pulled.uncountObject(byteCount: byteCount) }
    }
  }

  /// What is in the object if it is here already. It is opened: an interrupted sync or a disk may have torn it. What the disk may
  /// have lost, though it can be read, is as good as not here.
  ///
  /// What is here under the keys of another epoch is put under those of this one, and need not be asked for again. But
  /// whoever began the epoch may have left out what was replaced.
  private func present(
    _ digest: ContentDigest, kind: ObjectKind, isReplaced: Bool
  ) throws(TransferFailure) -> [UInt8]? {
    if isReplaced, try isLeftOut(digest) { return nil }
    if objects.isDoubtful(objects.name(of: digest, in: epoch)) { return nil }
    do {
      if session.options.isDryRun {
        let content = try objects.placedContent(digest, kind: kind)
        return kind == .chunk ? [] : content
      }
      if kind == .record, try !objects.isPresent(objects.name(of: digest, in: epoch)) {
        let content = try objects.placedContent(digest, kind: kind)
        unsealed.withLock { $0.append(digest) }
        return content
      }
      return try objects.contentSealedAnew(digest, kind: kind, in: epoch)
    } catch {
      guard error.isDamage else { throw .fatal(.vault(error)) }
      return nil
    }
  }

  /// Whether a revision that is here under other keys stands under those of this epoch neither here nor there: whoever began the
  /// epoch has left it out.
  private func isLeftOut(_ digest: ContentDigest) throws(TransferFailure) -> Bool {
    let name = objects.name(of: digest, in: epoch)
    do {
      if try objects.isPresent(name) { return false }
      if try !objects.isPresent(digest) { return false }
    } catch {
      throw .fatal(.vault(error))
    }
    return try size(there: objects.vaultPath(of: name)) == nil
  }

  /// The object and the name it came under, which may be that of another epoch: of what nobody could put anew.
  private func fetch(
    _ digest: ContentDigest, kind: ObjectKind, isReplaced: Bool
  ) throws(TransferFailure) -> (name: ObjectName, object: SealedObject) {
    let name = objects.name(of: digest, in: epoch)
    do { return (name, try fetch(name, kind: kind)) } catch {
      guard case .object(.missing) = error, !isReplaced else { throw error }
      for other in objects.names(of: digest) where other != name {
        do { return (other, try fetch(other, kind: kind)) } catch {
          guard case .object = error else { throw error }
        }
      }
      throw error
    }
  }

  private func fetch(_ name: ObjectName, kind: ObjectKind) throws(TransferFailure) -> SealedObject {
    if let nearer = session.nearer, let found = fetch(name, kind: kind, from: nearer) {
      return found
    }
    do { return try fetchThere(name, kind: kind) } catch {
      guard case .object = error, let found = fetchElsewhere(name, kind: kind) else { throw error }
      try mend(name, found)
      return found
    }
  }

  private func fetchThere(
    _ name: ObjectName, kind: ObjectKind
  ) throws(TransferFailure) -> SealedObject {
    let path = BlobPath(objects.vaultPath(of: name).string)
    let file: [UInt8]
    do {
      file = try session.remote.read(path, limit: ObjectStore.fileSizeLimit(of: kind))
    } catch {
      throw error.concernsOneFile ? .object(VaultError(error)) : .fatal(.remote(error))
    }
    if let room, !room.take(byteCount: file.count) { throw .object(.moreThanListed(path.string)) }
    do {
      return try objects.authenticate(name, kind: kind, file: file)
    } catch {
      throw .object(error)
    }
  }

  /// What this remote has lost another one may have.
  private func fetchElsewhere(_ name: ObjectName, kind: ObjectKind) -> SealedObject? {
    let path = BlobPath(objects.vaultPath(of: name).string)
    let limit = ObjectStore.fileSizeLimit(of: kind)
    let file = session.elsewhere?.read(path, limit: limit) {
      objects.isWhole(name, kind: kind, file: $0)
    }
    guard let file else { return nil }
    do { return try objects.authenticate(name, kind: kind, file: file) } catch {
      // It was whole a moment ago.
      return nil
    }
  }

  /// Puts a good copy where the remote has none.
  private func mend(_ name: ObjectName, _ object: SealedObject) throws(TransferFailure) {
    let path = objects.vaultPath(of: name)
    let isPutBack = session.options.direction != .pull && session.options.repairsRemote
    session.note(.hadElsewhere(path, isPutBack: isPutBack))
    guard isPutBack else { return }
    do { try session.put(path, object.file) } catch { throw .fatal(error) }
  }

  /// What was fetched while locked is used if it is whole.
  private func fetch(
    _ name: ObjectName, kind: ObjectKind, from nearer: any BlobStore
  ) -> SealedObject? {
    let path = BlobPath(objects.vaultPath(of: name).string)
    do {
      let file = try nearer.read(path, limit: ObjectStore.fileSizeLimit(of: kind))
      do { return try objects.authenticate(name, kind: kind, file: file) } catch {
        return nil
      }
    } catch {
      return nil
    }
  }

  private func sizeThere(_ path: VaultPath) throws(TransferFailure) -> UInt64 {
    if let size = try size(there: path) { return min(size, ObjectListing.sizeLimit) }
    throw .object(.missing(path: path.string))
  }

  private func size(there path: VaultPath) throws(TransferFailure) -> UInt64? {
    do { return try session.remote.size(of: BlobPath(path.string)) } catch {
      throw error.concernsOneFile ? .object(VaultError(error)) : .fatal(.remote(error))
    }
  }
}
