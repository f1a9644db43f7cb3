import Vault
import VaultModel

/// The objects of one member as drafts use them; notes damage.
final class MemberObjects: DraftStore, @unchecked Sendable {
  private let member: Member
  private let audit: AuditLog
  /// Protects everything below.
  private let monitor = Monitor()
  private var noted: Set<ContentDigest> = []

  init(member: Member, audit: AuditLog) {
    self.member = member
    self.audit = audit
  }

  func put(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(FileError) -> StoredObject {
    do throws(VaultError) {
      let use = try member.objects.stage(kind, content)
      return StoredObject(use.digest, heldBy: use)
    } catch {
      throw FileError(error)
    }
  }

  func read(
    _ name: ContentDigest, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) {
    let count: Int
    do throws(VaultError) {
      count = try member.objects.reader(name).read(at: offset, into: buffer)
    } catch {
      throw failure(error, reading: name)
    }
    guard count == buffer.count else {
      noteDamage(name)
      throw .inputOutput
    }
  }

  func willRead(_ names: [ContentDigest]) {
    for name in names { member.objects.prefetch(name) }
    member.objects.openAhead(names, threadCount: 1, readsOn: true)
  }

  func willLookUp(_ names: [ContentDigest]) { member.objects.openAhead(names) }

  /// These chunks will be read soon, from their beginning.
  func willReadBeginnings(of names: [ContentDigest]) {
    member.objects.openAhead(names, threadCount: 4, readsOn: true)
  }

  func index(_ name: ContentDigest) throws(FileError) -> [ContentDigest?] {
    do throws(VaultError) {
      return try member.chunks(of: .indexes([name]))
    } catch {
      throw failure(error, reading: name)
    }
  }

  /// The error for whoever reads; damage is written into the audit log, once an object.
  func failure(_ error: VaultError, reading name: ContentDigest) -> FileError {
    switch error {
    case .damaged, .missing, .crypto: noteDamage(name)
    default: break
    }
    return FileError(error)
  }

  private func noteDamage(_ name: ContentDigest) {
    guard monitor.withLock({ noted.insert(name).inserted }) else { return }
    audit.note(.damage, member: member.id, detail: member.objects.name(of: name).hex)
  }
}
