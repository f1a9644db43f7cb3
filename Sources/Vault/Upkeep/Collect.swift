import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultTrust

/// What `collect` removed or would remove.
package struct CollectReport: Sendable {
  package var objectCount = 0
  package var byteCount: UInt64 = 0
  /// Deleted records that are forgotten for good.
  package var forgottenRecordCount = 0
  /// Those that would have been, but that another process of this device has the vault open: nothing is left of them but that they
  /// are listed.
  package var stillListedRecordCount = 0
  /// Members for which other devices must first have seen what is to be removed.
  package var waitingMembers: [String] = []
  /// Members that are damaged, or that a sync is at work on: nothing is removed before they are repaired, or it has ended.
  package var skippedMembers: [String] = []
  /// Files of the audit log that became one a month.
  package var joinedSegmentCount = 0
  /// Old segments of the log that stay, as what is to replace them has not all that they have.
  package var problems: [Problem] = []
  /// The clock is far ahead of all that is known here; then nothing was removed, or would be, unless somebody says that it is
  /// right.
  package var clockLeap: ClockLeap?
  /// What the members show as.
  fileprivate let shownNames: [MemberID: FileName]

  fileprivate init(of vault: Vault) { shownNames = vault.shownNames }

  fileprivate func name(of member: Member) -> String {
    (shownNames[member.id] ?? member.name).string
  }

  /// What keeps one member from being collected keeps no other from it.
  ///
  /// - Throws: What concerns all of them.
  fileprivate mutating func note(_ error: VaultError, of member: Member) throws(VaultError) {
    switch error {
    case .epochSpent, .viewersOnlyRead: waitingMembers.append(name(of: member))
    default:
      guard error.concernsOneMember else { throw error }
      skippedMembers.append(name(of: member))
    }
  }
}

extension Vault {
  /// Removes objects that no head and no kept revision names.
  ///
  /// Trusts no clock but for the retention itself, and where that is far ahead of all that is known here only if somebody says
  /// that it is right. Where other devices write a member too, objects are announced first, and removed once all of them have
  /// seen the announcement. The next sync with a remote removes them there.
  ///
  /// - Parameters:
  ///   - keepDays: How long replaced revisions and deleted records stay restorable; with 0 nothing does.
  ///   - keepLogDays: How long this device keeps what it has noted in the audit log; nil: for ever. What it has noted for
  ///     others stays.
  ///   - acceptsClock: Whether somebody has said that the clock is right, whatever `clockLeap` says.
  ///   - isDryRun: Counts, and removes nothing.
  package func collect(
    keepDays: Int, keepLogDays: Int? = nil, acceptsClock: Bool = false, isDryRun: Bool
  ) throws(VaultError) -> CollectReport {
    guard !isReadOnly || isDryRun else { throw .readOnly }
    var report = CollectReport(of: self)
    if !acceptsClock { report.clockLeap = try clockLeap() }
    if !isDryRun {
      if report.clockLeap != nil { return report }
      try context.state.acceptClock(context.clock.milliseconds())
    }
    for member in members where member.mayWrite {
      let collection = MemberCollection(member: member, keepDays: keepDays, isDryRun: isDryRun)
      do { try collection.run(into: &report) } catch {
        try report.note(error, of: member)
      }
    }
    if !isDryRun {
      try collectLogs(keepDays: keepLogDays, into: &report)
      audit.note(.collect, detail: "\(report.objectCount) objects")
    }
    return report
  }

  /// Old segments of this device's log become one a month, and what others have joined so goes here.
  private func collectLogs(
    keepDays: Int?, into report: inout CollectReport
  ) throws(VaultError) {
    let now = context.clock.milliseconds()
    let oldest = keepDays.map { now - min(now, UInt64($0) * CivilTime.dayMilliseconds) } ?? 0
    report.joinedSegmentCount = try audit.joinMonths(keepingFrom: oldest)
    report.problems = try removeReplacedSegments()
  }
}

extension Vault {
  /// Removes a little of what `collect` with the same days removes, and writes nothing: where a disk is so full that
  /// `collect` itself cannot begin. What goes so stays on the remotes. Removes nothing while there is a `clockLeap`, unless
  /// somebody has said that the clock is right.
  package func makeRoom(keepDays: Int, acceptsClock: Bool = false) throws(VaultError) {
    if !acceptsClock, try clockLeap() != nil { return }
    var report = CollectReport(of: self)
    for member in members where member.mayWrite {
      let collection = MemberCollection(member: member, keepDays: keepDays, isDryRun: false)
      // Of the others there may be enough to remove.
      do { try collection.makeRoom() } catch {
        try report.note(error, of: member)
      }
    }
  }
}

/// Collects the garbage of one member.
private struct MemberCollection {
  let member: Member
  let isDryRun: Bool
  private let garbage: MemberGarbage

  init(member: Member, keepDays: Int, isDryRun: Bool) {
    self.member = member
    self.isDryRun = isDryRun
    garbage = MemberGarbage(
      member: member, retention: Retention(keepDays: keepDays, clock: member.context.clock))
  }

  func run(into report: inout CollectReport) throws(VaultError) {
    if try !catchUp() { return }
    let forgotten = garbage.forgottenRecords()
    if !forgotten.isEmpty, !isDryRun { try forget(forgotten, &report) }
    guard let unused = try garbage.unused(without: isDryRun ? forgotten : []) else {
      report.skippedMembers.append(report.name(of: member))
      return
    }
    guard !unused.isEmpty else { return }
    if isDryRun {
      count(unused, &report)
    } else if garbage.awaitedHeads.isEmpty {
      _ = try remove(unused, &report)
    } else {
      try announceOrRemove(unused, &report)
    }
  }

  /// Forgets deleted records, unless another process of this device has the vault open. That one knows them still: the next list
  /// that it writes in full would name revisions that are gone, and no new device could take the member.
  private func forget(
    _ records: Set<RecordID>, _ report: inout CollectReport
  ) throws(VaultError) {
    let isAlone = try member.context.reading.whileAlone { () throws(VaultError) in
      try member.commitCheckpoint(dropping: records)
    }
    if !isAlone { report.stillListedRecordCount += records.count }
    report.forgottenRecordCount += records.count { member.entry($0) == nil }
  }

  /// So many files are enough to write lists and heads again.
  private static let roomFileCount = 256

  func makeRoom() throws(VaultError) {
    guard try catchUp(), let unused = try garbage.unused(without: []),
      let removable = try garbage.removable(unused.map(\.0))
    else { return }
    try member.removeFirst(Self.roomFileCount, of: removable)
  }

  /// Looks at what others have written; false between two epochs, when nothing may go.
  private func catchUp() throws(VaultError) -> Bool {
    _ = try member.refresh()
    return try !member.isBetweenEpochs
  }

  /// - Returns: Whether they are gone.
  private func remove(
    _ unused: [(ObjectName, UInt64)], _ report: inout CollectReport
  ) throws(VaultError) -> Bool {
    // Again under the lock: a commit or a sync may have taken one of them since.
    guard try member.removeUnused(unused.map(\.0)) else {
      report.skippedMembers.append(report.name(of: member))
      return false
    }
    count(unused, &report)
    return true
  }

  private func count(_ unused: [(ObjectName, UInt64)], _ report: inout CollectReport) {
    report.objectCount += unused.count
    report.byteCount += unused.reduce(0) { $0 + $1.1 }
  }

  private func announceOrRemove(
    _ unused: [(ObjectName, UInt64)], _ report: inout CollectReport
  ) throws(VaultError) {
    if let removable = try garbage.removable(unused.map(\.0)).map(Set.init) {
      if try remove(unused.filter { removable.contains($0.0) }, &report) {
        try member.announce([])
      }
      return
    }
    if garbage.announcement == nil { try member.announce(unused.map(\.0)) }
    report.waitingMembers.append(report.name(of: member))
  }
}

extension Member {
  /// Removes the objects that are still named by nothing when the commit lock is held and no sync runs, and remembers to
  /// remove them from every remote that this machine knows.
  ///
  /// - Returns: Whether they are gone; false while a sync runs, and when something has changed: the next run sees.
  fileprivate func removeUnused(_ names: [ObjectName]) throws(VaultError) -> Bool {
    try withoutSyncs { (heads, remotes) throws(VaultError) -> Bool in
      guard try isAllKnown(&heads), try !isBetweenEpochs else { return false }
      let names = withoutNamed(names, by: heads)
      for remote in remotes {
        try RemoteRemovals(of: id, on: remote, state: context.state).add(names)
      }
      try removeObjects(names)
      return true
    }
  }

  /// Removes some of the objects, and says so nowhere.
  fileprivate func removeFirst(_ count: Int, of names: [ObjectName]) throws(VaultError) {
    _ = try withoutSyncs { (heads, _) throws(VaultError) -> Bool in
      guard try isAllKnown(&heads), try !isBetweenEpochs else { return false }
      try removeObjects(withoutNamed(names, by: heads), atMost: count)
      return true
    }
  }

  /// Runs `body` with the commit lock, and with the remotes that this machine knows, while none of them is synced.
  ///
  /// - Returns: What it returns; false, and it did not run, while one is.
  private func withoutSyncs(
    _ body: (_ heads: inout HeadsState, _ remotes: [RemoteName]) throws(VaultError) -> Bool
  ) throws(VaultError) -> Bool {
    let remotes = try RemoteRegistry(state: context.state).names()
    let isDone = try context.state.withoutSyncs(of: remotes[...]) { () throws(VaultError) -> Bool in
      try heads.withLock { (heads) throws(VaultError) -> Bool in
        try context.state.withCommitLock { () throws(VaultError) -> Bool in
          try body(&heads, remotes)
        }
      }
    }
    return isDone ?? false
  }

  /// A head that brought no news may name what has just come, and one may have been taken over meanwhile.
  private func withoutNamed(_ names: [ObjectName], by heads: HeadsState) -> [ObjectName] {
    let named = Set(
      heads.namedObjects.union(objectsOfTakenOver(heads)).flatMap(objects.names))
    return names.filter { !named.contains($0) }
  }

  /// Writes a head that announces the removal of these objects; an empty list ends an announcement.
  fileprivate func announce(_ names: [ObjectName]) throws(VaultError) {
    try withWriter { (writer, _) throws(VaultError) in try writer.announce(names) }
  }
}
