import MachineState
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// New epochs of a member: how access is taken away. Docs/Format.md, "Links and epochs".
extension Vault {
  /// Takes people's access to a member away: a new epoch, with everything of the member put anew under its keys, and
  /// the new key wrapped for all others.
  ///
  /// The revocation stands when this returns. Copies that someone made before cannot be recalled. What this program
  /// leaves when it is ended at any point is gone on with by the next call, or by `resumeEpochs`.
  ///
  /// - Parameters:
  ///   - people: Whose access ends. May be empty: then everyone keeps theirs, wrapped for the keys they have now.
  ///   - keepsHistory: Whether replaced revisions, and deleted records as they were, are taken along.
  ///   - progress: Told how many objects are done, from several threads.
  /// - Throws: `readOnly`; `ownersOnly`; `keysAwaited` where this person has newer keys than are here; `lastOwner` when
  ///   this person is among them; what the member is damaged by;
  ///   `notFound` when the identity of someone who keeps access does not hold; `away` when not everything of a lazy vault
  ///   can be had; `gone` when no remote has any more what a current revision needs; `noRoomForNewKeys` before anything
  ///   of a lazy vault has come; `noSpace`.
  package func beginEpoch(
    of member: Member, without people: Set<PersonID>, keepsHistory: Bool = true,
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    guard !people.contains(person) else { throw .lastOwner(member: member.id) }
    try context.state.withLock("epochs-lock") { () throws(VaultError) in
      try context.reloadPeople()
      try member.reloadLinks()
      guard member.role == .owner else { throw .ownersOnly(member: member.id) }
      guard try context.ownPerson().generation != nil else { throw .keysDivided(person: person) }
      guard !member.register.links.trust.epochs.awaited.contains(person) else {
        throw .keysAwaited(person: person)
      }
      if let senior = people.sorted().first(where: {
        !member.register.links.history.mayTake($0, by: person)
      }) {
        throw .moreSenior(person: senior, member: member.id)
      }
      // Before anything is remembered that could not be gone on with.
      if let damage = member.damageReason { throw damage }
      // What was interrupted has some of it here already.
      if context.lazy != nil, try PendingEpoch.load(of: member.id, state: context.state) == nil {
        try member.requireRoomForNewKeys()
      }
      // Those keys are new as well: where nobody's access is to end nothing else is to be done.
      let now = context.clock.milliseconds()
      if try EpochBeginning.succeedSpent(of: member, progress), people.isEmpty,
        !member.register.links.access.entitlements.keys.contains(where: {
          member.register.links.hasEnded(for: $0, now: now)
        })
      {
        return
      }
      let wish = EpochBeginning.Wish(without: people, keepsHistory: keepsHistory)
      try EpochBeginning.remembered(wish, of: member).run(progress)
    }
    for other in people.sorted() {
      audit.note(.revoke, member: member.id, person: other)
    }
    if people.isEmpty { audit.note(.revoke, member: member.id, detail: "new keys") }
  }

  /// Begins the epochs that are due, in members that this person owns: where somebody has the key in use and no access
  /// (any more), or has it for a generation that was closed, or access was given until a date that has passed. And gives
  /// the key to those who have access and were not given it.
  ///
  /// - Parameter failed: Members for which that was tried a moment ago, and failed.
  /// - Returns: What was done, and the members of which not all of it could be.
  package func tendEpochs(
    besides failed: Set<MemberID> = [],
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) -> MemberByMember<Revocation> {
    var tended = MemberByMember<Revocation>()
    guard !isReadOnly else { return tended }
    // A program that copies may have brought a closing, and no head that would tell of it.
    let people = Result { () throws(VaultError) in try context.reloadPeopleIfChanged() }
    for member in members where !failed.contains(member.id) {
      tended.add(member) { (done) throws(VaultError) in
        guard try reloadLinks(of: member), member.role == .owner else { return }
        try people.get()
        guard try member.mayBeginEpoch else { return }
        var revocation = Revocation(member: member.id, expired: [])
        // Also where what comes after it fails.
        defer { if revocation.hasAny { done.append(revocation) } }
        if let due = try dueRevocation(of: member) {
          try beginEpoch(of: member, without: [], progress: progress)
          revocation = due
        }
        revocation.givenAgain = try wrapForUnwrapped(in: member)
      }
    }
    return tended
  }

  /// What a new epoch of the member does now; nil where none is due.
  ///
  /// An access whose end has come ends also where only a clock says so that may have jumped ahead: it can be given again, and
  /// one that waited for somebody to say that the clock is right would not end where nobody does. But that is told.
  private func dueRevocation(of member: Member) throws(VaultError) -> Revocation? {
    let links = member.register.links
    let now = context.clock.milliseconds()
    let ended = links.access.entitlements.keys.filter { links.hasEnded(for: $0, now: now) }
    var revocation = Revocation(member: member.id, expired: ended.sorted(), isBegun: true)
    do {
      if !ended.isEmpty { revocation.clockLeap = try clockLeap() }
    } catch {
      // It ends all the same, and is told without the doubt.
    }
    guard case .exposed(let people)? = links.trust.epochs.states[member.epoch] else {
      return ended.isEmpty ? nil : revocation
    }
    let out = people.filter { !links.access.includes($0) }
    revocation.left = out.filter { links.history.leaving(of: $0) != nil }
    revocation.revokedElsewhere = out.filter { !revocation.left.contains($0) }
    return revocation
  }

  /// Goes on with epochs whose beginning was interrupted on this machine.
  ///
  /// - Returns: The members concerned, and those that it could not be gone on with.
  package func resumeEpochs(
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) -> MemberByMember<MemberID> {
    var resumed = MemberByMember<MemberID>()
    guard !isReadOnly else { return resumed }
    for member in members {
      resumed.add(member) { (done) throws(VaultError) in
        guard try resumeEpoch(of: member, progress) else { return }
        done.append(member.id)
      }
    }
    return resumed
  }

  /// - Returns: Whether there was anything to go on with.
  private func resumeEpoch(
    of member: Member, _ progress: @escaping @Sendable (WorkProgress) -> Void
  ) throws(VaultError) -> Bool {
    guard let memory = try PendingEpoch.load(of: member.id, state: context.state) else {
      return false
    }
    try context.reloadPeople()
    guard try reloadLinks(of: member) else { return false }
    if member.role == .owner, !memory.stands(in: member.register.links) {
      try beginEpoch(
        of: member, without: memory.without, keepsHistory: memory.keepsHistory,
        progress: progress)
      return true
    }
    // It stands, or this person may not begin it any more.
    if member.mayWrite { _ = try member.joinConcurrent() }
    switch memory {
    case .epoch(let pending): try pending.finish(of: member)
    case .torn: try PendingEpoch.remove(of: member.id, state: context.state)
    }
    return true
  }
}

/// What was done by itself about access to a member, because it was due.
package struct Revocation: Hashable, Sendable {
  package var member: MemberID
  /// Whose access had an end, which has come.
  package var expired: [PersonID]
  /// The clock by which it has come is far ahead of all that is known here; nil where it is not, and where nothing has expired.
  package var clockLeap: ClockLeap?
  /// Whom another owner took out without making a new key, so that they had the one in use until now.
  package var revokedElsewhere: [PersonID] = []
  /// Who had access and was given the key only now, as whoever had begun the epoch did not know of them.
  package var givenAgain: [PersonID] = []
  /// Who gave their access up.
  package var left: [PersonID] = []
  /// Whether everything was put under a new key.
  package var isBegun = false

  fileprivate var hasAny: Bool { isBegun || !givenAgain.isEmpty }
}
