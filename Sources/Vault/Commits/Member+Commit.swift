import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

extension Member {
  /// Makes the edits part of the vault: one revision object a record, one segment, one head.
  ///
  /// Everything that the edits name is on disk, and the commit survives a power cut, when this returns.
  /// Other processes of this device wait for one another here; edits are applied to the newest
  /// revisions. An edit that changes nothing writes nothing. Edits of records whose current revision
  /// cannot be read are reported in `failures`, items whose content is not to be had in `heldBack`; everything else is
  /// committed.
  ///
  /// - Throws: `viewersOnlyRead`, `epochSpent`, `readOnly`, `noSpace`, `rolledBack`, `forked`, `io`; `damaged` or `missing` when the
  ///   member's head or manifest is not whole. Then nothing was committed and what was is still there.
  ///
  /// - Parameters:
  ///   - news: What has changed and was not taken from it yet: the authors of the edits had not seen it.
  ///   - foldsRedo: The edits are all that `log` was called with since the last such commit, or newer ones of the same: what was
  ///     logged counts no more.
  ///   - waits: Whether for remotes, where a lazy vault keeps there what `bringWhatIsLate` brings; else that is `away`.
  package func commit(
    _ edits: [RecordEdit], before news: Changes? = nil, foldsRedo: Bool = false, waits: Bool = true
  ) throws(VaultError) -> Commit {
    try commit(
      edits, before: news, foldsRedo: foldsRedo, Attempts(succeedsSpentEpoch: true, waits: waits))
  }

  /// Makes all of the edits part of the vault, or, where it throws, none of them.
  ///
  /// - Throws: What `commit` throws, and what it would say of the first edit or item that cannot be taken.
  @discardableResult
  func commitAll(_ edits: [RecordEdit]) throws(VaultError) -> Commit {
    if let damage = damageReason { throw damage }
    return try withWriter { (writer, changed) throws(VaultError) in
      try writer.joinConcurrent()
      try writer.add(edits, unseen: changed)
      if let failure = writer.firstFailure { throw failure }
      return try writer.finish()
    }
  }

  private func commit(
    _ edits: [RecordEdit], before news: Changes? = nil, foldsRedo: Bool, _ attempts: Attempts
  ) throws(VaultError) -> Commit {
    if let damage = damageReason { throw damage }
    let mark = foldsRedo ? redoLog.mark : nil
    let (commit, wroteHead) = try withWriter(attempts: attempts) {
      (writer, changed) throws(VaultError) in
      try writer.joinConcurrent()
      try writer.add(edits, unseen: changed.union(news?.waiting ?? []))
      // Until what it leaves out is logged alone, all of it stays so: done again it changes nothing.
      if writer.firstFailure == nil { writer.folds = mark }
      let commit = try writer.finish()
      return (commit, writer.wroteHead)
    }
    guard mark != nil else { return commit }
    if commit.firstFailure != nil {
      try logAlone(edits.compactMap(commit.leftOut))
    } else if wroteHead {
      redoLog.rewind()
    } else {
      try redoLog.erase()
    }
    return commit
  }

  /// What is done, where a commit cannot be made as things are, before it is tried once more.
  struct Attempts {
    /// A device of an owner begins an epoch in the place of one that is spent; else that is `epochSpent`.
    var succeedsSpentEpoch = true
    /// What late heads need is brought here from remotes; else that is `away`.
    var waits = true
  }

  /// Runs `body` with a commit in the making that knows all that is here, late heads taken over; nothing of what is
  /// known changes when it throws.
  ///
  /// - Parameter catchesUp: False only after a repair, when the head on disk may not be readable.
  func withWriter<Value: Sendable>(
    catchesUp: Bool = true, attempts: Attempts = Attempts(),
    _ body: (inout CommitWriter, _ changed: Set<RecordID>) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    // Under the locks nobody waits for a remote. What cannot be had now is told where it is needed.
    if attempts.waits { do { try bringWhatIsLate() } catch {} }
    do { return try withWriterOnce(catchesUp: catchesUp, body) } catch {
      switch error {
      case .epochSpent where attempts.succeedsSpentEpoch:
        guard try mayBeginEpoch else { throw error }
        try succeedSpentEpoch()
      // The commit has met new keys.
      case .away where attempts.waits && hasLateHeads: try bringWhatIsLate()
      default: throw error
      }
    }
    return try withWriterOnce(catchesUp: catchesUp, body)
  }

  private func withWriterOnce<Value: Sendable>(
    catchesUp: Bool,
    _ body: (inout CommitWriter, _ changed: Set<RecordID>) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    try requireWritable()
    return try heads.withLock { (heads) throws(VaultError) in
      try context.state.withCommitLock { () throws(VaultError) in
        let changed = catchesUp ? try catchUpOrPart(&heads) : []
        // An epoch that has just come may have changed that.
        try requireWritable()
        try requireUnspentEpoch()
        try objects.noteAnnounced(heads.announcements(besides: context.device.id))
        try writeHidden(&heads)
        let value = try writing(&heads) { (writer) throws(VaultError) in
          try body(&writer, changed)
        }
        noteLateHeads(heads)
        return value
      }
    }
  }

  /// Runs `body` with a commit in the making, late heads taken over; nothing of what is known changes when it throws. The caller
  /// holds the commit lock.
  func writing<Value>(
    _ heads: inout HeadsState, _ body: (inout CommitWriter) throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    var writer = CommitWriter(member: self, heads: heads)
    // What is known by now stays known, also where the head that says so cannot be written.
    defer { heads.learned.formUnion(writer.unwritten) }
    let value: Value
    do throws(VaultError) {
      try writer.takeOver()
      value = try body(&writer)
    } catch {
      objects.restage()
      throw error
    }
    objects.settle()
    heads = writer.heads
    return value
  }

  /// Joins what devices wrote without knowing of each other, if there is any such: a commit without edits.
  ///
  /// What loses is kept in the member's `Offline Sync Conflicts`. Of a member that this person may only read nothing is
  /// written: one of the versions shows until an editor's device has joined them.
  ///
  /// - Parameter waits: As of `commit`.
  package func joinConcurrent(waits: Bool = true) throws(VaultError) -> Commit {
    guard mayWrite else {
      _ = try refresh()
      return Commit(counter: 0)
    }
    let joined = try ifPossible { () throws(VaultError) in
      try commit([], foldsRedo: false, Attempts(succeedsSpentEpoch: false, waits: waits))
    }
    // Until then one of the versions shows.
    return joined ?? Commit(counter: 0)
  }

  /// - Throws: What `refusal` says.
  func requireWritable() throws(VaultError) {
    if let refusal { throw refusal }
  }

  /// Writes a head without a change of its own, so that whoever looks for new heads alone finds the links beside it.
  /// What was learned from other devices stands in it.
  func commitNothing() throws(VaultError) {
    try withWriter { (writer, _) throws(VaultError) in try writer.writeLearned() }
  }

  /// Writes a head with a new checkpoint of everything known, whatever is in the old one.
  ///
  /// - Parameters:
  ///   - dropped: Deleted records that are forgotten: but for what another process has brought back meanwhile, and none where
  ///     another device has a head by now, or has none and may know them as they were before.
  ///   - catchesUp: False only after a repair, when the head on disk may not be readable.
  func commitCheckpoint(
    dropping dropped: Set<RecordID> = [], catchesUp: Bool = true
  ) throws(VaultError) {
    try withWriter(catchesUp: catchesUp) { (writer, changed) throws(VaultError) in
      let known = Set(writer.heads.loaded.keys).union([context.device.id])
      let isAlone = known.count == 1 && !hasKnowingDevices(besides: known, by: register.links)
      let gone = dropped.subtracting(changed).filter { entry($0)?.isDeleted ?? false }
      state.withLock { $0.drop(isAlone ? gone : []) }
      try writer.writeHead(.checkpoint)
    }
  }
}
