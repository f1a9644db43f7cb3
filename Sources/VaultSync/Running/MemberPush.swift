import BlobStore
import Synchronization
import Vault
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

/// Puts on a remote what is here of one member whose keys are here and it lacks: objects first, heads last.
struct MemberPush {
  let session: SyncSession
  let exchange: SignedExchange
  let member: MemberHeads
  /// The remote lost something of this member: what its heads name may not be there.
  let isRepair: Bool

  /// Whether another version that is known here replaces the entry's.
  var isReplaced: @Sendable (RecordEntry) -> Bool = { _ in false }

  /// Whether a device's head with this counter and hash, on the remote, is of the line that is followed here: of another one
  /// its counter tells nothing.
  var isOfOneLine: @Sendable (DeviceID, UInt64, FileHash) -> Bool = { _, _, _ in true }

  private var objects: ObjectStore { member.objects }

  /// Brings everything that these heads, which are here, name.
  ///
  /// - Returns: The heads that may be put on the remote now.
  func bringObjects(_ heads: [OpenedHead]) throws(SyncError) -> [OpenedHead] {
    // Only they say that objects under the current keys are there.
    let there = RemoteHoldings(try headsThere().filter { !$0.isLate })
    if session.options.isDryRun { noteRecords(of: heads, newTo: there) }
    let packs = PackWriter(session: session, member: member.id)
    let whole: [OpenedHead]
    if (isRepair || there.heads.isEmpty) && !objects.isLazy {
      whole = try bringEverything(heads, packs)
    } else {
      whole = try bringNews(heads, there, packs)
    }
    try packs.finish()
    return whole
  }

  /// What a dry run says of records: which of these heads' are news to a remote that holds so much.
  private func noteRecords(of heads: [OpenedHead], newTo there: RemoteHoldings) {
    let coverage = there.coverage
    let named = objects.revisions(namedBy: there.heads, unread: note)
    var joined = Manifest()
    for name in Set(heads.flatMap(\.segments)) {
      // One that cannot be read was told when it was to be sent.
      guard let bytes = try? objects.content(name, kind: .segment),
        let segment = try? Segment(decoding: bytes)
      else { continue }
      for entry in segment.entries { _ = joined.apply(entry) }
    }
    let titles = RecordTitles { joined[$0] }
    let records = joined.entries.compactMap { entry -> SyncedRecord? in
      guard !named.contains(entry.revision), isNews(entry, coverage) else { return nil }
      let isNew = !isAnyVersionThere(of: entry, coverage, named)
      // What was made and deleted since nobody there needs to hear of.
      if isNew, entry.isDeleted { return nil }
      return SyncedRecord(
        .push, of: member.id, path: titles.path(of: entry),
        entry.isDeleted ? .deleted : isNew ? .new : .changed)
    }
    session.change { $0.records += records }
  }

  /// Whether the remote has some version of the record; as far back as its past can be read.
  private func isAnyVersionThere(
    of entry: RecordEntry, _ coverage: Coverage, _ named: Set<ContentDigest>
  ) -> Bool {
    var waiting = [entry.revision]
    var passed: Set<ContentDigest> = []
    while let name = waiting.popLast() {
      guard passed.insert(name).inserted, let revision = try? member.revision(name) else {
        continue
      }
      if named.contains(name) || coverage.holds(revision) { return true }
      waiting += revision.previous
    }
    return false
  }

  // MARK: Only what is new

  private func bringNews(
    _ heads: [OpenedHead], _ there: RemoteHoldings, _ packs: PackWriter,
    listed: Set<ObjectName> = []
  ) throws(SyncError) -> [OpenedHead] {
    let announced = try announcedByOthers()
    var whole: [OpenedHead] = []
    for (epoch, heads) in Dictionary(grouping: heads, by: \.epoch) {
      let isLate = heads.contains(where: \.isLate)
      let there = isLate ? RemoteHoldings() : there
      let transfer = PushTransfer(
        session: session, NamedObjects(objects: objects, epoch: epoch, coverage: there.coverage),
        listed: listed, packs: isLate ? nil : packs, announced: announced)
      whole += try bring(heads, transfer, there)
    }
    return whole
  }

  /// What other devices whose heads stand there mean to remove; nil where none do. What they have announced and is not here they
  /// do not remove before it was seen here.
  private func announcedByOthers() throws(SyncError) -> Set<ObjectName>? {
    let own = session.home.device
    guard exchange.look.heads(of: member.id).contains(where: { $0 != own }) else { return nil }
    var names: Set<ObjectName> = []
    for head in member.heads where head.device != own {
      guard let announcement = head.head.announcement else { continue }
      do { names.formUnion(try objects.announcedNames(announcement)) } catch {
        guard error.isDamage else { throw .vault(error) }
      }
    }
    return names
  }

  private func bring(
    _ heads: [OpenedHead], _ transfer: PushTransfer, _ there: RemoteHoldings
  ) throws(SyncError) -> [OpenedHead] {
    var whole: [OpenedHead] = []
    for head in heads {
      let walk = ObjectWalk(transfer)
      do throws(TransferFailure) {
        try requireWhole(head, there)
        let needs = try needs(of: head, transfer, there)
        let failures = try runWalk(walk, needs).failures
        if let failure = failures.first(where: { !$0.isHistory }) { throw .object(failure.error) }
        for failure in failures {
          switch failure.error {
          // Older revisions end where they were collected.
          case .missing, .gone, .away: continue
          default: note(failure.error)
          }
        }
        noteOlderAway(failures.map(\.error))
        whole.append(head)
        if mayNameAnew(head, there.heads) { session.compareNextTime() }
      } catch {
        switch error {
        case .object(let error): note(error)
        case .fatal(let error): throw error
        }
      }
    }
    return whole
  }

  /// Whether the head may name segments of another device's that its device did not name before: the other one may be
  /// removing them from there at this moment, until it sees this head.
  private func mayNameAnew(_ head: OpenedHead, _ there: [OpenedHead]) -> Bool {
    let others = there.filter { $0.device != head.device }
    if others.isEmpty { return false }
    let before = there.first { $0.device == head.device }
    return before?.head.checkpoint != head.head.checkpoint
      || !Set(head.segments).subtracting(before?.segments ?? [])
        .isDisjoint(with: others.flatMap(\.segments))
  }

  private func runWalk<Transfer: ObjectTransfer>(
    _ walk: ObjectWalk<Transfer>, _ needs: [ObjectWalk<Transfer>.Need]
  ) throws(TransferFailure) -> ObjectWalk<Transfer>.Outcome {
    do {
      return try walk.run(needs, threadCount: session.options.threadCount)
    } catch {
      throw .fatal(error)
    }
  }

  private func note(_ error: VaultError) {
    let path = error.file ?? "members/\(member.id.hex)"
    session.note(SyncProblem(error, here: path))
  }

  /// What only older versions need, and is left on another remote that it cannot be had from now: the head is put there
  /// without it.
  private func noteOlderAway(_ errors: [VaultError]) {
    let reasons = errors.compactMap { error -> String? in
      if case .away(_, let reason) = error { reason } else { nil }
    }
    guard let reason = reasons.first else { return }
    session.note(.olderAway(reasons.count, reason, of: member.id))
  }

  /// Brings the head's new segments, and says which revisions are news to the remote.
  private func needs(
    of head: OpenedHead, _ transfer: PushTransfer, _ there: RemoteHoldings
  ) throws(TransferFailure) -> [ObjectWalk<PushTransfer>.Need] {
    var entries: [RecordEntry] = []
    for name in head.segments where !there.segments.contains(name) {
      let bytes = try transfer.send(name, kind: .segment)
      do { entries += try Segment(decoding: bytes).entries } catch {
        throw .object(VaultError(error, path: objects.vaultPath(of: name).string))
      }
    }
    if let name = head.head.announcement { _ = try transfer.send(name, kind: .announcement) }
    for list in head.head.authored where !there.authored.contains(list) {
      _ = try transfer.send(list, kind: .authored)
    }
    return news(in: entries, there.coverage)
  }

  /// Whether all is here that a head brings: of one that lacks something nothing is sent, or the rest would be with every
  /// sync. Of this device's own that is looked at, and of all whether it is damaged, once a sync has met damage here.
  private func requireWhole(
    _ head: OpenedHead, _ there: RemoteHoldings
  ) throws(TransferFailure) {
    let hadDamage = session.memory.findings.contains { $0.kind == .damagedHere }
    if head.device == session.home.device, !hadDamage { return }
    try requireAll(of: head, there, opensChunks: hadDamage)
  }

  private func requireAll(
    of head: OpenedHead, _ there: RemoteHoldings, opensChunks: Bool
  ) throws(TransferFailure) {
    var entries: [RecordEntry] = []
    for name in head.segments where !there.segments.contains(name) {
      do throws(VaultError) {
        let bytes = try objects.placedContent(name, kind: .segment)
        do { entries += try Segment(decoding: bytes).entries } catch {
          throw VaultError(error, path: objects.vaultPath(of: name).string)
        }
      } catch {
        throw .object(error)
      }
    }
    let walk = ObjectWalk(
      ObjectsHere(objects: objects, coverage: there.coverage, opensChunks: opensChunks))
    let failures = try runWalk(walk, news(in: entries, there.coverage)).failures
    if let failure = failures.first(where: { !$0.isHistory }) { throw .object(failure.error) }
  }

  /// The revisions of which a remote that holds so much has not heard.
  private func news<Transfer: ObjectTransfer>(
    in entries: [RecordEntry], _ coverage: Coverage
  ) -> [ObjectWalk<Transfer>.Need] {
    let joined = Manifest(entries)
    return entries.filter { isNews($0, coverage) && !isGone($0, joined) }
      .map { .init(reference: .revision($0.revision)) }
  }

  /// Whether the revision is gone here because another one has replaced it: it was collected, thinned out, or never brought.
  private func isGone(_ entry: RecordEntry, _ head: Manifest) -> Bool {
    guard !head.holds(entry) || isReplaced(entry) else { return false }
    do { return try !objects.isPresent(entry.revision) } catch { return false }
  }

  private func isNews(_ entry: RecordEntry, _ coverage: Coverage) -> Bool {
    if let isThere = coverage.holds(entry) { return !isThere }
    // A merge carries no counter of its own, so the entry alone cannot tell.
    do {
      return !coverage.holds(try member.revision(entry.revision))
    } catch {
      // What is wrong with it shows when it is brought.
      return true
    }
  }

  /// The heads on the remote of lines that are followed here, as far as they count and open.
  private func headsThere() throws(SyncError) -> [OpenedHead] {
    var found: [OpenedHead] = []
    let own = Dictionary(
      member.heads.map { ($0.hash, $0) }, uniquingKeysWith: { first, _ in first })
    for device in exchange.look.heads(of: member.id) {
      let path = VaultPath.head(member.id, device)
      guard let state = exchange.there[path], isOfOneLine(device, state.counter, state.hash)
      else { continue }
      if let same = own[state.hash] {
        found.append(same)
      } else if let file = try exchange.fetched(path) {
        do {
          found.append(try member.open(device, bytes: file.bytes, in: exchange.tree))
        } catch {
          session.note(SyncProblem(error, there: path.string))
        }
      }
    }
    return found
  }

  // MARK: Everything

  /// Brings every object that is here and the remote does not list.
  private func bringEverything(
    _ heads: [OpenedHead], _ packs: PackWriter
  ) throws(SyncError) -> [OpenedHead] {
    let listed = try keeping(objects.listed())
    let there = try ObjectListing.measured(
      ObjectListing.load(member.id, session: session), for: listed.map(\.name), of: member.id,
      session: session)
    let missing = listed.filter { there[$0.name] != $0.byteCount }.map(\.name)
    let names = Set(listed.map(\.name))
    let transfer = PushTransfer(
      session: session, NamedObjects(objects: objects, epoch: member.epoch),
      listed: names.subtracting(missing), packs: packs)
    let (damaged, closed) = (Gathered<VaultError>(), Gathered<ObjectName>())
    try session.forEach(missing) { (name) throws(SyncError) in
      do throws(TransferFailure) { try transfer.send(name) } catch {
        switch error {
        case .object(let error):
          // Of a pull that was cut short, whose keys never came: no head that opens here needs it.
          if isUnderUnknownKey(name) { closed.add(name) } else { damaged.add(error) }
        case .fatal(let error): throw error
        }
      }
    }
    if damaged.all.isEmpty, closed.all.isEmpty, namesOnly(names, heads) {
      try noteLost(of: heads)
      return heads
    }
    // Something here is broken: does any head need it?
    damaged.all.forEach(note)
    return try bringNews(heads, RemoteHoldings(), packs, listed: transfer.sentNames)
  }

  private func isUnderUnknownKey(_ name: ObjectName) -> Bool {
    // What cannot even be read is told as what it is.
    do { return try objects.isUnderUnknownKey(name) } catch { return false }
  }

  /// Says what has been lost here of what this device's head names, which is all that is known here: it is in no list of what is to
  /// be sent, and without it no new machine takes the member from the remote.
  private func noteLost(of heads: [OpenedHead]) throws(SyncError) {
    for head in heads where head.device == session.home.device && !head.isLate {
      do throws(TransferFailure) {
        try requireAll(of: head, RemoteHoldings(), opensChunks: false)
      } catch {
        switch error {
        case .object(let error):
          note(error)
          // By then it may have been put back here.
          session.compareNextTime()
        case .fatal(let error): throw error
        }
      }
    }
  }

  /// Whether every segment is among these objects.
  private func namesOnly(_ names: Set<ObjectName>, _ heads: [OpenedHead]) -> Bool {
    heads.allSatisfy { head in
      head.segments.allSatisfy { names.contains(objects.name(of: $0, in: head.epoch)) }
    }
  }

  // MARK: Heads

  /// Puts the heads on the remote; whatever they name is there.
  ///
  /// Those of other devices first: a head that has seen another never stands there without it.
  func put(_ heads: [OpenedHead]) throws(SyncError) {
    let own = session.home.device
    var files: [SignedExchange.HeadFile] = []
    for head in heads.filter({ $0.device != own }) + heads.filter({ $0.device == own }) {
      let path = VaultPath.head(member.id, head.device)
      guard let file = try exchange.stored(path), file.facts.counter == head.counter else {
        continue
      }
      files.append((path, file.bytes, file.facts))
    }
    guard try exchange.put(files, of: member.id), !session.options.isDryRun else { return }
    session.change { $0.doorbellTopics.insert(member.doorbellTopic) }
  }
}
