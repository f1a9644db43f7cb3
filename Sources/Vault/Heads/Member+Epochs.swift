import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// How what is known of a member goes from one epoch to the next. Docs/Format.md, "Links and epochs".
extension Member {
  /// The epoch that new objects are sealed in.
  package var epoch: StatementID { register.keys.currentEpoch }

  /// Whether there are heads of another epoch that count, or did before their devices were removed, which `joinConcurrent` is to
  /// take over.
  package var hasLateHeads: Bool { state.withLock { $0.hasLateHeads } }

  func noteLateHeads(_ heads: HeadsState) {
    let hasAny = (Array(heads.loaded.values) + heads.leftOut).contains { $0.late != nil }
    state.withLock { $0.hasLateHeads = hasAny }
  }

  /// Reads all heads anew when another epoch is current than the one they were read in.
  ///
  /// - Returns: The records whose entries changed; all of them, as a rule.
  func followEpoch(_ heads: inout HeadsState) throws(VaultError) -> Set<RecordID> {
    guard let known = heads.epoch, known != register.keys.currentEpoch else { return [] }
    return try readAnew(&heads)
  }

  /// Forgets what heads have said, and reads all that are here once more. Until that is done everyone sees what was known
  /// before.
  ///
  /// - Returns: The records whose entries changed.
  /// - Throws: What is wrong with this device's own head; what this machine cannot read just now of one that is followed, which
  ///   may be whole the next time.
  func readAnew(_ heads: inout HeadsState) throws(VaultError) -> Set<RecordID> {
    var fresh: HeadsState
    do { fresh = try readToTheEnd(heads) } catch {
      if error.isOfTheMachine, heads.unreadSince == nil {
        heads.unreadSince = context.clock.milliseconds()
      }
      throw error
    }
    let now = fresh.recordsReadAnew.take() ?? Manifest()
    heads = fresh
    noteLateHeads(heads)
    // Nobody else changes them meanwhile.
    let before = state.withLock { $0.manifest }
    let changed = Set(now.entries.filter { before[$0.record] != $0 }.map(\.record)).union(
      before.entries.map(\.record).filter { now[$0] == nil })
    state.withLock { $0.take(now, changed: changed) }
    return changed
  }

  /// Reads all heads. A head may tell of a line that was taken over when others that this concerns are followed already: then
  /// all are read once more, and what it says is known from the start, until no other one does. So it ends.
  private func readToTheEnd(_ heads: HeadsState) throws(VaultError) -> HeadsState {
    var fresh = try readOnce(heads, knowing: [:])
    var count = 0
    while fresh.lines.toldLate.count > count {
      count = fresh.lines.toldLate.count
      fresh = try readOnce(heads, knowing: fresh.lines.toldLate)
    }
    // One that is not followed any more, now that its words are known, has said nothing.
    let followed = Set(fresh.loaded.values.map(\.hash))
    if !followed.isSuperset(of: fresh.lines.toldLate.keys) {
      fresh = try readOnce(heads, knowing: [:])
    }
    fresh.lines.toldLate = [:]
    return fresh
  }

  /// Reads all heads, beside those that are known.
  ///
  /// - Parameter told: What heads say of lines that can only be followed after others.
  private func readOnce(
    _ heads: HeadsState, knowing told: [FileHash: [Head.Retold]]
  ) throws(VaultError) -> HeadsState {
    var fresh = HeadsState(lastTime: heads.lastTime, counterFloor: try writtenCounter(heads))
    fresh.lines = linesToKeep(heads)
    fresh.lines.toldLate = told
    (fresh.compared, fresh.repaired) = (heads.compared, heads.repaired)
    (fresh.usedElsewhere, fresh.restsTaken) = (heads.usedElsewhere, heads.restsTaken)
    fresh.redoneInNewer = heads.redoneInNewer
    fresh.holdsWhatIsCalledLost = heads.holdsWhatIsCalledLost
    // Whoever takes over a line is read first, also where something that they name is gone since.
    fresh.followedBefore = Set(heads.loaded.values.map(\.hash))
    fresh.recordsReadAnew = Manifest()
    let own = context.device.id
    let kept = try mayWrite ? verifiedKeptHead(context.state.loadWatermarks()) : nil
    for (path, error) in try readHeads(&fresh, kept: kept?.head) {
      guard path == register.path(of: own), mayWrite else {
        if isAwaited(error, of: path, heads) { throw error }
        continue
      }
      // Of before, when this person could write: they have been let in again since, and begin anew. Or somebody has put it there
      // in place of a newer one.
      if try register.isOfFormerWriter(own) {
        if let kept { try learnRest(of: kept.head, &fresh) }
        continue
      }
      // The one that was kept is put in its place when it is compared next.
      guard case .rolledBack = error, let kept, !context.isReadOnly,
        fresh.loaded[own]?.hash == kept.head.hash
      else { throw error }
    }
    if mayWrite, let head = fresh.last(of: own) {
      try noteUseElsewhere(of: head, after: heads.last(of: own)?.counter ?? 0, &fresh)
    }
    try takeAgainWhatFormerBrought(heads, &fresh)
    return fresh
  }

  /// Takes once more what devices had brought that were removed since, while they counted, and that stands in no head which is
  /// followed: it stays until this device's next head has it. Of an epoch before it is late, and taken over as such. Nothing else
  /// of their heads counts, nor anything of people who may not write any more.
  private func takeAgainWhatFormerBrought(
    _ heads: HeadsState, _ fresh: inout HeadsState
  ) throws(VaultError) {
    // Where all of it is in this device's head nothing of theirs is needed. Who writes none sees what one sees who begins now.
    guard refusal == nil, !(heads.learned.isEmpty && heads.leftOut.isEmpty) else { return }
    let (trust, links) = (context.people.trust, register.links)
    let leftOut =
      heads.leftOut + heads.loaded.values.filter { trust.device($0.certificate) == .former }
    let former = leftOut.filter { head in
      head.device != context.device.id && links.access.countsAsWriter(head.person)
    }
    fresh.followedBefore.formUnion(former.map(\.hash))
    for known in former.sorted(by: { $0.device < $1.device })
    where fresh.last(of: known.device) == nil {
      let head = known.read(under: register.keys.currentEpoch)
      do {
        if try !adopt(head, &fresh).isEmpty {
          fresh.hasLearnedOfFormer = true
          fresh.leftOut.append(head)
        }
      } catch {
        // Something of it is gone since, or it is of another line than what is followed now.
        if error.isOfTheMachine, isReadLater(heads) { throw error }
      }
      fresh.loaded[head.device] = nil
      fresh.takenOver[head.device] = nil
      fresh.held.removeAll { $0.source == head.device }
    }
  }

  /// Whether all heads are read anew only once this one can be read: what its device brought would go out of sight meanwhile.
  private func isAwaited(_ error: VaultError, of path: VaultPath, _ heads: HeadsState) -> Bool {
    guard error.isOfTheMachine, case .head(_, let device) = path,
      let known = heads.loaded[device], stillCounts(known)
    else { return false }
    return isReadLater(heads)
  }

  /// Whether something that cannot be read just now is waited for. What a disk does not give is not waited for any longer than
  /// what is damaged: it keeps nobody from saving.
  private func isReadLater(_ heads: HeadsState) -> Bool {
    guard let since = heads.unreadSince else { return true }
    let now = context.clock.milliseconds()
    return now >= since && now - since < HeadLook.patience
  }

  /// How far this device has counted, in this process or another one: that it has, also where its head counts no more since
  /// its person may only read.
  private func writtenCounter(_ heads: HeadsState) throws(VaultError) -> UInt64 {
    let own = context.device.id
    let mark = try context.state.loadWatermarks()[register.path(of: own)]
    return max(
      heads.counterFloor, heads.last(of: own)?.counter ?? 0, mark?.counter ?? 0, mark?.floor ?? 0)
  }

  /// What is followed of each device while heads are read anew; nothing of another epoch, whose heads have to be taken over
  /// first, nor of the device that this machine was before. What devices that are left out said of lines stays until this
  /// device's next head says it.
  private func linesToKeep(_ heads: HeadsState) -> KnownLines {
    var lines = KnownLines()
    if refusal == nil { lines.retold = heads.lines.retold }
    guard heads.epoch == register.keys.currentEpoch else { return lines }
    for (device, known) in heads.loaded where known.late == nil {
      if device == heads.owner, device != context.device.id { continue }
      lines.before[device] = known.mark
      lines.lineages[device] = heads.lines[device]
    }
    return lines
  }

  /// Learns the lines of this device's head and, where somebody else has taken over a line, of owners' heads, with which
  /// those that are read first are compared: whoever takes over a line is read before anyone who knew it.
  private func noteLines(of found: [LoadedHead], _ heads: inout HeadsState) throws(VaultError) {
    let witnesses = self.witnesses
    let takers = found.filter { !$0.head.branches.isEmpty || witnesses.retells($0) }
    if takers.isEmpty { return }
    let (own, owners) = (context.device.id, witnesses.ownersDevices)
    let hasOthersTakers = takers.contains { !owners.contains($0.device) && $0.device != own }
    for head in found where head.late == nil && heads.lines.lineages[head.device] == nil {
      if hasOthersTakers, head.device != own, owners.contains(head.device),
        heads.lines.before[head.device] == nil
      {
        heads.lines.before[head.device] = head.mark
      } else {
        guard head.device == own, heads.lines.before[own] == head.mark else { continue }
      }
      do {
        for segment in try loadSegments(of: head.head) {
          heads.lines.note(segment.lineage, of: segment.name)
        }
        heads.lines.lineages[head.device] = heads.lines.lineage(of: head.head, head.device)
      } catch {
        // What is wrong with it is told when it is taken.
        guard error.isDamage else { throw error }
      }
    }
  }

  /// A head that was read, and the fingerprint of its file.
  private typealias FoundHead = (head: LoadedHead, fingerprint: UInt64)

  /// A head that could not be taken, and why.
  typealias HeadFailure = (path: VaultPath, error: VaultError)

  /// Reads every head, those of the current epoch first, so that what they have taken over of others need not be
  /// here.
  ///
  /// - Parameter kept: This device's newest head as this machine has kept it, which its file is compared with.
  func readHeads(
    _ heads: inout HeadsState, kept: LoadedHead? = nil
  ) throws(VaultError) -> [HeadFailure] {
    heads.epoch = register.keys.currentEpoch
    heads.owner = context.device.id
    heads.owners = witnesses.owners
    var failures: [HeadFailure] = []
    var found: [FoundHead] = []
    for (device, fingerprint) in try register.files() {
      do {
        found.append((try register.load(device), fingerprint))
      } catch {
        failures.append((register.path(of: device), error))
      }
    }
    let ownPath = register.path(of: context.device.id)
    var isForged: Bool?
    if failures.contains(where: { $0.path == ownPath }) { isForged = try register.hasForgedOwnHead }
    if let kept, needs(kept, beside: found.map(\.head), isForged: isForged) {
      try adopt(kept: kept, &heads)
    }
    if mayWrite, !found.contains(where: { $0.head.device == context.device.id }) {
      try learnLinesOfFormer(&heads)
    }
    try noteLines(of: found.map(\.head), &heads)
    for (head, _) in found { heads.note(found: head) }
    var untaken = adoptInRounds(found, &heads)
    heads.forgetFound()
    // Of a device whose head is here and could not be taken, others' word is enough.
    if try !release(&heads).isEmpty { untaken = adoptInRounds(found, &heads) }
    failures += untaken
    // Where a head of this device is followed, that is the newest one which this machine has written.
    if !mayWrite {
      try noteHeldBack(&heads)
    } else if heads.loaded[context.device.id] == nil {
      try learnRestOfFormer(&heads)
    }
    noteLateHeads(heads)
    if failures.isEmpty { heads.compared.keepOnly(heads) }
    return failures
  }

  /// Whether the newest head that this machine has kept has to be read beside those that were found.
  ///
  /// - Parameter isForged: Whether the file in its place is nothing that this device has signed; nil where it was read, or is
  ///   gone.
  private func needs(_ kept: LoadedHead, beside found: [LoadedHead], isForged: Bool?) -> Bool {
    // Of the device that this machine was, what it has not written anew yet.
    if kept.device != context.device.id {
      return !found.contains { $0.hasTakenOver(kept.device, for: context.device.id) }
    }
    if let file = found.first(where: { $0.device == kept.device }) { return file.hash != kept.hash }
    if let isForged { return isForged }
    // The file is gone. Where this machine's state was put back, it may have been a newer one, as others know.
    return !found.contains { other in
      other.head.basis.contains { $0.device == kept.device && $0.counter > kept.counter }
    }
  }

  private func adopt(kept: LoadedHead, _ heads: inout HeadsState) throws(VaultError) {
    do {
      try requireRevisions(try entries(of: kept.head), of: kept, &heads)
      _ = try adopt(kept, &heads)
      if kept.device != context.device.id { heads.former = kept }
    } catch {
      // Then the file is compared with what was seen.
      guard error.isDamage else { throw error }
    }
  }

  /// Takes the heads. What a head names and another one has replaced may be gone, and which line it is of may be what
  /// another one tells: then the other one is read first.
  private func adoptInRounds(_ found: [FoundHead], _ heads: inout HeadsState) -> [HeadFailure] {
    var failures: [HeadFailure] = []
    var failed: [HeadFailure] = []
    var waiting = inAdoptingOrder(found, heads.lines.before)
    repeat {
      let round = waiting
      (waiting, failed) = ([], [])
      for (head, fingerprint) in round {
        do {
          _ = try adopt(head, &heads)
          heads.seen[head.device] = fingerprint
        } catch {
          let path = register.path(of: head.device)
          switch error {
          case .missing, .branched:
            waiting.append((head, fingerprint))
            failed.append((path, error))
          default: failures.append((path, error))
          }
        }
      }
      if waiting.count == round.count { break }
    } while !waiting.isEmpty
    return failures + failed
  }

  /// Those first that have taken over lines of devices, late ones too, since what others have read of such a line is renamed;
  /// then those that say who has done so, late ones last; then this device's and owners', those before others that this machine
  /// followed before; then whoever else it followed before; all other late ones last.
  private func inAdoptingOrder(
    _ found: [FoundHead], _ before: [DeviceID: HeadMark]
  ) -> [FoundHead] {
    let witnesses = self.witnesses
    let strong = witnesses.ownersDevices.union([context.device.id])
    func rank(_ head: LoadedHead) -> Int {
      if !head.head.branches.isEmpty { return 0 }
      let retells = witnesses.retells(head)
      if head.late != nil { return retells ? 5 : 10 }
      return (retells ? 1 : 6) + (strong.contains(head.device) ? 0 : 2)
        + (before[head.device] == head.mark ? 0 : 1)
    }
    return found.enumerated().sorted { one, other in
      (rank(one.element.head), one.offset) < (rank(other.element.head), other.offset)
    }.map(\.element)
  }
}
