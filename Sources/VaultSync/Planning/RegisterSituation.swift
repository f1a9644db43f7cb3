import VaultModel

/// All that is known of one register when a sync begins. Both states were verified: signature, path, and the right
/// of whoever wrote it.
package struct RegisterSituation: Hashable, Sendable {
  /// What is here; nil when nothing is.
  package var local: RegisterState?
  /// What the remote shows; nil when nothing is there.
  package var remote: RegisterState?
  /// The newest that this machine has seen anywhere.
  package var mark: RegisterState?
  /// The newest that this remote has shown or taken before.
  package var shown: RegisterState?
  /// The file that `local` replaced.
  package var previous: FileHash?
  /// This device alone writes it.
  package var isOwn: Bool
  /// It is a head, whose lineages tell what goes on from what. Of any other register the counter alone tells.
  package var hasLines: Bool
  /// From this counter on the device's register here says nothing else but where the log ends, and the log is not put there
  /// now; nil for all others, and where the log is.
  package var unchangedSince: UInt64?

  package init(
    local: RegisterState?, remote: RegisterState?, mark: RegisterState? = nil,
    shown: RegisterState? = nil, previous: FileHash? = nil, isOwn: Bool = false,
    hasLines: Bool = true, unchangedSince: UInt64? = nil
  ) {
    self.local = local
    self.remote = remote
    self.mark = mark
    self.shown = shown
    self.previous = previous
    self.isOwn = isOwn
    self.hasLines = hasLines
    self.unchangedSince = unchangedSince
  }
}

/// What a sync does with one register.
package enum RegisterAction: Hashable, Sendable {
  /// Both are the same, or neither may replace the other.
  case leave
  /// The remote's is newer: it is put in place here, after everything that it names.
  case take
  /// The one here is newer, or the remote has none: it is put there, after everything that it names.
  case put
  /// The one here has a higher counter, and it is not known to go on from the remote's: of heads their lineages tell.
  case compare
}

/// What stands out about one register of a remote.
package enum RegisterFinding: Hashable, Sendable {
  /// The remote shows an older state than it did before, or nothing any more: an older copy of it was put back, or
  /// someone hides what came since.
  case wentBack(shows: UInt64, showed: UInt64)
  /// The remote's, of another device, is older than this machine has seen, and nothing newer is here.
  case olderThanSeen(shows: UInt64, seen: UInt64)
  /// Another file with a counter that was seen before.
  case forked(counter: UInt64)
  /// The folder here is from before: the remote has a newer state of what this device itself wrote.
  case ownIsNewerThere(here: UInt64, there: UInt64)
}

extension RegisterFinding {
  /// Whether lineages tell better, where there are such.
  package var isOfLines: Bool {
    switch self {
    case .forked, .ownIsNewerThere: true
    case .wentBack, .olderThanSeen: false
    }
  }
}

/// What is to be done about one register, and what is to be said about it. Docs/Sync.md, "Registers".
package struct RegisterPlan: Hashable, Sendable {
  package var action: RegisterAction
  package var findings: [RegisterFinding]

  /// Whether there are two files with one counter.
  package var isForked: Bool {
    findings.contains { if case .forked = $0 { true } else { false } }
  }

  package init(_ action: RegisterAction, _ findings: [RegisterFinding] = []) {
    self.action = action
    self.findings = findings
  }

  /// Pure: the same situation always gives the same plan. A register here is never replaced by one with a lower counter, nor
  /// by one that is older than this machine or this remote has shown; a head not by one with the same counter either.
  package init(_ situation: RegisterSituation) {
    self.init(.leave)
    if let finding = situation.goneBack { findings.append(finding) }
    if let counter = situation.forkedCounter {
      findings.append(.forked(counter: counter))
      if findings.count == 1 || situation.isOwn { action = situation.actionOfFork }
      return
    }
    guard let remote = situation.remote else {
      action = situation.local == nil ? .leave : .put
      return
    }
    guard let local = situation.local, local.counter >= remote.counter else {
      // Newer than what is here; but is it as new as what was seen?
      if let mark = situation.mark, mark.counter > remote.counter {
        // What this device itself has written may count for nothing here any more, and need never have been there.
        if !situation.isOwn {
          findings.append(.olderThanSeen(shows: remote.counter, seen: mark.counter))
        }
      } else if findings.isEmpty {
        action = .take
        // Where nothing is here the folder is a new copy, and no backup.
        if situation.isOwn, let local = situation.local {
          findings.append(.ownIsNewerThere(here: local.counter, there: remote.counter))
        }
      }
      return
    }
    if local.counter == remote.counter { return }
    if situation.waitsForLog { return }
    action = situation.knowsRemote || !situation.hasLines ? .put : .compare
  }
}

extension RegisterSituation {
  /// The remote stands behind what it showed before.
  fileprivate var goneBack: RegisterFinding? {
    guard let shown, shown.counter > remote?.counter ?? 0 else { return nil }
    return .wentBack(shows: remote?.counter ?? 0, showed: shown.counter)
  }

  /// The counter of a state that has two files, of which it is not settled yet which one holds.
  fileprivate var forkedCounter: UInt64? {
    guard let remote else { return nil }
    let others = [local, mark, shown].compactMap(\.self)
    let fork = others.first {
      $0.counter == remote.counter && $0.hash != remote.hash && !isSettled(after: $0)
    }
    return fork?.counter
  }

  /// Whether the file of another device that holds everywhere stands on both sides by now, and not this one. That device may never
  /// write it anew, as its machine has gone on as another one.
  private func isSettled(after other: RegisterState) -> Bool {
    guard let remote else { return false }
    return !hasLines && !isOwn && local == remote && other.hash < remote.hash
  }

  /// What is done with two files of one counter. What a device says of itself loses nothing where one of them holds: on
  /// every machine and remote it is the one with the greater hash, until the device, which takes neither, writes it anew. What it
  /// has written anew takes the place of either.
  fileprivate var actionOfFork: RegisterAction {
    if isOwn, !hasLines, let local, let remote, local.counter > remote.counter { return .put }
    guard !hasLines, !isOwn, let local, let remote, local.counter == remote.counter,
      local.hash != remote.hash, mark?.counter ?? 0 <= remote.counter
    else { return .leave }
    return local.hash < remote.hash ? .take : .put
  }

  /// Whether the remote has all that the state here says, but for where the log ends: that goes there with the log.
  fileprivate var waitsForLog: Bool {
    guard let unchangedSince, let remote else { return false }
    return isOwn && knowsRemote && unchangedSince <= remote.counter
  }

  /// Whether the state here was certainly written by someone who knew the remote's.
  fileprivate var knowsRemote: Bool {
    guard let remote else { return true }
    return remote.hash == previous || remote == shown
  }
}
