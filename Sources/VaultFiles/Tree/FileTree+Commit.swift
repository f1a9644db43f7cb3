import Log
import Threads
import Vault
import VaultErrors
import VaultModel

extension FileTree {
  /// How long a file that stays open is not written before it is sealed all the same.
  private static let quietTime = Duration.seconds(5)
  /// How long changes of a file that is written all the time wait at most.
  private static let longestWait = Duration.seconds(30)

  /// Starts the threads that commit changes, look for those of others, and thin what was written.
  package func start() {
    vault.keepOldObjects { [weak self] member in
      self?.withTree { tree in
        tree.allViews.contains { $0.member.id == member.id && $0.mayNameOldObjects }
      } ?? false
    }
    committer.start { [self] in
      while true {
        let task = committer.nextTask(
          commitDelay: options.commitDelay, pollInterval: options.pollInterval)
        switch task {
        case .stop: return
        case .commit: commitInBackground()
        case .poll: poll()
        }
      }
    }
    startThinning()
  }

  /// Stops the threads and commits everything, what is open included. Of a member of which nothing can be committed as much as
  /// can be is kept in this machine's state, and named in the log.
  ///
  /// - Throws: what `commitNow` throws.
  package func stop() throws(FileError) {
    thinner.stop()
    committer.stop()
    do { try commitNow() } catch {
      members.forEach(keepAtEnd)
      throw error
    }
    // What cannot be thinned now another mount or `collect` removes; `thin` has logged it.
    do { try thinAtLast() } catch {}
  }

  /// Seals and commits everything, what is open included. Durable when it returns.
  ///
  /// - Throws: the first failure, also when only one file is not saved, or what was saved before is not in the vault's folder any
  ///   more; the rest is committed all the same.
  package func commitNow() throws(FileError) { _ = try commitNow(waits: true) }

  /// - Returns: False where something needs what remotes have, for which nobody waits. Everything else is committed.
  private func commitNow(waits: Bool) throws(FileError) -> Bool {
    guard !isReadOnly else { return true }
    var failure: FileError?
    var waiting: [ShownMember] = []
    for member in members {
      // One file that cannot be sealed is not to be the loss of others.
      let sealing = seal(member) { _ in true }
      failure = failure ?? sealing.failure
      releaseTimes(of: member)
      var isWaiting = sealing.lacksSome
      do { try commit(member) } catch {
        if error == .away { isWaiting = true } else { failure = failure ?? error }
      }
      if isWaiting { waiting.append(member) }
    }
    // A remote may take its time, or never answer: by now everything else is saved.
    if !waits, !waiting.isEmpty { return false }
    for member in waiting {
      let sealing = seal(member, waits: true) { _ in true }
      failure = failure ?? sealing.failure
      do {
        try bringWhatIsLate(of: member)
        try commit(member)
      } catch {
        // Nothing was tried, so nobody has noted it.
        if error == .away { note([.member: error], of: member) }
        failure = failure ?? error
      }
    }
    if let failure = failure ?? unsaved.first?.error ?? lostHead() { throw failure }
    return true
  }

  /// Why what was saved of a member may be nowhere but in this mount: an older folder stands in the place of the vault's, or
  /// none. Nil where all is well.
  private func lostHead() -> FileError? {
    for shown in members {
      do { try shown.member.requireOwnHead() } catch {
        switch error {
        case .rolledBack, .missing:
          log.failed(.commit, error, of: LogIdentity(shown.member.id))
          return FileError(error)
        // A disk that does not answer, as a stick that was pulled out, has lost nothing by that.
        default: continue
        }
      }
    }
    return nil
  }

  /// `commitNow` for a command that is about to read the vault, and its log: what programs have changed in mappings, and what
  /// was noted, is kept besides.
  package func commitForCommand() throws(FileError) {
    defer { log.attempt(.audit) { () throws(VaultError) in try vault.audit.keep() } }
    takeInMappings()
    try commitNow()
  }

  /// Has a cache above write what programs have changed in mappings, of which nothing is known here yet. Returns when it has, or
  /// after a while: a file of which others are just taken in may wait for a remote.
  private func takeInMappings() {
    guard let writeBack = writeBackHandler.withLock({ $0 }) else { return }
    let inodes = withTree { tree in
      tree.allViews.flatMap { $0.files.values.filter(\.mayBeMapped).map(\.inode) }
    }
    let left = Monitor(inodes.count)
    for inode in inodes {
      writeBack(inode) { write in
        write()
        left.change { $0 -= 1 }
      }
    }
    let end = ContinuousClock.now + .seconds(10)
    left.wait { count in
      let time = end - .now
      return count == 0 || time <= .zero
        ? Monitor<Int>.Look<Void>.answer(()) : .waitAtMost(time)
    }
  }

  /// Makes durable what was done to the names in a directory. At the top: commits everything, of all members, as
  /// `commitNow` does.
  package func syncDirectory(_ inode: Inode) throws(FileError) {
    _ = try syncDirectory(inode, waits: true)
  }

  /// The same without waiting for a remote; false where that has something which this needs.
  package func syncDirectoryIfHere(_ inode: Inode) throws(FileError) -> Bool {
    try syncDirectory(inode, waits: false)
  }

  private func syncDirectory(_ inode: Inode, waits: Bool) throws(FileError) -> Bool {
    if inode == Self.root { return try commitNow(waits: waits) }
    guard !isReadOnly else { return true }
    let (member, record) = try look { (tree) throws(TreeObstacle) in
      let node = try tree.directory(inode)
      return (node.view.shown, node.record)
    }
    releaseTimes(of: member, [record])
    guard try makeDurable(member, waits: waits) else { return false }
    let unsaved = withTree { tree in
      tree[member.view].unsaved.first { $0.extent.record == record }
    }
    if let unsaved { throw unsaved.error }
    return true
  }

  /// Returns when everything of the member that was pending is on disk, in a commit or where the next process finds
  /// it, but for what `MemberView.unsaved` names; shares the wait with others who ask.
  ///
  /// - Parameter waits: Whether for a remote, if that has something which the commit needs.
  /// - Returns: False where it has, and nobody waits: then nothing was done.
  func makeDurable(_ member: ShownMember, waits: Bool) throws(FileError) -> Bool {
    guard hasChanges(member) else { return true }
    do {
      try makeDurableOfHere(member)
      return true
    } catch {
      guard error == .away else { throw error }
      if !waits { return false }
    }
    try bringWhatIsLate(of: member)
    try makeDurableOfHere(member)
    return true
  }

  private func makeDurableOfHere(_ member: ShownMember) throws(FileError) {
    try member.saving.syncs.run { () throws(FileError) in
      try member.saving.writing.withLock { (writing) throws(FileError) in
        if try !log(member, writing) { try commitOnce(member, &writing) }
      }
    }
  }

  /// Whether there is something that no commit has.
  private func hasChanges(_ member: ShownMember) -> Bool {
    member.member.hasLogged
      || withTree { tree in
        let view = tree[member.view]
        return !view.pending.isEmpty || !view.inFlight.isEmpty
      }
  }

  /// Makes durable what is pending, which stays pending.
  ///
  /// - Returns: False if it has to be committed.
  private func log(
    _ member: ShownMember, _ writing: MemberSaving.Writing
  ) throws(FileError) -> Bool {
    // By the redo file alone nobody would come to have what may not be written any more. Of a member that is open once more
    // the file is that one's.
    guard !writing.mustCommit, !withTree({ $0[member.view].hasEnded }) else { return false }
    let pending = withTree { tree in tree[member.view].pendingEdits }
    defer { withExtendedLifetime(pending.objects) {} }
    do { return try member.member.log(pending.edits) } catch {
      throw FileError(error)
    }
  }

  /// Returns when everything of the member that was pending is in the vault, but for what `MemberView.unsaved` names;
  /// shares a commit with others who ask.
  func commit(_ member: ShownMember) throws(FileError) {
    try member.saving.commits.run { () throws(FileError) in
      try member.saving.writing.withLock { (writing) throws(FileError) in
        try commitOnce(member, &writing)
      }
    }
  }

  var members: [ShownMember] { withTree { tree in tree.allViews.map(\.shown) } }

  // MARK: In the background

  private func commitInBackground() {
    guard !isReadOnly else { return }
    for member in members {
      // Where all that could not be saved is gone by now, nothing keeps anybody from going on.
      guard hasChanges(member) || withTree({ !$0[member.view].unsaved.isEmpty }) else { continue }
      do {
        try commit(member)
      } catch {
        if error == .away { bringInBackground(member) }
        // What was not committed stays pending, files were told, it is logged, and tried again after the usual
        // delay.
        committer.noteChange()
      }
    }
  }

  private func poll() {
    for member in members where !isReadOnly {
      member.member.removeUnusedObjects()
      // A file keeps the error for its next flush, and its content stays in memory.
      log.attempt(.seal, of: LogIdentity(member.member.id)) { () throws(FileError) in
        let now = ContinuousClock.now
        let sealing = seal(member) { changes in
          changes.last + Self.quietTime <= now || changes.first + Self.longestWait <= now
        }
        if let failure = sealing.failure { throw failure }
        if sealing.lacksClosed { throw .away }
      }
    }
    // Whatever fails here is tried again at the next poll.
    log.attempt(.redo) { () throws(VaultError) in try vault.redoWhatCrashesLeft() }
    refresh()
    log.attempt(.oldObjects) { () throws(VaultError) in
      try vault.removeOldObjects().requireNone()
    }
    for member in members { member.member.closeRemovedObjects() }
    log.attempt(.audit) { () throws(VaultError) in try vault.audit.flushIfDue() }
  }

  /// - Parameter records: Nil for all directories whose times wait.
  private func releaseTimes(of member: ShownMember, _ records: [RecordID]? = nil) {
    guard mayChange(member.member) else { return forgetTimes(of: member) }
    withTree { $0[member.view].releaseTimes(of: records) }
    committer.noteChange()
  }

  /// Nobody may write them any more: times are not worth a mount that cannot be ended.
  private func forgetTimes(of member: ShownMember) {
    invalidate(
      withTree { tree in tree[member.view].forgetTimes().map { .attributes($0.inode) } })
  }

  // MARK: One commit

  /// A failure of the whole is thrown. What concerns one record or file only keeps nothing else from being committed:
  /// that stays pending, its open files have the error for whoever asks, and it is tried again.
  private func commitOnce(
    _ shown: ShownMember, _ writing: inout MemberSaving.Writing
  ) throws(FileError) {
    let member = shown.member
    member.removeUnusedObjects()
    if hasChanges(shown) { try requireWhatIsLate(of: shown) }
    let latest = ContinuousClock.now - options.timeDelay
    let pending = withTree { tree in tree[shown.view].collectEdits(andTimesSince: latest) }
    guard !pending.edits.isEmpty || member.hasLogged else {
      log.succeeded(.commit, of: LogIdentity(member.id))
      return note([:], of: shown)
    }
    // What replaces these contents meanwhile does not take their objects away.
    defer { withExtendedLifetime(pending.objects) {} }
    writing.mustCommit = true
    do {
      let commit = try member.commit(
        pending.edits, before: shown.news, foldsRedo: true, waits: false)
      let failures = failures(of: commit)
      let news = withTree { tree in
        let news = tree.settle(pending.edits, commit, of: tree[shown.view])
        tree.giveBack(pending.edits, failures, of: tree[shown.view])
        return news
      }
      writing.thinning.note(pending.edits.lazy.map(\.record))
      apply(shown.news.take().union(news), to: shown)
      writing.mustCommit = !failures.isEmpty
      note(failures, of: shown)
      log(commit, of: member.id)
      vault.audit.note(pending.edits, of: commit, in: member.id) { record in
        Set(pending.remaining[record]?.items.keys.map(\.self) ?? [])
      }
    } catch {
      log.failed(.commit, error, of: LogIdentity(member.id))
      try giveBack(pending.edits, FileError(error), of: shown)
    }
  }

  /// Nothing of these could be committed: all of it is pending again.
  ///
  /// - Throws: `failure`, unless nothing is left that could be saved.
  private func giveBack(
    _ edits: [RecordEdit], _ failure: FileError, of shown: ShownMember
  ) throws(FileError) {
    withTree { tree in tree.giveBack(edits, [.member: failure], of: tree[shown.view]) }
    if !mayChange(shown.member) {
      forgetTimes(of: shown)
      if !hasChanges(shown) { return note([:], of: shown) }
    }
    note([.member: failure], of: shown)
    throw failure
  }

  private func log(_ commit: Commit, of member: MemberID) {
    guard let error = commit.firstFailure else {
      return log.succeeded(.commit, of: LogIdentity(member))
    }
    let (records, files) = (
      commit.failures.count, commit.heldBack.reduce(0) { $0 + $1.value.count }
    )
    log.failed(
      .commit, error, of: LogIdentity(member),
      ["records": LogValue(records), "files": LogValue(files)])
  }

  private func failures(of commit: Commit) -> [Unsaved.Extent: FileError] {
    var failures: [Unsaved.Extent: FileError] = [:]
    for (record, error) in commit.failures { failures[.record(record)] = FileError(error) }
    for (record, items) in commit.heldBack {
      for (name, error) in items { failures[.file(record, name)] = FileError(error) }
    }
    return failures
  }
}
