import BlobStore
import Threads
import Vault
import VaultModel

/// Takes what a remote has of one member whose keys are here: objects first, heads last.
struct MemberPull {
  let session: SyncSession
  let exchange: SignedExchange
  let vault: Vault
  /// As the remote's statements make it.
  let member: Member

  /// A head of the remote that is to be followed.
  struct Incoming {
    var head: OpenedHead
    var bytes: [UInt8]
    /// What its segments say of the heads before it.
    var lineages: [ContentDigest: SegmentLineage] = [:]
    /// The records that it knows and that are not known here.
    var entries: [RecordEntry] = []
  }

  /// Follows the heads of these devices.
  ///
  /// - Returns: How many were put in place.
  func run(_ devices: [DeviceID]) throws(SyncError) -> Int {
    var (incoming, unopened) = try open(devices)
    guard !incoming.isEmpty else {
      if let unopened { noteCopy(unopened, seenBy: []) }
      return 0
    }
    let coverage = Coverage(
      Dictionary(
        member.openedHeads.filter { !$0.isLate }.map { ($0.device, $0.counter) },
        uniquingKeysWith: { first, _ in first }))
    let opened = OpenedContents()
    let transfers = transfers(for: incoming.map(\.head), coverage, opened)
    let transferOf = { (head: OpenedHead) in transfers[TransferKind(head, member)]! }
    let takenOver = takenOver(incoming)
    unopened = unopened ?? unknownOwn(among: takenOver)
    let others = incoming.filter { one in !takenOver.contains { $0.head.device == one.head.device }
    }
    let loaded = try loadEntries(others, transferOf)
    if let unopened { noteCopy(unopened, seenBy: loaded) }
    incoming = try followed(loaded)
    guard !incoming.isEmpty else { return try place([], passingOver: takenOver, ReadRevisions()) }
    guard try mayJoin(incoming, { transferOf($0.head) }) else {
      session.change { $0.untakenHeadCount += incoming.count }
      return 0
    }
    if coverage.counters.isEmpty, exchange.cargo.rooms[member.id] == nil {
      try PackPull(
        session: session, member: member.id, objects: member.objects, opened: opened,
        recordCount: incoming.reduce(0) { $0 + $1.entries.count { !isKnown($0) } }
      ).run()
    }
    let whole = try bring(incoming) { transferOf($0.head) }
    if session.options.isDryRun { noteRecords(of: whole) }
    var read = ReadRevisions()
    for transfer in transfers.values { read.formUnion(transfer.read) }
    return try place(whole, passingOver: takenOver, read)
  }

  /// Which heads may be brought by one transfer.
  private struct TransferKind: Hashable {
    let epoch: StatementID
    /// What is here under the current keys says nothing about objects under others.
    let isCovered: Bool

    init(_ head: OpenedHead, _ member: Member) {
      epoch = head.epoch
      isCovered = !head.isLate && !member.mustRetell(head)
    }
  }

  private func transfers(
    for heads: [OpenedHead], _ coverage: Coverage, _ opened: OpenedContents
  ) -> [TransferKind: PullTransfer] {
    heads.reduce(into: [:]) { transfers, head in
      let kind = TransferKind(head, member)
      transfers[kind] =
        transfers[kind]
        ?? PullTransfer(
          session: session,
          NamedObjects(
            objects: member.objects, epoch: kind.epoch,
            coverage: kind.isCovered ? coverage : Coverage()),
          opened: opened, room: exchange.cargo.rooms[member.id])
    }
  }

  private func noteRecords(of incoming: [Incoming]) {
    let joined = Manifest(incoming.flatMap(\.entries))
    let titles = RecordTitles { joined[$0] ?? member.entry($0) }
    let records = joined.entries.compactMap { entry -> SyncedRecord? in
      let known = member.entry(entry.record)
      if isKnown(entry) { return nil }
      if known == nil, entry.isDeleted { return nil }
      return SyncedRecord(
        .pull, of: member.id, path: titles.path(of: entry),
        entry.isDeleted ? .deleted : known == nil ? .new : .changed)
    }
    session.change { $0.records += records }
  }

  /// - Returns: Those that open; and which head another machine has written under this one's key, if the key that opens it
  ///   never comes here.
  private func open(
    _ devices: [DeviceID]
  ) throws(SyncError) -> (incoming: [Incoming], unopened: HeadMark?) {
    var incoming: [Incoming] = []
    var unopened: HeadMark?
    for device in devices {
      let path = VaultPath.head(member.id, device)
      guard let file = try exchange.fetched(path) else {
        session.change { $0.untakenHeadCount += 1 }
        continue
      }
      do throws(VaultError) {
        let head = try member.openHead(device, bytes: file.bytes, in: exchange.tree)
        incoming.append(Incoming(head: head, bytes: file.bytes))
      } catch {
        if case .branched = error {
          unopened = HeadMark(counter: file.facts.counter, hash: file.facts.hash)
        } else if try isClosed(path, file.bytes) {
          session.note(.closed(path))
          session.change { $0.untakenHeadCount += 1 }
        } else {
          notTaken(error, path)
        }
      }
    }
    return (incoming, unopened)
  }

  /// The head of another machine under this one's key, of which nothing is needed any more: what it names may be gone, and
  /// with it what it goes on from.
  private func unknownOwn(among takenOver: [Incoming]) -> HeadMark? {
    guard let own = takenOver.first(where: { $0.head.device == session.home.device }) else {
      return nil
    }
    let mark = HeadMark(counter: own.head.counter, hash: own.head.hash)
    return (vault.member(member.id) ?? member).isOfOwnLine(mark) ? nil : mark
  }

  private func noteCopy(_ unopened: HeadMark, seenBy others: [Incoming]) {
    let known = vault.member(member.id) ?? member
    let above = known.lastShared(
      with: unopened, by: others.map { ($0.head, Array($0.lineages.values)) })
    session.noteCopy(.head(member.id, session.home.device), above: above)
  }

  private func isClosed(_ path: VaultPath, _ bytes: [UInt8]) throws(SyncError) -> Bool {
    try keeping(try member.isClosed(path, bytes, in: exchange.tree))
  }

  /// The late heads that others have taken over, which may be late themselves: what they name may be gone.
  private func takenOver(_ incoming: [Incoming]) -> [Incoming] {
    let heads = incoming.map(\.head) + member.openedHeads
    return incoming.filter { isTakenOver($0.head, by: heads) }
  }

  private func isTakenOver(_ late: OpenedHead, by heads: [OpenedHead]) -> Bool {
    late.isLate && heads.contains { $0.takesOver(late) }
  }

  private func notTaken(_ error: VaultError, _ path: VaultPath) {
    session.note(SyncProblem(error, there: path.string))
    session.change { $0.untakenHeadCount += 1 }
  }

  // MARK: What the heads know

  /// Brings the segments of every head, and finds what is news in them.
  ///
  /// - Returns: The heads whose segments are whole.
  private func loadEntries(
    _ incoming: [Incoming], _ transferOf: (OpenedHead) -> PullTransfer
  ) throws(SyncError) -> [Incoming] {
    var result: [Incoming] = []
    for one in incoming {
      let path = VaultPath.head(member.id, one.head.device)
      do throws(TransferFailure) {
        result.append(try loadEntries(of: one, transferOf(one.head)))
      } catch {
        switch error {
        case .object(let error):
          session.note(SyncProblem(error, there: error.file ?? path.string))
          session.note(.notTaken(path, count: 1))
          session.change { $0.untakenHeadCount += 1 }
        case .fatal(let error): throw error
        }
      }
    }
    return result
  }

  private func loadEntries(
    of one: Incoming, _ transfer: PullTransfer
  ) throws(TransferFailure) -> Incoming {
    var manifest = Manifest()
    var found = one
    found.lineages = [:]
    let known = member.segments(in: one.head.epoch)
    for name in one.head.segments where !known.contains(name) {
      guard let bytes = try transfer.bring(name, kind: .segment) else { continue }
      do throws(ModelError) {
        let segment = try Segment(decoding: bytes)
        found.lineages[name] = segment.lineage
        for entry in segment.entries { _ = manifest.apply(entry) }
      } catch {
        throw .object(VaultError(error, path: member.objects.vaultPath(of: name).string))
      }
    }
    if let name = one.head.head.announcement {
      _ = try transfer.bring(name, kind: .announcement)
    }
    let lists = member.authoredLists(in: one.head.epoch)
    for list in one.head.head.authored where !lists.contains(list) {
      _ = try transfer.bring(list, kind: .authored)
    }
    found.entries = news(in: manifest)
    return found
  }

  /// The heads that go on from what is followed here. Docs/Sync.md, "Put back or copied".
  private func followed(_ incoming: [Incoming]) throws(SyncError) -> [Incoming] {
    let known = vault.member(member.id) ?? member
    var result: [Incoming] = []
    for one in incoming {
      let path = VaultPath.head(member.id, one.head.device)
      let kinship = try keeping(try known.kinship(of: one.head, segments: one.lineages))
      switch kinship {
      case .known: continue
      case .followed:
        let here = known.knownCounters[one.head.device]
        if one.head.device == session.home.device, let here, here < one.head.counter {
          session.note(
            SyncProblem(
              .ownIsNewerThere(here: here, there: one.head.counter), path: path, action: .take))
        }
        result.append(one)
      case .ownCopy(let device, let above):
        session.noteCopy(.head(member.id, device), above: above)
      case .stray:
        session.note(.stray(path))
        // It is met with every sync, until its machine has gone on as another device.
        session.remember { $0.seen[path] = nil }
        session.change { $0.untakenHeadCount += 1 }
      }
    }
    return result
  }

  /// Whether this very version shows here; it may have to be put under other keys all the same.
  private func isKnown(_ entry: RecordEntry) -> Bool {
    let shown = vault.member(member.id) ?? member
    return shown.entry(entry.record)?.revision == entry.revision
  }

  /// What is not known here, and nothing that is known here replaces; and what is not here under the keys in use.
  private func news(in manifest: Manifest) -> [RecordEntry] {
    let all = manifest.entries + manifest.conflicts.values.joined()
    var seen: Set<ContentDigest> = []
    return all.filter { entry in
      guard seen.insert(entry.revision).inserted else { return false }
      guard let known = member.entry(entry.record) else { return true }
      if known.revision == entry.revision { return !member.isUnderKeysInUse(entry) }
      return known.version.compare(to: entry.version) != .dominates
    }
  }

  /// Whether the join takes away no more than may be without being asked.
  ///
  /// What an entry claims of its revision is only what a head's writer says. So where there are enough of them to matter,
  /// the revisions are brought, and asked.
  private func mayJoin(
    _ incoming: [Incoming], _ transferOf: (Incoming) -> PullTransfer
  ) throws(SyncError) -> Bool {
    let known = vault.member(member.id) ?? member
    var change = MassChange(liveCount: known.recordCount)
    if session.options.acceptsMassChange { return true }
    guard change.mayNeedConsent(incoming.reduce(0) { $0 + $1.entries.count }) else { return true }
    var joined = Manifest()
    for one in incoming {
      for entry in try said(by: one, transferOf(one)) { _ = joined.apply(entry) }
    }
    for entry in joined.entries { change.count(entry, over: known.entry(entry.record)) }
    guard change.needsConsent else { return true }
    for one in incoming {
      try transferOf(one).withdraw(Set(one.entries.map(\.revision)))
    }
    let found = change
    session.change { $0.massChanges[member.id] = found }
    session.note(.massChange(change, of: member.id))
    return false
  }

  /// What the revisions say of which a head has entries. Of one that is not to be had nothing is taken.
  private func said(
    by one: Incoming, _ transfer: PullTransfer
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

  /// - Returns: The heads of which everything that they need is here now.
  private func bring(
    _ incoming: [Incoming], _ transferOf: (Incoming) -> PullTransfer
  ) throws(SyncError) -> [Incoming] {
    var waiting = incoming
    while true {
      // What one of them replaces the others need not bring, and may be gone.
      let joined = Manifest(waiting.flatMap(\.entries))
      var whole: [Incoming] = []
      for one in waiting {
        let needed = one.entries.filter { entry in
          joined.rivals(of: entry.record).allSatisfy {
            $0.version.compare(to: entry.version) != .dominates
          }
        }
        if try bring(needed, of: one.head, transferOf(one)) { whole.append(one) }
      }
      // What was left out for the sake of one that does not come is needed after all.
      if whole.count == waiting.count { return whole }
      waiting = whole
    }
  }

  /// - Returns: Whether everything that these entries of the head need is here now.
  private func bring(
    _ entries: [RecordEntry], of head: OpenedHead, _ transfer: PullTransfer
  ) throws(SyncError) -> Bool {
    let walk = ObjectWalk(transfer)
    let needs = entries.map { ObjectWalk<PullTransfer>.Need(reference: .revision($0.revision)) }
    let outcome = try walk.run(needs, threadCount: session.options.threadCount)
    for failure in outcome.failures {
      // Older revisions end where they were collected.
      if failure.isHistory, case .missing = failure.error { continue }
      session.note(
        SyncProblem(failure.error, there: member.objects.vaultPath(of: failure.digest).string))
    }
    try transfer.withdraw(outcome.brokenHistory)
    let lacking = outcome.failures.filter { !$0.isHistory }
    guard lacking.isEmpty else {
      session.note(.notTaken(VaultPath.head(member.id, head.device), count: lacking.count))
      session.change { $0.untakenHeadCount += 1 }
      return false
    }
    try transfer.finish(outcome.whole)
    return true
  }

  /// - Parameter takenOver: Late heads of which nothing is needed where a head stands that has taken them over. They are put
  ///   in place with it: how far their devices have come only their own heads prove.
  private func place(
    _ followed: [Incoming], passingOver takenOver: [Incoming], _ read: ReadRevisions
  ) throws(SyncError) -> Int {
    let heads = followed.map(\.head) + member.openedHeads
    let known = member.knownCounters
    let whole =
      followed
      + takenOver.filter {
        $0.head.device != session.home.device && known[$0.head.device] ?? 0 < $0.head.counter
          && isTakenOver($0.head, by: heads)
      }
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
        links: links.map { ($0.path, $0.bytes) } + keys)
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

  private func tally(_ placed: [Incoming]) {
    for one in placed {
      session.tally(
        .pull, .head(member.id, one.head.device), byteCount: UInt64(one.bytes.count))
    }
  }
}
