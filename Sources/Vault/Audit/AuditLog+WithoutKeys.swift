import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// What happens while no key is here. Docs/Format.md, section 13, "Events that wait".
extension AuditLog {
  /// Says for whom events are sealed from now on that are noted while no key is here.
  func prepareForNotesWithoutKeys() throws(VaultError) {
    guard let own = context.people[context.person],
      let key = LogKey(of: own, in: context.binding.vault)
    else {
      return
    }
    do { try key.store(state: context.state) } catch {
      switch error {
      // Events go on being sealed for the generation before, which opens as well.
      case .noSpace, .readOnly, .permission: return
      default: throw error
      }
    }
  }

  /// What was noted without keys and nobody was told yet, the oldest first. From now on it is kept with the rest, and not
  /// given again.
  package func takeIn() throws(VaultError) -> [AuditEvent] {
    guard try waiting.files().contains(where: \.isKeyless) else { return [] }
    if context.isReadOnly { return try notedWithoutKeys() }
    return try context.state.withLock("audit-lock") { () throws(VaultError) in
      let keyless = try keylessBatches()
      let events = named(keyless.flatMap(\.events))
      if events.isEmpty { return [] }
      do throws(VaultError) {
        try waiting.replace(keyless, by: events, keys: context.keys)
      } catch {
        switch error {
        // They stay as they are, and are given again.
        case .noSpace, .readOnly, .permission: break
        default: throw error
        }
      }
      return events
    }
  }

  /// What was noted without keys and nobody was told yet, the oldest first. It stays so: it will be given again.
  package func notedWithoutKeys() throws(VaultError) -> [AuditEvent] {
    named(try keylessBatches().flatMap(\.events))
  }

  private func keylessBatches() throws(VaultError) -> [WaitingEvents.Batch] {
    try waiting.load(keys: context.keys, person: context.person).batches.filter(\.file.isKeyless)
  }
}

extension StateFolder {
  /// Notes in the audit log of this machine's person what happens while no key is here; on disk when it returns. Where no
  /// process with keys has opened the vault on this machine yet, nothing is noted.
  ///
  /// - Parameters:
  ///   - action: One that needs no keys.
  ///   - about: A name that is worth keeping, such as a remote's.
  package func noteWithoutKeys(
    _ action: AuditAction, detail: String, member: MemberID? = nil,
    about: String = "", clock: WallClock = .system
  ) throws(VaultError) {
    precondition(action.needsNoKeys, "what takes keys to do is noted with keys")
    let event = AuditEvent(
      time: clock.milliseconds(), action: action.rawValue, member: member, detail: detail,
      count: 1, about: about)
    try WaitingEvents.keepWithoutKeys(event, state: self)
  }
}
