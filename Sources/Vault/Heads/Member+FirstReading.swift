import BlobStore
import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultPeople

/// How a member's heads are read when the vault is opened.
extension Member {
  /// Reads all heads for the first time, and compares them with what this machine has seen before.
  ///
  /// - Returns: What was found wrong and can be lived with.
  /// - Throws: `rolledBack` when this device's own head is older than it was, unless the guard is lifted; then counters go
  ///   on above everything that was ever used.
  func load(_ rollback: RollbackGuard) throws(VaultError) -> [Problem] {
    let problems = try heads.withLock { (heads) throws(VaultError) in
      var problems = try register.foreignFiles()
      note(rollback, &heads)
      heads.compared = try context.state.loadCompared(of: id)
      let kept = try mayWrite ? verifiedKeptHead(rollback.marks) : nil
      for (path, error) in try readHeads(&heads, kept: kept?.head) {
        if let problem = try problem(error, of: path, kept: kept, heads) {
          problems.append(problem)
        }
      }
      // It is this machine that was put back, or copied, and not whoever has read what the other one wrote.
      if state.withLock({ $0.isApartFromFile }) { problems.removeAll { $0.kind == .fork } }
      if let kept, let problem = try putBackIfGone(kept, heads) { problems.append(problem) }
      problems += try compare(heads, with: rollback)
      if !heads.rest.isEmpty { problems.append(restOfFormer(count: heads.rest.count)) }
      if !heads.heldBack.isEmpty { problems.append(heldBack(heads.heldBack)) }
      if let kept { try learnRest(of: kept.head, &heads) }
      return problems + self.problems(of: heads)
    }
    state.withLock { _ = $0.findDisplaced() }
    return problems
  }

  /// Notes what this machine has seen of devices before their heads are read.
  private func note(_ rollback: RollbackGuard, _ heads: inout HeadsState) {
    for mark in rollback.marks.marks {
      guard case .head(id, let device) = mark.path, mark.counter > 0,
        !context.people.isFormer(device)
      else { continue }
      heads.lines.before[device] = HeadMark(mark)
      if device == context.device.id { heads.counterFloor = max(mark.floor, mark.counter) }
    }
    if rollback.isLifted { heads.lines.before[context.device.id] = nil }
  }

  /// What is told of a head that could not be taken; nil when that is right, or set right here.
  ///
  /// - Parameter kept: This device's newest head as this machine has kept it.
  private func problem(
    _ error: VaultError, of path: VaultPath, kept: VerifiedKeptHead?, _ heads: HeadsState
  ) throws(VaultError) -> Problem? {
    if case .head(_, let device) = path, try register.isOfFormerWriter(device) { return nil }
    if let kept, try isSettledByKept(error, at: path, kept, heads) { return nil }
    let isOwn = path == register.path(of: context.device.id)
    if !isOwn, mustPart(for: error) {
      state.withLock { $0.isApartFromFile = true }
      return nil
    }
    // Somebody has put it where this device has none yet: it is told, and written over.
    var isWrittenOver = false
    if isOwn, heads.hasNoOwnHead { isWrittenOver = try register.hasForgedOwnHead }
    // A head of before, when this person could write, counts no more than anyone else's.
    if isOwn, !isWrittenOver, mayWrite { state.withLock { $0.damage = $0.damage ?? error } }
    return Problem(error, path: path.string)
  }

  /// What is told of what this machine wrote before it was out.
  private func restOfFormer(count: Int) -> Problem {
    Problem(
      .takenAlong, .note, path: register.folder.string,
      reason:
        "What this machine had saved of \(name.string) before it lost access, and nobody had got, is taken along: "
        + (count == 1 ? "one record or folder." : "\(count) records and folders."))
  }

  /// What is told of what this machine wrote before its person could only read.
  private func heldBack(_ entries: [RecordEntry]) -> Problem {
    let titles = Set(entries.map { "“\($0.title.string)”" + ($0.isDeleted ? " (deleted)" : "") })
      .sorted()
    let shown = titles.prefix(3).joined(separator: ", ")
    let others = titles.count > 3 ? " and \(titles.count - 3) more" : ""
    return Problem(
      .heldBack, .note, path: register.folder.string,
      reason:
        "What this machine had saved of \(name.string) while you could write, and nobody had got, does not "
        + "count, as you may only read now: \(shown)\(others). It is kept here, and is taken along once an "
        + "owner lets you write again.")
  }

  /// Whether what is wrong with the file of this device's head is set right by the one that this machine has kept: an
  /// older one, or none, is replaced by it, since nobody else can have written it and all that it names is here.
  private func isSettledByKept(
    _ error: VaultError, at path: VaultPath, _ kept: VerifiedKeptHead, _ heads: HeadsState
  ) throws(VaultError) -> Bool {
    guard path == register.path(of: kept.head.device),
      heads.loaded[kept.head.device]?.hash == kept.head.hash
    else { return false }
    switch error {
    case .branched:
      state.withLock { $0.isApartFromFile = true }
      return true
    case .rolledBack, .damaged:
      guard !context.isReadOnly, kept.head.device == context.device.id else { return false }
      // One that this device has signed, and that cannot be read, is not to be replaced by an older one.
      if case .damaged = error, try !register.hasForgedOwnHead { return false }
      try context.state.withCommitLock { () throws(VaultError) in
        // Another process may have shown it, and written the next one.
        if try isKept(kept.head.hash) { try register.store(kept.bytes) }
      }
      return true
    default: return false
    }
  }

  /// Puts this device's head back where its file is gone, since nobody else can have written it and all that it names is here.
  ///
  /// - Returns: What is told where this process only reads, and so leaves that to the next one.
  private func putBackIfGone(
    _ kept: VerifiedKeptHead, _ heads: HeadsState
  ) throws(VaultError) -> Problem? {
    let own = context.device.id
    guard kept.head.device == own, heads.loaded[own]?.hash == kept.head.hash,
      heads.seen[own] == nil
    else { return nil }
    let path = register.path(of: own).string
    if context.isReadOnly {
      guard try storing(context.store.size(of: BlobPath(path))) == nil else { return nil }
      return Problem(VaultError.missing(path: path), path: path)
    }
    try context.state.withCommitLock { () throws(VaultError) in
      if try storing(context.store.size(of: BlobPath(path))) == nil {
        try register.store(kept.bytes)
      }
    }
    return nil
  }

  /// Compares the heads that were read with what this machine has seen before.
  ///
  /// - Returns: Those that are older, or others of the same counter; and those that are gone.
  /// - Throws: `rolledBack` for this device's own, unless the guard is lifted: then the older one is what was seen.
  private func compare(
    _ heads: HeadsState, with rollback: RollbackGuard
  ) throws(VaultError) -> [Problem] {
    var problems: [Problem] = []
    for mark in rollback.marks.marks {
      guard case .head(id, let device) = mark.path else { continue }
      if retelling(of: device, HeadMark(mark), heads) != nil { continue }
      let path = mark.path.string
      let isOwn = device == context.device.id
      guard let head = heads.last(of: device) else {
        if damageReason == nil, isOwn, mayWrite, try !register.isOfFormerWriter(device) {
          let error = VaultError.missing(path: path)
          problems.append(Problem(error, path: path))
          state.withLock { $0.damage = error }
        }
        guard !isOwn, try lostHead(mark, heads) == .missed else { continue }
        if rollback.isLifted {
          try context.state.acceptRollback(of: mark.path, to: 0, .zero)
        } else {
          problems.append(.goneHead(path))
        }
        continue
      }
      if head.counter < mark.counter {
        let error = VaultError.rolledBack(path: path, found: head.counter, seen: mark.counter)
        guard rollback.isLifted else {
          if isOwn, !context.isReadOnly { throw error }
          problems.append(Problem(error, path: path))
          continue
        }
        try context.state.acceptRollback(of: mark.path, to: head.counter, head.hash)
      } else if head.counter == mark.counter, head.hash != mark.hash {
        let error = VaultError.forked(path: path, counter: head.counter)
        problems.append(Problem(error, path: path))
        if isOwn { state.withLock { $0.damage = $0.damage ?? error } }
      }
    }
    return problems
  }
}

extension Problem {
  /// Of another device, which goes on writing.
  fileprivate static func goneHead(_ path: String) -> Problem {
    Problem(
      .missing, .warning, path: path,
      reason:
        "this machine has seen it, and it is not there any more: what it alone had brought does not show until it has come "
        + "again, as with a sync")
  }

  /// Whether a head of another device that was seen here is gone.
  var isOfGoneHead: Bool {
    guard kind == .missing, severity == .warning, case .head? = VaultPath(parsing: path) else {
      return false
    }
    return true
  }
}
