import BlobStore
import Threads
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// Brings objects of one member from here to a remote, as heads of one epoch name them.
final class PushTransfer: ObjectTransfer {
  private let session: SyncSession
  /// Covered is what the heads name that stand on the remote.
  private let named: NamedObjects
  /// Where what is sent is put together as well; nil for nowhere.
  private let packs: PackWriter?
  /// What other devices whose heads stand there have announced; nil where none do.
  private let announced: Set<ObjectName>?
  /// When a sync with the remote last went through.
  private let lastSuccess: UInt64?
  // What is there by now.
  private let sent: Guarded<Set<ObjectName>>

  /// - Parameter listed: Objects that were seen on the remote, with the size that they have here.
  init(
    session: SyncSession, _ named: NamedObjects, listed: Set<ObjectName> = [],
    packs: PackWriter? = nil, announced: Set<ObjectName>? = nil
  ) {
    (self.session, self.named, self.packs) = (session, named, packs)
    self.announced = announced
    lastSuccess = session.memory.lastSuccess
    sent = Guarded(listed)
  }

  private var objects: ObjectStore { named.objects }
  private var epoch: StatementID { named.epoch }

  /// Objects of this many bytes and more are asked for before they are sent.
  private static let askedSize: UInt64 = 64 << 10

  /// What is there by now, under the names of its files.
  var sentNames: Set<ObjectName> { sent.withLock { $0 } }

  /// What is here was compared when it came.
  func note(_ revision: RecordRevision, named digest: ContentDigest) {}

  func holds(_ revision: RecordRevision) -> Bool { named.coverage.holds(revision) }

  func peek(_ digest: ContentDigest, kind: ObjectKind) -> [UInt8]? {
    // What is wrong with it is told when it is to be sent.
    try? objects.placedContent(digest, kind: kind)
  }

  func bring(_ object: ObjectReference, isReplaced: Bool) throws(TransferFailure) -> [UInt8]? {
    try send(object.digest, kind: object.kind, contentByteCount: object.contentByteCount ?? 0)
  }

  /// - Parameter contentByteCount: How many bytes of content it has at least.
  @discardableResult
  func send(
    _ digest: ContentDigest, kind: ObjectKind, contentByteCount: Int = 0
  ) throws(TransferFailure) -> [UInt8] {
    let name = objects.name(of: digest, in: epoch)
    return try send(name, chunkByteCount: kind == .chunk ? contentByteCount : nil) {
      () throws(VaultError) in
      // What a lazy vault keeps on another remote comes here first.
      if kind == .chunk { try objects.fetchIfAway(digest) }
      return try objects.sealedObject(digest, kind: kind, in: epoch)
    }
  }

  /// Sends what stands here under the name, whatever its header says that it is.
  func send(_ name: ObjectName) throws(TransferFailure) {
    _ = try send(name, chunkByteCount: nil) { () throws(VaultError) in
      try objects.sealedObject(name)
    }
  }

  private func send(
    _ name: ObjectName, chunkByteCount: Int?, _ load: () throws(VaultError) -> SealedObject
  ) throws(TransferFailure) -> [UInt8] {
    let isThere = sent.withLock { $0.contains(name) }
    if chunkByteCount != nil, isThere { return [] }
    if let chunkByteCount, try standsThere(name, chunkByteCount) {
      sent.withLock { _ = $0.insert(name) }
      // Until a head is there that names it, another device may take it for something that nobody needs.
      session.compareNextTime()
      return []
    }
    let object: SealedObject
    do { object = try load() } catch { throw .object(error) }
    guard !isThere else { return object.content }
    // Whoever removes it from there may do so until a head is there that names it.
    if try isNamedAgain(name) { session.compareNextTime() }
    let path = objects.vaultPath(of: name)
    do {
      try session.put(path, object.file)
      try packs?.add(name, object.file)
    } catch {
      throw .fatal(error)
    }
    sent.withLock { _ = $0.insert(name) }
    return object.content
  }

  /// Whether another device may be removing the object from there: one that it has announced, or one that was here when this
  /// machine last synced with the remote, and was of no use for it then.
  private func isNamedAgain(_ name: ObjectName) throws(TransferFailure) -> Bool {
    guard let announced else { return false }
    if announced.contains(name) { return true }
    guard let lastSuccess else { return false }
    do {
      return try objects.arrival(of: name).map { $0.milliseconds <= lastSuccess } ?? false
    } catch {
      throw .object(error)
    }
  }

  /// Whether a large object need not be sent: another record, or an interrupted sync, has brought it there.
  ///
  /// - Parameter chunkByteCount: How many bytes of content are needed of it.
  private func standsThere(
    _ name: ObjectName, _ chunkByteCount: Int
  ) throws(TransferFailure) -> Bool {
    let path = BlobPath(objects.vaultPath(of: name).string)
    let size: UInt64?
    do { size = try session.home.store.size(of: path) } catch {
      throw .fatal(.vault(VaultError(error)))
    }
    if let size, size < Self.askedSize { return false }
    do {
      let there = try session.remote.size(of: path)
      if let size { return there == size }
      // A lazy vault may have left it there; what was cut on its way has not the size of a chunk.
      return there.map {
        ObjectLayout(of: .chunk)
          .mayHold(contentSize: chunkByteCount, fileSize: Int(clamping: $0))
      } ?? false
    } catch {
      throw error.concernsOneFile ? .object(VaultError(error)) : .fatal(.remote(error))
    }
  }
}
