import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// How a member is gone on with by a machine that has become a device of its own. Docs/Format.md, "Lines".
extension Member {
  /// `catchUp` for who is going to write, with the commit lock: finds out whether this machine was put back to an
  /// earlier state or copied, and then goes on as a device of its own.
  func catchUpOrPart(_ heads: inout HeadsState) throws(VaultError) -> Set<RecordID> {
    try context.followDeviceFile()
    var changed = try finishParting(&heads)
    let own = register.path(of: context.device.id).string
    do {
      changed.formUnion(try catchUp(&heads))
      return try showKept(after: heads) ? changed.union(catchUp(&heads)) : changed
    } catch {
      if case .rolledBack(own, _, _) = error, try putKeptBack(heads) {
        return changed.union(try catchUp(&heads))
      }
      guard case .branched(own, let above) = error else { throw error }
      try keepOwnHeadDurably(heads)
      try context.part(from: context.device.id, in: id, above: above)
    }
    changed.formUnion(try finishParting(&heads))
    return changed.union(try catchUp(&heads))
  }

  /// Whether another process of this machine has made it a device of its own: then what is under the former one's key is
  /// another machine's. Who writes follows when it writes; who only reads, here.
  func hasFollowedSlot() throws(VaultError) -> Bool {
    let device = context.device.id
    try context.followDeviceFile()
    return context.device.id != device
  }

  /// Whether the error says that the head under this device's key is of another line than what is known here of it.
  func isApartFromOwn(_ error: VaultError) -> Bool {
    guard case .branched(register.path(of: context.device.id).string, _) = error else {
      return false
    }
    return true
  }

  /// Whether this machine, which was put back to an earlier state or copied, is to go on as a device of its own.
  func mustPart(for error: VaultError) -> Bool {
    isApartFromOwn(error) && mayWrite && !context.isReadOnly
  }

  /// Makes sure that no power cut takes what this machine has written last, and is to write anew or to go on from: its newest head
  /// as the folder has it, which is not the kept one where a power cut took that, or where that could not be put in its place; or
  /// what was kept, where something else stands there.
  func keepOwnHeadDurably(_ heads: HeadsState) throws(VaultError) {
    let own = context.device.id
    let inItsPlace = try ifWhole { () throws(VaultError) in
      try storing(
        context.store.read(
          BlobPath(register.path(of: own).string), limit: Limits.signedFileBytes))
    }
    if let known = heads.loaded[own], let bytes = inItsPlace, known.hash == Digest.sha256(bytes) {
      try context.state.keepHead(bytes, of: id, durably: true)
    } else if let kept = try keptHead() {
      try context.state.keepHead(kept.bytes, of: id, durably: true)
    }
  }

  /// Writes anew, as the device that this machine is now, what it wrote as the one that it was, if that is still to be
  /// done. Under a spent epoch nothing is written: then whoever begins the next one does it.
  private func finishParting(_ heads: inout HeadsState) throws(VaultError) -> Set<RecordID> {
    let line = try lineToGoOnWith(heads)
    heads.former = line?.head
    guard let line, !isEpochSpent else { return [] }
    return try writeAnew(&heads, goingOnWith: line)
  }

  /// What the device wrote that this machine was, and this one is to go on with.
  struct FormerLine {
    let parting: Parting
    let head: LoadedHead
  }

  /// The line that this machine, a device of its own by now, is still to go on with; nil if there is none, or it has done so.
  ///
  /// What was cut short before the slot was changed is done first, and what is done is forgotten.
  func lineToGoOnWith(_ heads: HeadsState) throws(VaultError) -> FormerLine? {
    guard let parting = try Parting.load(of: id, state: context.state) else { return nil }
    if parting.from == context.device.id {
      try context.part(from: parting.from, in: id, above: parting.above)
    }
    let device = context.device.id
    let isDone = heads.loaded[device]?.hasTakenOver(parting.from, for: device) ?? false
    guard !isDone, let head = heads.last(of: parting.from) else {
      // It was done, or nothing is here that it wrote.
      try Parting.remove(of: id, state: context.state)
      return nil
    }
    return FormerLine(parting: parting, head: head)
  }

  /// Writes a head with a checkpoint of everything known in the epoch that is in use, whichever it was written in.
  ///
  /// - Parameters:
  ///   - line: A line that it goes on with besides.
  ///   - translation: One that has put everything under the keys of the epoch.
  /// - Returns: The records that are this device's now, of those of the line.
  func writeAnew(
    _ heads: inout HeadsState, goingOnWith line: FormerLine?, with translation: Translation? = nil
  ) throws(VaultError) -> Set<RecordID> {
    if let line { heads.counterFloor = max(heads.counterFloor, line.head.counter) }
    var writer = CommitWriter(member: self, heads: heads)
    writer.former = line.map { ($0.head, $0.parting.above) }
    // The line may be of the epoch before.
    try writer.takeOver(with: translation)
    var renamed: Set<RecordID> = []
    if let line {
      renamed = try rename(line.parting)
      // What it said of lines stays said: it may have taken one over itself, and the copy's head that says so may not be here.
      let told = writer.heads.retold(by: witnesses, besides: [])
      writer.heads.goOn(as: context.device.id, from: line.head)
      let left = writer.heads.retold(by: witnesses, besides: [])
      writer.heads.lines.retold += told.filter { !left.contains($0) }
    }
    try writer.writeHead(.checkpoint)
    heads = writer.heads
    noteLateHeads(heads)
    if line != nil {
      // What waits is known nowhere yet, and so was not renamed.
      if !heads.held.isEmpty { heads.isToBeRead = true }
      try Parting.remove(of: id, state: context.state)
    }
    return renamed
  }

  /// The counter of the last head that this device's line is known to share with a head under its key which cannot be judged,
  /// where that is surely of another line: 0 where nothing says of any. Nil where this machine may have written that head, or
  /// may have to go on from it, or cannot become a device of its own now.
  ///
  /// - Parameter place: What the head says of itself.
  package func lastShared(withUnjudged place: SignedFacts) -> UInt64? {
    guard refusal == nil, let generation = context.people[context.person]?.generation,
      generation == context.keys.generation
    else { return nil }
    let own = context.device.id
    return heads.withLock { heads in
      guard let here = heads.loaded[own] else { return nil }
      let line = FollowedLine(mark: here.mark, lineage: heads.lines[own])
      let mark = HeadMark(counter: place.counter, hash: place.hash)
      if line.has(mark) { return nil }
      if let hash = place.previous {
        // This line goes on from the same one with another head.
        let before = line.lineage.marks.first { $0 == HeadMark(counter: $0.counter, hash: hash) }
        if let before { return before.counter }
      }
      return line.isApart(from: mark) ? 0 : nil
    }
  }

  /// Takes what is known as written by the device that this machine is now.
  private func rename(_ parting: Parting) throws(VaultError) -> Set<RecordID> {
    let renaming = Renaming(
      member: self, device: parting.from, above: parting.above, to: context.device.id)
    let all = state.withLock { state in
      state.manifest.entries.map { state.manifest.rivals(of: $0.record) }
    }
    var renamed: [[RecordEntry]] = []
    for rivals in all where rivals.contains(where: renaming.concerns) {
      var new: [RecordEntry] = []
      for entry in rivals { new.append(try renaming.entry(entry)) }
      renamed.append(new)
    }
    let done = renamed
    state.withLock { state in
      for rivals in done { state.rename(rivals) }
    }
    return Set(done.compactMap(\.first?.record))
  }

  /// Puts this device's head back that an older one has replaced, or that is gone, if this machine has kept it: nobody else can
  /// have written it. Where a whole folder was put in the place of this one, what the head names is gone as well: then it stays
  /// away, or nothing would tell that the folder is older.
  func putKeptBack(_ heads: HeadsState) throws(VaultError) -> Bool {
    guard let known = heads.loaded[context.device.id], let kept = try keptHead() else {
      return false
    }
    if known.hash != kept.hash { return try showKept(after: heads) }
    guard try isAllHere(of: known) else { return false }
    try register.store(kept.bytes)
    return true
  }

  /// Puts the head in its place that this machine has kept and that goes on from the one which is followed here, if all that it names
  /// is here: whoever wrote it was stopped before it showed, or an older one has come back before this process met it. Another
  /// process may know it already, and no other head is to be written under its number.
  private func showKept(after heads: HeadsState) throws(VaultError) -> Bool {
    guard let known = heads.loaded[context.device.id], let body = try keptHead()?.body,
      body.device == known.device, body.counter > known.counter,
      let kept = try verifiedKeptHead(context.state.loadWatermarks()),
      try isAllHere(of: kept.head, isKnown: false)
    else { return false }
    var lines = heads.lines
    for segment in try loadSegments(of: kept.head.head) {
      lines.note(segment.lineage, of: segment.name)
    }
    guard lines.lineage(of: kept.head.head, known.device).contains(known.mark) else { return false }
    try register.store(kept.bytes)
    return true
  }

  /// Whether the segments of this device's head are here, and the revisions that count by them, but for those which the head
  /// that stands in its place names as well.
  ///
  /// - Parameter isKnown: False for a head whose entries are still to be joined: then all of its revisions count.
  private func isAllHere(
    of head: LoadedHead, isKnown: Bool = true
  ) throws(VaultError) -> Bool {
    // What was read of a file may outlive it.
    for name in head.head.segments where try !objects.isPresent(name) { return false }
    guard let entries = try ifWhole(self.entries(of: head.head)) else { return false }
    let inItsPlace = try ifWhole { () throws(VaultError) in
      try self.entries(of: register.load(head.device).head)
    }
    let known = Set((inItsPlace ?? []).map(\.revision))
    for entry in entries where !known.contains(entry.revision) {
      guard !isKnown || state.withLock({ $0.manifest.holds(entry) }) else { continue }
      if try !objects.isPresent(entry.revision) { return false }
    }
    return true
  }

  /// What this machine wrote as the device that it was and has not written anew yet; nil if there is nothing, or it cannot be
  /// read.
  func keptOfFormer() throws(VaultError) -> LoadedHead? {
    guard mayWrite, try Parting.load(of: id, state: context.state) != nil else { return nil }
    let kept = try verifiedKeptHead(Watermarks())?.head
    return kept?.device == context.device.id ? nil : kept
  }

  /// Another process of this machine may have found out that what it wrote is to be written anew.
  func noteFormer(_ heads: inout HeadsState) throws(VaultError) {
    guard heads.former == nil, let kept = try keptOfFormer() else { return }
    if heads.loaded[kept.device]?.hash == kept.hash { heads.former = kept }
  }

  /// This device's newest head as this machine kept it, if that is what it has written last and it holds; of the device
  /// that it was, while there is something to be written anew.
  func verifiedKeptHead(_ marks: Watermarks) throws(VaultError) -> VerifiedKeptHead? {
    guard let bytes = try keptHead()?.bytes else { return nil }
    let parting = try Parting.load(of: id, state: context.state)
    let device = parting?.from ?? context.device.id
    let path = register.path(of: device)
    var store = OverlayStore(context.store)
    store.add(BlobPath(path.string), bytes)
    do {
      let head = try register.load(
        device, files: SignedFiles(store: store, binding: context.binding), people: context.people)
      if parting != nil { return VerifiedKeptHead(head: head, bytes: bytes) }
      guard let mark = marks[path] else { return nil }
      // One that was never seen will show, or a writer puts it in its place: who only reads would know what no head says.
      if context.isReadOnly, head.counter > max(mark.counter, mark.floor) { return nil }
      // Else it is newer only where its person went back to an older folder.
      guard head.counter > mark.counter || head.mark == HeadMark(mark) else { return nil }
      return VerifiedKeptHead(head: head, bytes: bytes)
    } catch {
      guard error.isOfBrokenFile else { throw error }
      // A power cut has torn it, or it is another device's.
      return nil
    }
  }
}

extension Vault {
  /// Goes on as a device of its own where what is here of this device was written by another machine; or says what that
  /// waits for.
  func partWhereNeeded() throws(VaultError) {
    for member in members where member.isWritten {
      guard try member.isToPart() else { continue }
      do { _ = try member.joinConcurrent() } catch {
        guard case .keysDivided = error else { throw error }
        note(
          Problem(
            .parted, .warning, path: VaultPath.device(person, device).string,
            reason:
              "This machine was put back to an earlier state, or copied. Before it can go on as a device of "
              + "its own, and save anything more, your 24 words have to join your keys, which were changed on two "
              + "machines: kinvault recovery join"))
        return
      }
    }
    // Another process may have done it, such as a mount in the background.
    let isUntold = try context.state.isPartedUntold()
    guard isUntold || context.parted != nil else { return }
    note(
      Problem(
        .parted, .note, path: VaultPath.device(person, device).string,
        reason: "This machine was put back to an earlier state, or copied. It goes on as "
          + "\(name(of: device)); “kinvault device list” shows both, and what either has written is kept."
      ))
    try partingIsTold()
  }

  /// Whoever opens the vault next is not told any more that this machine has become a device of its own.
  package func partingIsTold() throws(VaultError) { try context.state.forgetPartedUntold() }
}

extension Member {
  func isToPart() throws(VaultError) -> Bool {
    if state.withLock({ $0.isApartFromFile }) { return true }
    return try Parting.load(of: id, state: context.state) != nil
  }
}
