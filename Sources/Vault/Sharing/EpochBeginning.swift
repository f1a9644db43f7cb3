import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Begins one epoch of a member. Lives while the lock on the state's epochs is held.
struct EpochBeginning {
  private let member: Member
  private let key: SharedKey
  /// What it begins is remembered by this machine; nil for an epoch in the place of one that is spent, which changes nobody's
  /// access: when that is interrupted, it is begun anew with another key.
  private let pending: PendingEpoch?
  private var context: VaultContext { member.context }

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

  /// Finds the epoch that was interrupted, which then keeps to both wishes, or remembers a new one. Where what was
  /// interrupted cannot be read the new one goes on in its place, for everyone whom this wish leaves in.
  static func remembered(
    _ wish: Wish, of member: Member
  ) throws(VaultError) -> EpochBeginning {
    let context = member.context
    let state = context.state
    try context.requireRead(member.register.links)
    var wish = wish
    var isAfterTorn = false
    switch try PendingEpoch.load(of: member.id, state: state) {
    case nil: break
    case .torn: isAfterTorn = true
    case .epoch(var known):
      isAfterTorn = known.isAfterTorn
      wish.without.formUnion(known.without)
      wish.without.remove(context.person)
      wish.keepsHistory = wish.keepsHistory && known.keepsHistory
      if known.former == member.epoch, let key = try key(of: known, of: member) {
        (known.without, known.keepsHistory) = (wish.without, wish.keepsHistory)
        try known.store(of: member.id, state: state)
        return EpochBeginning(member: member, key: key, pending: known)
      }
    }
    let key = SharedKey(.random())
    let pending = PendingEpoch(
      after: member.epoch, without: wish.without, keepsHistory: wish.keepsHistory,
      isAfterTorn: isAfterTorn, key: key.key, of: member.id, binding: context.binding,
      sealingKey: context.keys.profileKey)
    try pending.store(of: member.id, state: state)
    return EpochBeginning(member: member, key: key, pending: pending)
  }

  /// Begins an epoch in the place of the one in use, if that is spent: with a key that is made now, when everything is known
  /// that made it so.
  ///
  /// - Returns: Whether it was spent.
  static func succeedSpent(
    of member: Member, _ progress: @escaping @Sendable (WorkProgress) -> Void
  ) throws(VaultError) -> Bool {
    guard member.isEpochSpent else { return false }
    try member.context.requireRead(member.register.links)
    try EpochBeginning(member: member, key: SharedKey(.random()), pending: nil).run(progress)
    return true
  }

  /// Nil when it was sealed with a key of before: then what was begun is begun anew.
  private static func key(
    of pending: PendingEpoch, of member: Member
  ) throws(VaultError) -> SharedKey? {
    do {
      return SharedKey(
        try pending.openKey(
          of: member.id, sealingKey: member.context.keys.profileKey, state: member.context.state))
    } catch {
      guard case .damaged = error else { throw error }
      return nil
    }
  }

  func run(_ progress: @escaping @Sendable (WorkProgress) -> Void) throws(VaultError) {
    let keys = EpochKeys(key.key, member: member.id, binding: context.binding)
    let translation = Translation(
      member: member, target: keys, keepsHistory: pending?.keepsHistory ?? true,
      lacking: .passedOverInHistory)
    // What was written on several devices is one before it is sealed anew; but under a spent epoch nothing is written.
    if pending != nil { _ = try member.joinConcurrent() }
    let label = member.name.string
    let failures = context.failedBarriers
    let versions = member.heads.withLock { member.versionsToTakeAlong($0) }
    try translation.run(versions) { done, total in
      progress(WorkProgress(label: label, done: done, total: total))
    }
    try member.heads.withLock { (heads) throws(VaultError) in
      try context.whileThisDevice { () throws(VaultError) in
        _ = try member.catchUp(&heads)
        guard member.role == .owner else { throw .ownersOnly(member: member.id) }
        if let pending { try writeLast(&heads, after: pending.former) }
        // What was written meanwhile.
        try translation.run(member.versionsToTakeAlong(heads)) { _, _ in }
        // Once the link is there everybody reads what stands under the new keys.
        try context.barrier(since: failures)
        try writeLink()
        try member.loadLinks()
        _ = try member.followEpoch(&heads)
        let line = try member.lineToGoOnWith(heads)
        member.note(
          changes: try member.writeAnew(&heads, goingOnWith: line, with: translation))
      }
    }
    if let pending { try pending.finish(of: member) }
    context.noteLeftBehind(translation.leftBehind, of: member)
    context.noteGone(translation.gone, of: member)
  }

  /// Writes a head of the epoch in use: what is known only from the head of someone who will not count any more has to be in
  /// this device's.
  private func writeLast(
    _ heads: inout HeadsState, after former: StatementID
  ) throws(VaultError) {
    try member.requireUnspentEpoch()
    guard member.epoch == former else { throw .ownersOnly(member: member.id) }
    try member.writeHidden(&heads)
    var last = CommitWriter(member: member, heads: heads)
    // What waits is not said to be taken over.
    try last.takeOver()
    _ = try last.finish(writesLearned: true)
    heads = last.heads
  }

  /// The link that begins the epoch and says whose access ends, after the wraps for all who keep theirs and have an open
  /// generation. Whoever has none is given the key when their words have joined their closings; who has access only as a
  /// contested place would have it, by a machine that has seen which of its ends counts.
  private func writeLink() throws(VaultError) {
    let links = member.register.links
    let writer = try LinkWriter.begin(links, context)
    let now = context.clock.milliseconds()
    let without = pending?.without ?? []
    let ended =
      pending == nil
      ? [:] : links.access.entitlements.filter { links.hasEnded(for: $0.key, now: now) }
    var changes = without.sorted().map { Change.limit($0, nil, until: 0) }
    // Whoever is taken out is offered nothing any more, though they may be let in again.
    if links.history.offers.contains(where: {
      $0.giver == context.person && without.contains($0.taker)
    }) {
      changes.append(.offer(context.person))
    }
    var ends = ended.filter { !without.contains($0.key) }.sorted { $0.key < $1.key }
      .map { Change.limit($0.key, nil, until: $0.value.map(\.until).max() ?? 0) }[...]
    // Whoever owns the member may have given access that has ended to more people than one link can say it of.
    while changes.count + ends.count > Link.changeLimit, !ends.isEmpty {
      try writer.write(Array(ends.prefix(Link.changeLimit)))
      ends = ends.dropFirst(Link.changeLimit)
    }
    changes += ends
    let wraps = try wraps(by: writer, without: without.union(ended.keys))
    let left = links.history.everyone.filter {
      !links.access.includes($0) && links.history.leaving(of: $0) != nil
    }
    try writer.write(
      changes, epoch: key.key.commitment(member: member.id, binding: context.binding),
      wraps: wraps, confirming: without.union(left))
  }

  /// Writes the wraps of the new key, but for whoever is out. Whom there is no room for gets the key with the next look.
  private func wraps(
    by writer: LinkWriter, without out: Set<PersonID>
  ) throws(VaultError) -> [Wrap] {
    let access = writer.links.access
    var wraps: [Wrap] = []
    for person in access.bySeniority
    where wraps.count < LinkWriter.wrapCount && !out.contains(person)
      && !access.claimed.contains(person)
    {
      guard let other = context.people[person],
        let wrap = try writer.wrap(key.key, of: nil, for: other)
      else { continue }
      wraps.append(wrap)
    }
    return wraps
  }
}

extension Member {
  /// The entries of all records, and of those that wait to be joined every version; but for what waits for somebody's
  /// closing.
  fileprivate func versionsToTakeAlong(_ heads: HeadsState) -> [RecordEntry] {
    let awaiting = revisionsAwaitingClosings(heads)
    return state.withLock { state in
      state.manifest.entries.flatMap { state.manifest.rivals(of: $0.record) }
        .filter { !state.manifest.isLate($0) || !awaiting.contains($0.revision) }
    }
  }
}
