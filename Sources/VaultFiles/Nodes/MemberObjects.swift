import Vault
import VaultModel

/// The objects of one member as drafts use them: notes damage, and keeps apart what several drafts share.
final class MemberObjects: DraftStore, @unchecked Sendable {
  private let member: Member
  private let audit: AuditLog
  /// Protects everything below.
  private let monitor = Monitor()
  /// How many drafts use an object beyond those that `put` it.
  private var shared: [ObjectName: Int] = [:]
  /// Objects to let go of when no commit is under way that may have seen them.
  private var released: [ObjectName] = []
  private var noted: Set<ObjectName> = []

  init(member: Member, audit: AuditLog) {
    self.member = member
    self.audit = audit
  }

  func put(
    _ kind: ObjectKind, _ content: UnsafeRawBufferPointer
  ) throws(FileError) -> ObjectName {
    do throws(VaultError) {
      return try member.objects.put(kind, content)
    } catch {
      throw FileError(error)
    }
  }

  func read(
    _ name: ObjectName, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) {
    let count: Int
    do throws(VaultError) {
      count = try member.objects.reader(name, kind: .chunk).read(at: offset, into: buffer)
    } catch {
      throw failure(error, reading: name)
    }
    guard count == buffer.count else {
      noteDamage(name)
      throw .inputOutput
    }
  }

  func willRead(_ names: [ObjectName]) {
    for name in names { member.objects.prefetch(name) }
    member.objects.openAhead(names, threadCount: 1, readsOn: true)
  }

  func willLookUp(_ names: [ObjectName]) { member.objects.openAhead(names) }

  /// These chunks will be read soon, from their beginning.
  func willReadBeginnings(of names: [ObjectName]) {
    member.objects.openAhead(names, threadCount: 4, readsOn: true)
  }

  func index(_ name: ObjectName) throws(FileError) -> [ObjectName?] {
    do throws(VaultError) {
      return try member.chunks(of: .indexes([name]))
    } catch {
      throw failure(error, reading: name)
    }
  }

  func retain(_ name: ObjectName) {
    monitor.withLock { shared[name, default: 0] += 1 }
  }

  func release(_ names: [ObjectName]) {
    guard !names.isEmpty else { return }
    monitor.withLock { released += names }
  }

  /// Whether something waits to be discarded.
  var hasReleased: Bool { monitor.withLock { !released.isEmpty } }

  /// The objects that were let go of so far; to be taken together with what a commit writes, so that nothing that it
  /// writes names them.
  func takeReleased() -> [ObjectName] {
    monitor.withLock {
      defer { released = [] }
      return released
    }
  }

  /// Lets go of objects for good.
  func discard(_ names: [ObjectName]) {
    for name in names {
      let isShared = monitor.withLock {
        guard let others = shared[name] else { return false }
        shared[name] = others > 1 ? others - 1 : nil
        return true
      }
      if !isShared { member.objects.discard(name) }
    }
  }

  /// Forgets who uses the objects of committed content: they no longer go away.
  func committed(_ content: Item.Content) {
    guard case .chunks(let names) = content else { return }
    monitor.withLock {
      if shared.isEmpty { return }
      for case let name? in names { shared[name] = nil }
    }
  }

  /// The error for whoever reads; damage is written into the audit log, once an object.
  func failure(_ error: VaultError, reading name: ObjectName) -> FileError {
    switch error {
    case .damaged, .missing, .crypto: noteDamage(name)
    default: break
    }
    return FileError(error)
  }

  private func noteDamage(_ name: ObjectName) {
    guard monitor.withLock({ noted.insert(name).inserted }) else { return }
    audit.note(.damage, member: member.id, detail: name.hex)
  }
}
