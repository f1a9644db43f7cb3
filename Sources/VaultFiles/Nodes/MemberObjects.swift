import Threads
import Vault
import VaultErrors
import VaultModel

/// The objects of one member as drafts use them; notes damage.
final class MemberObjects: DraftStore {
  private let member: Member
  private let audit: AuditLog
  /// Objects whose damage is in the audit log already.
  private let noted = Guarded<Set<ContentDigest>>([])

  init(member: Member, audit: AuditLog) {
    self.member = member
    self.audit = audit
  }

  func put(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(FileError) -> StoredObject {
    do {
      let (digest, hold) = try member.stage(kind, content)
      return StoredObject(digest, heldBy: hold)
    } catch {
      throw FileError(error)
    }
  }

  func read(
    _ digest: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) {
    let count: Int
    do {
      count = try member.read(digest, at: offset, into: buffer)
    } catch {
      throw failure(error, reading: digest)
    }
    try requireWhole(digest, count, in: buffer)
  }

  func readIfHere(
    _ digest: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) -> Bool {
    let count: Int?
    do {
      count = try member.readIfHere(digest, at: offset, into: buffer)
    } catch {
      throw failure(error, reading: digest)
    }
    guard let count else { return false }
    try requireWhole(digest, count, in: buffer)
    return true
  }

  private func requireWhole(
    _ digest: ContentDigest, _ count: Int, in buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) {
    guard count == buffer.count else {
      noteDamage(digest)
      throw .inputOutput
    }
  }

  func bring(_ digest: ContentDigest) throws(FileError) {
    do { try member.bring(digest) } catch { throw failure(error, reading: digest) }
  }

  func willRead(_ digests: [ContentDigest]) { member.willRead(digests) }

  func willLookUp(_ digests: [ContentDigest]) { member.willLookUp(digests) }

  /// These chunks will be read soon, from their beginning.
  func willReadBeginnings(of digests: [ContentDigest]) {
    member.willReadBeginnings(of: digests)
  }

  func index(_ digest: ContentDigest) throws(FileError) -> [ContentDigest?] {
    do {
      return try member.chunks(of: .indexes([digest]))
    } catch {
      throw failure(error, reading: digest)
    }
  }

  /// The error for whoever reads; damage is written into the audit log, once an object.
  func failure(_ error: VaultError, reading digest: ContentDigest) -> FileError {
    if error.isDamage { noteDamage(digest) }
    return FileError(error)
  }

  private func noteDamage(_ digest: ContentDigest) {
    guard noted.withLock({ $0.insert(digest).inserted }) else { return }
    audit.note(.damage, member: member.id, detail: member.objectName(of: digest).hex)
  }
}
