import Threads
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// Takes what a remote has of one member whose keys are here: objects first, heads last.
struct MemberPull {
  let session: SyncSession
  let exchange: SignedExchange
  let vault: Vault
  /// As the remote's statements make it.
  let member: Member
  /// Devices whose head is here as the remote has it, and waits for what it names: that is brought, and the head stays.
  let waiting: Set<DeviceID>

  /// Follows the heads of these devices.
  ///
  /// - Returns: How many were put in place.
  func run(_ devices: [DeviceID]) throws(SyncError) -> Int {
    let failures = vault.failedBarriers
    var finding = HeadsToFollow(
      session: session, exchange: exchange, vault: vault, member: member)
    let (found, unopened) = try finding.open(devices)
    guard !found.isEmpty else {
      if let unopened { finding.noteCopy(unopened, seenBy: []) }
      return 0
    }
    let opened = OpenedContents()
    let transfers = PullTransfers(
      of: member, session: session, opened: opened, room: exchange.cargo.rooms[member.id])
    var takenOver = finding.takenOver(found)
    let incoming = try finding.followed(
      found, besides: takenOver, unopened: unopened, transfers)
    // They are passed over where they do not come whole.
    takenOver += found.filter { finding.doubted.contains($0.head.device) }
    guard !incoming.isEmpty else {
      return try place([], passingOver: takenOver, ReadRevisions(), since: failures)
    }
    guard try mayJoin(incoming, transfers) else {
      session.change { $0.untakenHeadCount += incoming.count }
      return 0
    }
    if transfers.coverage.counters.isEmpty, exchange.cargo.rooms[member.id] == nil {
      try PackPull(
        session: session, member: member.id, objects: member.sealedObjects, opened: opened,
        recordCount: incoming.reduce(0) { $0 + $1.entries.count { !finding.isKnown($0) } }
      ).run()
    }
    let whole = try bring(incoming, doubting: finding.doubted, transfers)
    if session.options.isDryRun { noteRecords(of: whole, finding) }
    let count = try place(whole, passingOver: takenOver, transfers.read, since: failures)
    try takeRests(of: incoming, since: failures)
    return count
  }

  /// Takes what older heads of this device bring, in whose place its newer one stays: that takes theirs on the remote, also where
  /// they did not come whole. Where something of one could not be read just now, nothing takes its place yet.
  ///
  /// - Parameter failures: How many barriers had failed before anything was brought.
  private func takeRests(
    of incoming: [IncomingHead], since failures: UInt64
  ) throws(SyncError) {
    if session.options.isDryRun { return }
    let writer = vault.member(member.id) ?? member
    let rests = incoming.map(\.head).filter {
      writer.mayLackRest(of: $0) && !session.isUnread($0.hash)
    }
    if rests.isEmpty { return }
    try keeping { () throws(VaultError) in
      // Where no head was put in place nothing has waited for what was brought, and the commit that names it knows of no barrier
      // that failed before it began.
      try vault.barrier(since: failures)
      for rest in rests { try writer.takeRest(of: rest) }
    }
  }

  private func noteRecords(of incoming: [IncomingHead], _ finding: HeadsToFollow) {
    let joined = Manifest(incoming.flatMap(\.entries))
    let titles = RecordTitles { joined[$0] ?? member.entry($0) }
    let records = joined.entries.compactMap { entry -> SyncedRecord? in
      let known = member.entry(entry.record)
      if finding.isKnown(entry) { return nil }
      if known == nil, entry.isDeleted { return nil }
      return SyncedRecord(
        .pull, of: member.id, path: titles.path(of: entry),
        entry.isDeleted ? .deleted : known == nil ? .new : .changed)
    }
    session.change { $0.records += records }
  }

  /// Whether the join takes away no more than may be without being asked.
  ///
  /// What an entry claims of its revision is only what a head's writer says. So where there are enough of them to matter,
  /// the revisions are brought, and asked.
  private func mayJoin(
    _ incoming: [IncomingHead], _ transfers: PullTransfers
  ) throws(SyncError) -> Bool {
    let known = vault.member(member.id) ?? member
    var change = MassChange(liveCount: known.recordCount)
    if session.options.acceptsMassChange { return true }
    guard change.mayNeedConsent(incoming.reduce(0) { $0 + $1.entries.count }) else { return true }
    var joined = Manifest()
    for one in incoming {
      for entry in try said(by: one, transfers[one.head]) { _ = joined.apply(entry) }
    }
    // What a machine writes anew, which has become a device of its own, takes nothing away.
    let lines = known.linesTakenOver(by: incoming.map(\.head))
    for entry in joined.entries {
      change.count(entry, over: known.entry(entry.record, renamedBy: lines))
    }
    guard change.needsConsent else { return true }
    for one in incoming {
      try transfers[one.head].withdraw(Set(one.entries.map(\.revision)))
    }
    let found = change
    session.change { $0.massChanges[member.id] = found }
    session.note(.massChange(change, of: member.id))
    return false
  }

  /// What the revisions say of which a head has entries. Of one that is not to be had nothing is taken.
  private func said(
    by one: IncomingHead, _ transfer: PullTransfer
  ) throws(SyncError) -> [RecordEntry] {
    let found = Guarded<[RecordEntry]>([])
    let known = vault.member(member.id) ?? member
    try session.forEach(one.entries) { (entry) throws(SyncError) in
      do throws(TransferFailure) {
        guard let bytes = try transfer.bring(entry.revision, kind: .record) else { return }
        let revision: RecordRevision
        // Whoever follows the head tells it.
        do throws(ModelError) { revision = try RecordRevision(decoding: bytes) } catch { return }
        transfer.hold(entry.revision, bytes)
        let said = known.entry(of: revision, claimedAs: entry, by: one.head)
        found.withLock { $0.append(said) }
      } catch {
        switch error {
        case .object: return
        case .fatal(let error): throw error
        }
      }
    }
    return found.withLock { $0 }
  }

  // MARK: Objects, then heads

  /// - Parameter doubted: Devices of whose heads nothing is told where they do not come whole.
  /// - Returns: The heads of which everything that they need is here now.
  private func bring(
    _ incoming: [IncomingHead], doubting doubted: Set<DeviceID>, _ transfers: PullTransfers
  ) throws(SyncError) -> [IncomingHead] {
    var waiting = incoming
    while true {
      // What one of them replaces the others need not bring, and may be gone.
      var joined = Manifest()
      for one in waiting {
        let late = one.head.isLate ? one.head.epoch : nil
        for entry in one.entries { _ = joined.apply(entry, from: late) }
      }
      var whole: [IncomingHead] = []
      for one in waiting {
        let needed = one.entries.filter(joined.holds)
        let isDoubted = doubted.contains(one.head.device)
        if try bring(needed, of: one.head, transfers[one.head], isTold: !isDoubted) {
          whole.append(one)
        }
      }
      // What was left out for the sake of one that does not come is needed after all.
      if whole.count == waiting.count { return whole }
      waiting = whole
    }
  }

  /// - Parameter isTold: Whether it is told when something is gone.
  /// - Returns: Whether everything that these entries of the head need is here now.
  private func bring(
    _ entries: [RecordEntry], of head: OpenedHead, _ transfer: PullTransfer,
    isTold: Bool
  ) throws(SyncError) -> Bool {
    let walk = ObjectWalk(transfer)
    let needs = entries.map { ObjectWalk<PullTransfer>.Need(reference: .revision($0.revision)) }
    let outcome = try walk.run(needs, threadCount: session.options.threadCount)
    for failure in outcome.failures {
      // Older revisions end where they were collected.
      if failure.isHistory, case .missing = failure.error { continue }
      if !isTold, case .missing = failure.error { continue }
      session.note(
        SyncProblem(failure.error, there: member.sealedObjects.vaultPath(of: failure.digest).string)
      )
    }
    try transfer.withdraw(outcome.brokenHistory)
    let lacking = outcome.failures.filter { !$0.isHistory }
    guard lacking.isEmpty else {
      if lacking.contains(where: { $0.error.isOfTheMachine }) { session.noteUnread(head.hash) }
      if isTold {
        let lost = Set(lacking.flatMap(\.neededBy))
        session.note(
          .notTaken(
            VaultPath.head(member.id, head.device), count: lacking.count,
            of: entries.filter { lost.contains($0.revision) }.map(\.record)))
        session.change { $0.untakenHeadCount += 1 }
      }
      return false
    }
    try transfer.finish(outcome.whole)
    return true
  }

  /// - Parameters:
  ///   - takenOver: Late heads of which nothing is needed where a head stands that has taken them over. They are put in place
  ///     with it: how far their devices have come only their own heads prove.
  ///   - failures: How many barriers had failed before anything was brought.
  private func place(
    _ followed: [IncomingHead], passingOver takenOver: [IncomingHead], _ read: ReadRevisions,
    since failures: UInt64
  ) throws(SyncError) -> Int {
    let heads = followed.map(\.head) + member.openedHeads
    let known = member.knownCounters
    let comes = Set(followed.map(\.head.device))
    let passedOver = takenOver.filter {
      $0.head.device != session.home.device && known[$0.head.device] ?? 0 < $0.head.counter
        && !comes.contains($0.head.device) && $0.head.isTakenOver(by: heads)
    }
    let whole = (followed + passedOver).filter { !waiting.contains($0.head.device) }
    if whole.isEmpty { return 0 }
    if session.options.isDryRun {
      tally(whole)
      return whole.count
    }
    let member = vault.member(member.id) ?? self.member
    // An epoch is begun here when a head of it has come, or one that builds on it.
    let links =
      try whole.contains { !$0.head.isLate || !member.knowsLinks(of: $0.head) }
      ? StatementSync(session: session, exchange: exchange).newEpochs(of: member.id) : []
    let keys = try wraps(for: whole.map(\.head).filter { !member.hasKey(for: $0) })
      .filter { wrap in !links.contains { $0.path == wrap.path } }
    return try keeping { () throws(VaultError) in
      let placed = try member.place(
        heads: whole.map { ($0.head, $0.bytes) },
        links: links.map { ($0.path, $0.bytes) } + keys, since: failures)
      // Of two that a device has signed with one counter, as it must not, the one that came first stays.
      tally(whole.filter { placed.contains($0.head.device) })
      let count = try member.refresh(having: read).count
      session.change { $0.changedRecordCount += count }
      return placed.count + links.count
    }
  }

  /// What opens these heads here from now on, as far as the remote has it.
  private func wraps(
    for heads: [OpenedHead]
  ) throws(SyncError) -> [(path: VaultPath, bytes: [UInt8])] {
    var found: [(path: VaultPath, bytes: [UInt8])] = []
    for path in member.wraps(for: heads) {
      guard let file = try exchange.fetched(path) else { continue }
      session.tally(.pull, path, byteCount: UInt64(file.bytes.count))
      found.append((path, file.bytes))
    }
    return found
  }

  private func tally(_ placed: [IncomingHead]) {
    for one in placed {
      session.tally(
        .pull, .head(member.id, one.head.device), byteCount: UInt64(one.bytes.count))
    }
  }
}
