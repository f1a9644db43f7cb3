import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// How an open member learns what other processes and devices have committed.
extension Member {
  /// Catches up with what other processes and devices have committed.
  ///
  /// Costs one listing of the member's heads when nothing changed.
  ///
  /// - Parameter read: What was opened of the revisions that are news: these are not opened again.
  /// - Returns: The records whose entries changed.
  /// - Throws: `rolledBack` when this device's head is older than it was; what reading throws.
  package func refresh(
    having read: ReadRevisions = ReadRevisions()
  ) throws(VaultError) -> Set<RecordID> {
    do {
      return try heads.withLock { (heads) throws(VaultError) in
        heads.read = read
        defer { heads.read = ReadRevisions() }
        return try catchUp(&heads)
      }
    } catch {
      if mustPart(for: error) { return try refreshParting() }
      if case .rolledBack(register.path(of: context.device.id).string, _, _) = error,
        mayWrite, !context.isReadOnly
      {
        // A program that copies has put an older head of this device here while this process runs.
        return try heads.withLock { (heads) throws(VaultError) in
          try context.state.withCommitLock { () throws(VaultError) in try catchUpOrPart(&heads) }
        }
      }
      // Also where that other machine's head stands here alone, without all that it names.
      guard isApartFromOwn(error) || error.isDamage, try hasFollowedSlot() else { throw error }
      return try heads.withLock { (heads) throws(VaultError) in
        // The other program may have followed an epoch that this one has not heard of.
        try loadLinks()
        if context.isReadOnly || !mayWrite { return try catchUp(&heads) }
        return try context.state.withCommitLock { () throws(VaultError) in
          try catchUpOrPart(&heads)
        }
      }
    }
  }

  /// `refresh` where the machine has to become another device.
  private func refreshParting() throws(VaultError) -> Set<RecordID> {
    do {
      return try withWriter(attempts: Attempts(succeedsSpentEpoch: false, waits: false)) {
        (_, changed) throws(VaultError) in
        changed
      }
    } catch {
      switch error {
      // It is another device by now, which writes nothing yet.
      case .epochSpent:
        return try heads.withLock { (heads) throws(VaultError) in try catchUp(&heads) }
      // What is known stays as it is until the words have joined the keys, which a sync may bring.
      case .keysDivided: return []
      default: throw error
      }
    }
  }

  /// Finds out whether this device's newest head, as it is known here, still stands in the vault's folder. Where it does not,
  /// what this process has saved and shows may be nowhere else. One that is gone is put back if all that it names is here.
  ///
  /// Costs the reading of one small file.
  ///
  /// - Throws: `rolledBack` where an older one stands in its place, `missing` where none does; what reading throws.
  package func requireOwnHead() throws(VaultError) {
    let own = context.device.id
    guard mayWrite, !context.isReadOnly, let known = heads.withLock({ $0.loaded[own] }) else {
      return
    }
    do {
      if try register.fileHash(of: own) == known.hash { return }
    } catch {
      guard case .missing = error else { throw error }
      let isPutBack = try heads.withLock { (heads) throws(VaultError) -> Bool in
        try context.state.withCommitLock { () throws(VaultError) in try putKeptBack(heads) }
      }
      guard isPutBack else { throw error }
      return
    }
    _ = try refresh()
  }

  /// `refresh` for whoever holds the lock of `heads`: reads each head whose file has changed, or that waited for something
  /// that may have come.
  func catchUp(_ heads: inout HeadsState) throws(VaultError) -> Set<RecordID> {
    try readWhatWasUnread()
    var changed = try followEpoch(&heads)
    if let owner = heads.owner, owner != context.device.id { heads.isToBeRead = true }
    // Somebody lets this person write again.
    if !heads.heldBack.isEmpty, mayWrite { heads.isToBeRead = true }
    if heads.isToBeRead { changed.formUnion(try readAnew(&heads)) }
    forgetWhoCountsNoMore(&heads)
    var hasNews = !changed.isEmpty
    let files = try filesToRead(heads)
    if files.contains(where: { $0.device != context.device.id }) { try noteFormer(&heads) }
    try noteFound(among: files, &heads)
    defer { heads.forgetFound() }
    for file in files {
      switch try take(file, &heads) {
      case .nothing: continue
      case .adopted(let records, let isNews):
        changed.formUnion(records)
        hasNews = hasNews || isNews
      case .readAnew(let records): return changed.union(records)
      }
    }
    // Whoever goes on from here writes under the epoch in use, also where the head that it came with could not be taken.
    changed.formUnion(try followEpoch(&heads))
    if heads.isToBeRead { changed.formUnion(try readAnew(&heads)) }
    heads.forgetFound()
    // What waited for this device's own counter no other head releases.
    let released = Set(try release(&heads))
    changed.formUnion(released)
    // What a head lacks may be what another one has replaced, and which line it is of may be what another one tells.
    if hasNews, !heads.waiting.isEmpty || !heads.lines.apart.isEmpty {
      heads.waiting = [:]
      for device in heads.lines.apart { heads.seen[device] = nil }
      changed.formUnion(try catchUp(&heads))
    }
    guard !changed.isEmpty else { return changed }
    // Also when another process of this device had joined everything: a mount shows what one shows that begins now.
    changed.formUnion(state.withLock { $0.findDisplaced() })
    return changed
  }

  /// Takes in statements that could not be read before, once they can be. Nothing else may come that would have them read.
  private func readWhatWasUnread() throws(VaultError) {
    if !context.people.unread.isEmpty { try context.reloadPeopleIfChanged() }
    guard register.known.lacksWhatMayBeRead(at: context.clock.milliseconds()) else { return }
    do { try loadLinks() } catch {
      // What was known of them goes on to count. What is wrong with them is told when the vault is opened and checked.
    }
  }

  /// Finds the heads of devices of which none is followed: others name them, and how far they come, before their turn comes.
  private func noteFound(
    among files: [HeadRegister.File], _ heads: inout HeadsState
  ) throws(VaultError) {
    // As long as nothing comes that those need which wait, none of these is opened.
    var isInVain = true
    for (device, fingerprint) in files where isInVain {
      isInVain = try look(at: fingerprint, heads.waiting[device]).isInVain
    }
    if isInVain { return }
    for (device, _) in files where heads.loaded[device] == nil {
      do {
        heads.note(found: try register.load(device))
      } catch {
        // What is wrong with it is told in its turn.
        continue
      }
    }
  }

  /// Lets go of the heads of devices that were left out. What they brought while they counted stays, and this device's next
  /// head has it; where this process writes none, all heads are to be read anew, as one does that begins now. So they are where
  /// somebody may not write any more without a new epoch yet.
  private func forgetWhoCountsNoMore(_ heads: inout HeadsState) {
    let trust = context.people.trust
    let counting = heads.loaded.filter { trust.device($0.value.certificate) != .former }
    if counting.count < heads.loaded.count {
      heads.hasLearnedOfFormer = !heads.learned.isEmpty
      if heads.hasLearnedOfFormer {
        heads.leftOut += heads.loaded.values.filter { counting[$0.device] == nil }
      }
      if refusal != nil { heads.isToBeRead = true }
      // What they said of lines stays said, as what they brought stays.
      let retold = heads.retold(by: witnesses, besides: [])
      heads.loaded = counting
      let left = heads.retold(by: witnesses, besides: [])
      heads.lines.retold += retold.filter { !left.contains($0) }
    }
    if heads.loaded.values.contains(where: { !stillCounts($0) }) { heads.isToBeRead = true }
    noteOwners(&heads)
  }

  /// Whose word was taken, and of whom, depends on who the owners are: with others all heads are read anew, but not before what
  /// only devices brought that are left out is in this device's head.
  private func noteOwners(_ heads: inout HeadsState) {
    guard let owners = heads.owners, owners != witnesses.owners, !heads.hasLearnedOfFormer else {
      return
    }
    heads.isToBeRead = true
  }

  /// Whether a head of another device that counted, or was taken over, counts by the links as they are now.
  func stillCounts(_ head: LoadedHead) -> Bool {
    if head.device == context.device.id { return true }
    let trust = context.people.trust
    let current = register.keys.currentEpoch
    return switch trust.verdict(on: head.body, in: register.links.trust, current: current) {
    case .counts, .late, .waiting: true
    case .former, .reader, .stranger: false
    }
  }

  /// The files that are not those that were read, and those that did not hold by other statements than are here now.
  private func filesToRead(_ heads: HeadsState) throws(VaultError) -> [HeadRegister.File] {
    let statements = heads.refused.isEmpty ? nil : try register.statementMarks()
    let files = try register.files().filter { (device, fingerprint) in
      heads.seen[device] != fingerprint
        || heads.refused[device].map({ $0 != statements }) ?? false
    }
    guard files.contains(where: { $0.device != context.device.id }) else { return files }
    // Somebody may have let the device out since, or a program that copies brought its certificate beside its first head.
    try context.reloadPeopleIfChanged()
    return register.inReadingOrder(files)
  }

  /// What came of reading the file of one head.
  private enum HeadNews {
    /// It says what is known, or does not count, or not yet.
    case nothing
    /// - isNews: Whether the device's newest head is another one now.
    case adopted(Set<RecordID>, isNews: Bool)
    /// It was the first one of a new epoch, for which all heads were read anew.
    case readAnew(Set<RecordID>)
  }

  /// - Throws: What is wrong with this device's own head, unless it writes over that; what reading throws.
  private func take(
    _ file: HeadRegister.File, _ heads: inout HeadsState
  ) throws(VaultError) -> HeadNews {
    let (device, fingerprint) = file
    let isOwn = device == context.device.id && mayWrite
    let look = try look(at: fingerprint, heads.waiting[device])
    if look.isInVain { return .nothing }
    do {
      // After each commit of this process: it was verified, or written, before.
      if isOwn, let known = heads.loaded[device], try register.fileHash(of: device) == known.hash {
        heads.seen[device] = fingerprint
        return .nothing
      }
      let head = try loadHead(of: device)
      // Whoever gives access, or more of it, writes a head after that.
      if !isOwn, register.links.role(of: head.person, now: 0) == .owner { try loadLinks() }
      if heads.epoch != register.keys.currentEpoch { return .readAnew(try followEpoch(&heads)) }
      let before = heads.last(of: device)?.mark
      let records = Set(try adopt(head, reading: !isOwn && !look.hasWaitedEnough, &heads))
      noteLateHeads(heads)
      heads.seen[device] = fingerprint
      heads.refused[device] = nil
      heads.waiting[device] = nil
      if isOwn {
        try forgetDamage(mendedBy: head)
        try noteUseElsewhere(of: head, after: before?.counter ?? 0, &heads)
      }
      return .adopted(records, isNews: heads.last(of: device)?.mark != before)
    } catch {
      if isOwn, try isToBeReplaced(heads) {
        heads.seen[device] = fingerprint
        return .nothing
      }
      // Another device's broken head hides only what that device alone has written.
      if isOwn || mustPart(for: error) { throw error }
      heads.waiting[device] = look.obstacle(after: error, of: id)
      if heads.waiting[device] != nil { return .nothing }
      heads.seen[device] = fingerprint
      heads.refused[device] = try register.statementMarks()
      return .nothing
    }
  }

  /// Remembers which of this device's counters another machine has used, where this one has not written `head`: what that brings
  /// nobody here has seen, and nothing that is saved here takes its place unsaid.
  func noteUseElsewhere(
    of head: LoadedHead, after known: UInt64, _ heads: inout HeadsState
  ) throws(VaultError) {
    var written: UInt64 = 0
    // Who has kept none has written none.
    if let kept = try keptHead() {
      guard kept.hash != head.hash, let body = kept.body else { return }
      if body.device == head.device {
        // Of two with one number, the one that was not kept is another machine's.
        written = body.counter == head.counter ? max(1, body.counter) - 1 : body.counter
      }
    }
    let last = max(written, known)
    if last < head.counter { heads.usedElsewhere.append(last + 1...head.counter) }
  }

  /// Whether what stands in the place of this device's own head is to be written over.
  private func isToBeReplaced(_ heads: HeadsState) throws(VaultError) -> Bool {
    let device = context.device.id
    // This machine knows what it has written, or that it has not yet.
    if heads.loaded[device] != nil || heads.hasNoOwnHead, try register.hasForgedOwnHead {
      return true
    }
    // Of before, when this person could write: they have been let in again since, and begin anew.
    return try register.isOfFormerWriter(device)
  }

  /// What was found when the vault was opened has come back since, or another process has repaired it: this device's newest
  /// head is here and whole, as far as this machine has seen any.
  private func forgetDamage(mendedBy head: LoadedHead) throws(VaultError) {
    guard damageReason != nil else { return }
    let mark = try context.state.loadWatermarks()[register.path(of: head.device)]
    if let mark, head.counter < mark.counter { return }
    if let mark, head.counter == mark.counter, head.hash != mark.hash { return }
    state.withLock { $0.damage = nil }
  }

  /// The head of a device that may be newer than what is known of people.
  private func loadHead(of device: DeviceID) throws(VaultError) -> LoadedHead {
    do { return try register.load(device) } catch {
      try context.reloadPeople()
      try loadLinks()
      return try register.load(device)
    }
  }
}
