import BlobStore
import VaultCrypto
import VaultModel

/// New epochs of a member: how access is taken away. Docs/Format.md, "Epochs".
extension Vault {
  /// Takes people's access to a member away: a new epoch, with everything of the member put anew under its keys, and
  /// new grants for all others.
  ///
  /// The revocation stands when this returns. Copies that someone made before cannot be recalled. What this program
  /// leaves when it is ended at any point is gone on with by the next call, or by `resumeEpochs`.
  ///
  /// - Parameters:
  ///   - people: Whose access ends. May be empty: then everyone keeps theirs, wrapped for the identities they have now.
  ///   - keepsHistory: Whether replaced revisions, and deleted records as they were, are taken along.
  ///   - progress: Told how many objects are done, from several threads.
  /// - Throws: `readOnly`; `ownersOnly`; `lastOwner` when this person is among them; `notFound` when the identity of
  ///   someone who keeps access does not hold; `away` when not everything of a lazy vault can be had; `noSpace`.
  package func beginEpoch(
    of member: Member, without people: Set<PersonID>, keepsHistory: Bool = true,
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    guard !people.contains(person) else { throw .lastOwner(member: member.id) }
    try context.state.withLock("epochs-lock") { () throws(VaultError) in
      try context.reloadPeople()
      try member.reloadGrants()
      guard member.role == .owner, let current = member.register.grants.current,
        isOwner(in: current, member.register.grants)
      else { throw .ownersOnly(member: member.id) }
      try requireOpenGenerations(member.register.grants, without: people)
      let beginning = try EpochBeginning(
        vault: self, member: member, without: people, keepsHistory: keepsHistory)
      try beginning.run(progress)
    }
    for other in people.sorted() {
      audit.note(.revoke, member: member.id, detail: other.shortHex)
    }
    if people.isEmpty { audit.note(.revoke, member: member.id, detail: "new keys") }
  }

  /// Begins the epochs that are due, in members that this person owns: access that was given until a date which has
  /// passed, or that its person gave up, ends; what two owners did at once is brought together; and people whose
  /// devices changed get keys that a device which was removed does not have. And gives again what somebody who began an
  /// epoch had not seen given.
  ///
  /// - Returns: What was done.
  package func tendEpochs(
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(VaultError) -> [Revocation] {
    guard !isReadOnly else { return [] }
    let now = context.clock.milliseconds()
    var done: [Revocation] = []
    for member in members {
      try member.reloadGrants()
      let chain = member.register.grants
      guard member.role == .owner, let outcome = chain.outcome else { continue }
      let grants = chain.currentGrants
      let expired = Set(grants.filter { $0.hasEnded(by: now) }.map(\.person))
      let missed = chain.epochs.missed(by: outcome).subtracting([person])
      let people = context.people
      let isOutdated = grants.contains { people.hasNewKeys(since: $0) }
      // Only who is an owner in both can say that neither is missed any more.
      let isMissed = outcome.besides.allSatisfy { isOwner(in: $0, chain) }
      let gone = expired.union(isMissed ? missed : [])
      let leavings = member.dueLeavings
      let isDue = !gone.isEmpty || !leavings.isEmpty || isOutdated
      if isDue { try beginEpoch(of: member, without: gone, progress: progress) }
      let given = try giveOverlooked(of: member)
      guard isDue || !given.isEmpty else { continue }
      let left = leavings.filter { !gone.contains($0.key) }
      done.append(
        Revocation(
          member: member.id, expired: expired.sorted(),
          revokedElsewhere: gone.subtracting(expired).sorted(), givenAgain: given,
          left: left.filter { $0.value.keeps == nil }.keys.sorted(),
          lowered: left.compactMapValues(\.keeps)))
    }
    return done
  }

  /// - Throws: `keysDivided` when somebody who keeps access has no open generation: nobody wraps a key for them.
  private func requireOpenGenerations(
    _ chain: GrantChain, without people: Set<PersonID>
  ) throws(VaultError) {
    for grant in chain.currentGrants where !people.contains(grant.person) {
      if let known = context.people[grant.person], known.generation == nil {
        throw .keysDivided(person: grant.person)
      }
    }
  }

  /// Whether an epoch that this person begins now may follow this one.
  fileprivate func isOwner(in epoch: EpochID, _ chain: GrantChain) -> Bool {
    chain.epochs.isOwner(person, in: epoch)
  }

  /// Goes on with epochs whose beginning was interrupted on this machine.
  ///
  /// - Returns: The members concerned.
  @discardableResult
  package func resumeEpochs(
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(VaultError) -> [Member] {
    guard !isReadOnly else { return [] }
    var resumed: [Member] = []
    for member in members {
      guard let pending = try PendingEpoch.load(of: member.id, state: context.state) else {
        continue
      }
      try context.reloadPeople()
      try member.reloadGrants()
      if member.register.grants.valid[pending.id] == nil, member.role == .owner {
        try beginEpoch(
          of: member, without: pending.without, keepsHistory: pending.keepsHistory,
          progress: progress)
      } else {
        // It stands, or this person may not begin it any more.
        if member.mayWrite { _ = try member.joinConcurrent() }
        try PendingEpoch.remove(of: member.id, state: context.state)
      }
      resumed.append(member)
    }
    return resumed
  }
}

/// What was done by itself about access to a member, because it was due.
package struct Revocation: Hashable, Sendable {
  package var member: MemberID
  /// Whose access had an end, which has come.
  package var expired: [PersonID]
  /// Whom another owner took out when one of this person's devices did something else.
  package var revokedElsewhere: [PersonID]
  /// Whose access an epoch did not have, since it was given while that was begun.
  package var givenAgain: [PersonID] = []
  /// Who gave their access up.
  package var left: [PersonID]
  /// Who handed the member over, or gave up a part of their access, and what they keep.
  package var lowered: [PersonID: Role]
}

/// Begins one epoch of a member. Lives while the lock on the state's epochs is held.
private struct EpochBeginning {
  let vault: Vault
  let member: Member
  let pending: PendingEpoch
  let key: SharedKey
  private var context: VaultContext { vault.context }

  /// A member's key shared between copies of a value.
  final class SharedKey: Sendable {
    let key: FamilyMemberKey
    init(_ key: consuming FamilyMemberKey) { self.key = key }
  }

  /// Finds the epoch that was interrupted, or remembers a new one.
  init(
    vault: Vault, member: Member, without people: Set<PersonID>, keepsHistory: Bool
  ) throws(VaultError) {
    self.vault = vault
    self.member = member
    let state = vault.context.state
    let chain = member.register.grants
    guard let outcome = chain.outcome else { throw .noAccess(member: member.id) }
    let follows =
      [outcome.current]
      + outcome.besides.filter { vault.isOwner(in: $0, chain) }
    let id = EpochID(
      number: EpochTree.number(following: follows, on: vault.device), owner: vault.person)
    var (without, keepsHistory) = (people, keepsHistory)
    if var known = try PendingEpoch.load(of: member.id, state: state) {
      without.formUnion(known.without)
      without.remove(vault.person)
      keepsHistory = keepsHistory && known.keepsHistory
      if known.id == id, known.follows == follows,
        let key = try Self.key(of: known, vault, member.id)
      {
        (known.without, known.keepsHistory) = (without, keepsHistory)
        try known.store(of: member.id, state: state)
        (pending, self.key) = (known, key)
        return
      }
    }
    key = SharedKey(.random())
    pending = PendingEpoch(
      id, following: follows, without: without, keepsHistory: keepsHistory, key: key.key,
      of: member.id, sealingKey: vault.context.keys.profileKey)
    try pending.store(of: member.id, state: state)
  }

  /// Nil when it was sealed with a key of before: then what was begun is begun anew.
  private static func key(
    of pending: PendingEpoch, _ vault: Vault, _ member: MemberID
  ) throws(VaultError) -> SharedKey? {
    do throws(VaultError) {
      return SharedKey(
        try pending.openKey(
          of: member, sealingKey: vault.context.keys.profileKey, state: vault.context.state))
    } catch {
      guard case .damaged = error else { throw error }
      return nil
    }
  }

  func run(_ progress: @escaping @Sendable (WorkProgress) -> Void) throws(VaultError) {
    let keys = EpochKeys(key.key, member: member.id, binding: context.binding)
    let translation = Translation(
      member: member, target: keys, keepsHistory: pending.keepsHistory, keepsMissing: true)
    // What was written on several devices is one before it is sealed anew.
    _ = try member.joinConcurrent()
    let label = member.name.string
    try translation.run(member.everyVersion) { done, total in
      progress(WorkProgress(label: label, done: done, total: total))
    }
    try member.heads.withLock { (heads) throws(VaultError) in
      try context.state.withCommitLock { () throws(VaultError) in
        _ = try member.catchUp(&heads)
        guard member.register.grants.outcome.map({ pending.follows.contains($0.current) }) == true
        else { throw .ownersOnly(member: member.id) }
        // What is known only from the head of someone who will not count any more has to be in this device's.
        var last = CommitWriter(member: member, heads: heads)
        _ = try last.finish(writesLearned: true)
        heads = last.heads
        // What was written meanwhile.
        try translation.run(member.everyVersion) { _, _ in }
        try giveGrants(leavings: member.leavings(due: heads))
        try member.loadGrants()
        _ = try member.followEpoch(&heads)
        var writer = CommitWriter(member: member, heads: heads)
        try writer.takeOver(with: translation)
        try writer.writeHead(.checkpoint)
        heads = writer.heads
        member.noteLateHeads(heads)
      }
    }
    try PendingEpoch.remove(of: member.id, state: context.state)
  }

  /// The grants of everyone who keeps access, that of this person last: it begins the epoch, and all others count with
  /// it at once.
  ///
  /// - Parameter leavings: What people give up; the new epoch carries it out.
  private func giveGrants(leavings: [PersonID: LeavingBody]) throws(VaultError) {
    let issuer = try vault.grantIssuer()(member.id)
    let current = member.register.grants.currentGrants
    var given: [PersonID] = [vault.person]
    for grant in current where !pending.without.contains(grant.person) {
      let leaving = leavings[grant.person]
      guard grant.person != vault.person, let role = leaving.map(\.keeps) ?? grant.role else {
        continue
      }
      guard let other = context.people[grant.person] else {
        throw .notFound(what: "the person \(grant.person.shortHex)")
      }
      try issuer.give(
        key.key, of: pending.id, to: other, as: role,
        until: grant.role == .owner ? 0 : grant.until, time: grant.time)
      given.append(grant.person)
    }
    let own = try context.ownPerson()
    try issuer.give(
      key.key, of: pending.id, to: own, as: .owner, until: 0,
      time: current.first { $0.person == vault.person }?.time, following: pending.follows,
      without: member.register.grants.people(in: pending.follows, besides: given))
  }
}

extension Member {
  /// What people give up of their access, as far as it can be carried out now.
  var dueLeavings: [PersonID: LeavingBody] { heads.withLock { leavings(due: $0) } }

  fileprivate func leavings(due heads: HeadsState) -> [PersonID: LeavingBody] {
    let known = heads.loaded.merging(heads.takenOver) { head, _ in head }
    return register.grants.leavings.due(
      known: known.mapValues(\.counter), isFormer: context.people.isFormer)
  }

  /// The entries of all records, and of those that wait to be joined every version.
  var everyVersion: [RecordEntry] {
    manifest.withLock { manifest in manifest.entries.flatMap { manifest.rivals(of: $0.record) } }
  }
}
