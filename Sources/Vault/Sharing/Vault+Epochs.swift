import BlobStore
import VaultCrypto
import VaultModel
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
      try member.reloadLinks()
      guard member.role == .owner else { throw .ownersOnly(member: member.id) }
      guard try context.ownPerson().generation != nil else { throw .keysDivided(person: person) }
      if let senior = people.sorted().first(where: {
        !member.register.links.history.mayTake($0, by: person)
      }) {
        throw .moreSenior(person: senior, member: member.id)
      }
      let wish = EpochBeginning.Wish(without: people, keepsHistory: keepsHistory)
      try EpochBeginning.remembered(wish, of: member, in: self).run(progress)
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
  /// - Returns: What was done.
  package func tendEpochs(
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(VaultError) -> [Revocation] {
    guard !isReadOnly else { return [] }
    let now = context.clock.milliseconds()
    var done: [Revocation] = []
    for member in members where try reloadLinks(of: member) {
      let links = member.register.links
      // Who has no open generation could not give themself the key.
      guard member.role == .owner, try context.ownPerson().generation != nil else { continue }
      let ended = links.access.entitlements.keys.filter { links.hasEnded(for: $0, now: now) }
      var revocation = Revocation(member: member.id, expired: ended.sorted())
      if case .exposed(let people)? = links.trust.epochs.states[member.epoch] {
        let out = people.filter { !links.access.includes($0) }
        revocation.left = out.filter { links.history.leaving(of: $0) != nil }
        revocation.revokedElsewhere = out.filter { !revocation.left.contains($0) }
        revocation.isBegun = true
      }
      if revocation.isBegun || !ended.isEmpty {
        revocation.isBegun = true
        try beginEpoch(of: member, without: [], progress: progress)
      }
      revocation.givenAgain = try wrapForUnwrapped(in: member)
      if revocation.isBegun || !revocation.givenAgain.isEmpty { done.append(revocation) }
    }
    return done
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
      guard try reloadLinks(of: member) else { continue }
      if !member.register.links.hasEpoch(pending.commitment), member.role == .owner {
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
  /// Whom another owner took out, without a key that they do not have.
  package var revokedElsewhere: [PersonID] = []
  /// Who had access, and was given the key now that was begun without knowing of them.
  package var givenAgain: [PersonID] = []
  /// Who gave their access up.
  package var left: [PersonID] = []
  /// Whether everything was put under a new key.
  package var isBegun = false
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

  /// What the person wants of it.
  struct Wish {
    var without: Set<PersonID>
    var keepsHistory: Bool
  }

  /// Finds the epoch that was interrupted, which then keeps to both wishes, or remembers a new one.
  static func remembered(
    _ wish: Wish, of member: Member, in vault: Vault
  ) throws(VaultError) -> EpochBeginning {
    let state = vault.context.state
    var wish = wish
    if var known = try PendingEpoch.load(of: member.id, state: state) {
      wish.without.formUnion(known.without)
      wish.without.remove(vault.person)
      wish.keepsHistory = wish.keepsHistory && known.keepsHistory
      if known.former == member.epoch, let key = try key(of: known, vault, member.id) {
        (known.without, known.keepsHistory) = (wish.without, wish.keepsHistory)
        try known.store(of: member.id, state: state)
        return EpochBeginning(vault: vault, member: member, pending: known, key: key)
      }
    }
    let key = SharedKey(.random())
    let context = vault.context
    let pending = PendingEpoch(
      after: member.epoch, without: wish.without, keepsHistory: wish.keepsHistory, key: key.key,
      of: member.id, binding: context.binding, sealingKey: context.keys.profileKey)
    try pending.store(of: member.id, state: state)
    return EpochBeginning(vault: vault, member: member, pending: pending, key: key)
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
        try member.writeHidden(&heads)
        guard member.role == .owner, member.epoch == pending.former else {
          throw .ownersOnly(member: member.id)
        }
        // What is known only from the head of someone who will not count any more has to be in this device's.
        var last = CommitWriter(member: member, heads: heads)
        _ = try last.finish(writesLearned: true)
        heads = last.heads
        // What was written meanwhile.
        try translation.run(member.everyVersion) { _, _ in }
        try writeLink()
        try member.loadLinks()
        _ = try member.followEpoch(&heads)
        var writer = CommitWriter(member: member, heads: heads)
        try writer.takeOver(with: translation)
        try writer.writeHead(.checkpoint)
        heads = writer.heads
        member.noteLateHeads(heads)
      }
    }
    try PendingEpoch.remove(of: member.id, state: context.state)
    vault.noteLeftBehind(translation.leftBehind, of: member)
  }

  /// The link that begins the epoch and says whose access ends, after the wraps for all who keep theirs and have an open
  /// generation. Whoever has none is given the key when their words have joined their closings; who has access only as a
  /// contested place would have it, by a machine that has seen which of its ends counts.
  private func writeLink() throws(VaultError) {
    let links = member.register.links
    let writer = try LinkWriter(links, context)
    let now = context.clock.milliseconds()
    let ended = links.access.entitlements.filter { links.hasEnded(for: $0.key, now: now) }
    var changes = pending.without.sorted().map { Change.limit($0, nil, until: 0) }
    // Whoever is taken out is offered nothing any more, though they may be let in again.
    if links.history.offers.contains(where: {
      $0.giver == context.person && pending.without.contains($0.taker)
    }) {
      changes.append(.offer(context.person))
    }
    for (person, entitlements) in ended.sorted(by: { $0.key < $1.key })
    where !pending.without.contains(person) {
      changes.append(.limit(person, nil, until: entitlements.map(\.until).max() ?? 0))
    }
    var wraps: [Wrap] = []
    for person in links.access.entitlements.keys.sorted()
    where !pending.without.contains(person) && ended[person] == nil
      && !links.access.claimed.contains(person)
    {
      guard let other = context.people[person], other.generation != nil else { continue }
      wraps.append(try writer.wrap(key.key, of: nil, for: other))
    }
    let left = links.history.everyone.filter {
      !links.access.includes($0) && links.history.leaving(of: $0) != nil
    }
    try writer.write(
      changes, epoch: pending.commitment, wraps: wraps,
      confirming: pending.without.union(left))
  }
}

extension Member {
  /// The entries of all records, and of those that wait to be joined every version.
  var everyVersion: [RecordEntry] {
    state.withLock { state in
      state.manifest.entries.flatMap { state.manifest.rivals(of: $0.record) }
    }
  }
}
