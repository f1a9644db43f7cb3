import BlobStore
import MachineState
import Notes
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// What a repair did to one member.
package struct RepairReport: Sendable {
  package var member: String
  package var recordCount = 0
  /// Records whose newest revision is gone and that went back to an older one.
  package var wentBack: [String] = []
  /// Records of which no revision can be read: a note stands in the place of each that is not deleted.
  package var lost: [String] = []
  /// Records that have only the files that can still be listed.
  package var cut: [CutRecord] = []
  /// What lies in the folder and was left there, since nothing says that it was written by someone who may.
  package var unvouched: [UnvouchedRevision] = []
  /// Why it could not be repaired now; nothing else is said of it then.
  package var failure: VaultError?

  /// A record that lost a part of its list of files.
  package struct CutRecord: Sendable {
    package var path: String
    /// Files that the list still had, and those that an older revision had in the part that is lost.
    package var keptCount: Int
    package var takenBackCount: Int
  }
}

extension Vault {
  /// Rebuilds the manifests of members whose heads or segments are lost or broken, takes records whose newest revision
  /// is lost back to the newest one that can be read, puts a note in the place of those of which none can, and gives records
  /// that lost a part of their list of files a new revision with what is left of it.
  ///
  /// Takes what verified heads lead to, and what is signed by somebody who may write the member now. What else lies there is
  /// taken only where nobody but this person's present devices ever had the keys, or where it is asked for.
  ///
  /// A machine that still has what is lost here brings it back. Docs/Format.md, "Lost records".
  ///
  /// Only adds: nothing is removed, but deleted records of which all is lost from the list where there is no other device. A member
  /// that is whole is left alone, as is one that this person may only read: what they wrote would count for nobody. One that cannot
  /// be repaired keeps no other from it.
  ///
  /// - Parameter taken: The names, in hex, of revisions that nothing vouches for and that this person wants; or how they
  ///   begin.
  ///   - approve: Shown what of a member's is to be taken so, who signed it and why it was left: whether to go on. If not,
  ///     nothing of the member is changed.
  package func repair(
    taking taken: [String] = [], approve: ([UnvouchedRevision]) -> Bool = { _ in true },
    progress: (WorkProgress) -> Void = { _ in }
  ) throws(VaultError) -> [RepairReport] {
    guard !isReadOnly else { throw .readOnly }
    var reports: [RepairReport] = []
    for member in members where member.mayWrite {
      do {
        if let report = try member.repair(taking: taken, approve, progress: progress) {
          audit.note(.repair, member: member.id)
          reports.append(report)
        }
      } catch {
        guard error.concernsOneMember else { throw error }
        reports.append(RepairReport(member: member.name.string, failure: error))
      }
    }
    return reports
  }
}

extension Member {
  /// - Returns: What was done; nil when the member needs no repair.
  fileprivate func repair(
    taking taken: [String], _ approve: ([UnvouchedRevision]) -> Bool,
    progress: (WorkProgress) -> Void
  ) throws(VaultError) -> RepairReport? {
    let rebuilt: RepairReport?
    switch try repairRecords(taking: taken, approve, progress: progress) {
    case .notNeeded: rebuilt = nil
    case .done(let report): rebuilt = report
    case .refused: return nil
    }
    let cut = try repairFileLists()
    guard rebuilt != nil || !cut.isEmpty else { return nil }
    var report = rebuilt ?? RepairReport(member: name.string, recordCount: recordCount)
    report.cut = cut
    return report
  }

  /// Gives each record that lost a part of its list of files a new revision, with the files that are still listed and
  /// those that an older revision lists in the lost part.
  private func repairFileLists() throws(VaultError) -> [RepairReport.CutRecord] {
    var edits: [RecordEdit] = []
    var cut: [RepairReport.CutRecord] = []
    for entry in allEntries() where !entry.isDeleted && !entry.isBare {
      guard let readable = try ifWhole(readableItems(of: revision(entry.revision))) else {
        continue
      }
      if readable.gaps.isEmpty { continue }
      var edit = RecordEdit(record: entry.record)
      edit.leavesOutUnreadable = true
      let older = try itemsBefore(readable, of: entry.record)
      for item in older { edit.items[item.name] = item }
      edits.append(edit)
      cut.append(
        RepairReport.CutRecord(
          path: displayPath(of: entry.record), keptCount: readable.items.count,
          takenBackCount: older.count))
    }
    if edits.isEmpty { return [] }
    if let failure = try commit(edits).failures.values.first { throw failure }
    return cut
  }

  private enum RecordRepair {
    case notNeeded
    case done(RepairReport)
    case refused
  }

  private func repairRecords(
    taking taken: [String], _ approve: ([UnvouchedRevision]) -> Bool,
    progress: (WorkProgress) -> Void
  ) throws(VaultError) -> RecordRepair {
    let unreadable = unreadableRecords()
    guard damageReason != nil || !unreadable.isEmpty || entry(.root) == nil || !taken.isEmpty
    else { return .notNeeded }
    let all = try revisionsInObjects(progress: progress)
    let (isOwn, reached) = (wasNeverShared, self.reached(in: all))
    let wanted = isOwn ? [] : self.unvouched(all, named: taken, reached)
    guard wanted.isEmpty || approve(wanted) else { return .refused }
    let found = try FoundRevisions.sorted(all, named: try namedRevisions()) { found in
      if isOwn || taken.contains(where: found.digest.hex.hasPrefix) { return nil }
      return refusal(of: found, reached)
    } isJoin: { (found) throws(VaultError) in
      guard unreached(found.revision.version, reached, where: reached.isKnown) == nil else {
        return false
      }
      return try isJoin(found.revision, found.digest)
    }
    var report = RepairReport(member: name.string)
    report.unvouched = found.unvouched
    // Without a root there is nothing to go on from: writing that down would hide what is left.
    guard entry(.root) != nil || found.vouched.contains(where: { $0.revision.record == .root })
    else { return .done(report) }
    try adopt(found.vouched)
    let older = older(of: unreadable, in: found, &report)
    report.recordCount = recordCount
    try writeList(without: Set(unreadable.filter { older[$0] == nil }))
    state.withLock { $0.damage = nil }
    try standIn(for: unreadable, from: older)
    return .done(report)
  }

  /// Writes the list anew, without those of these records that were deleted: of what is lost of them nothing is left to wait for, and
  /// no new device takes a list that names it. Another process that has the vault open would name them again, and another device
  /// that may know one bring it back.
  private func writeList(without lost: Set<RecordID>) throws(VaultError) {
    var isDone = false
    if !lost.isEmpty {
      isDone = try context.reading.whileAlone { () throws(VaultError) in
        try commitCheckpoint(dropping: lost, catchesUp: false)
      }
    }
    if !isDone { try commitCheckpoint(catchesUp: false) }
  }

  /// The newest revisions that can be read of records that cannot.
  private func older(
    of records: [RecordID], in found: FoundRevisions, _ report: inout RepairReport
  ) -> [RecordID: NamedRevision] {
    var older: [RecordID: NamedRevision] = [:]
    for record in records {
      guard let best = found.newest(of: record) else {
        report.lost.append(displayPath(of: record))
        continue
      }
      report.wentBack.append(displayPath(of: record))
      older[record] = NamedRevision(best.revision, named: best.digest)
    }
    return older
  }

  /// Those of the revisions that are asked for by name and would be left alone.
  private func unvouched(
    _ all: [FoundRevisions.Found], named taken: [String], _ reached: ReachedCounters
  ) -> [UnvouchedRevision] {
    var seen: Set<ContentDigest> = []
    return all.compactMap { found in
      guard taken.contains(where: found.digest.hex.hasPrefix),
        let refusal = refusal(of: found, reached), seen.insert(found.digest).inserted
      else { return nil }
      return UnvouchedRevision(found, refusal)
    }
  }

  private func adopt(_ found: [FoundRevisions.Found]) throws(VaultError) {
    let own = context.device.id
    let isAlone = wasNeverShared
    try heads.withLock { (heads) throws(VaultError) in
      for one in found {
        // What others say of this device's counters they can make up, and above the greatest there is none.
        if isAlone || one.author?.device == own {
          heads.counterFloor = max(heads.counterFloor, one.revision.version[own])
        }
        for other in one.revision.version.entries where other.device != own {
          heads.repaired[other.device] = max(heads.repaired[other.device] ?? 0, other.counter)
        }
        heads.note(one.revision.time, by: context.clock)
        let entry = try rebuiltEntry(one.revision, named: one.digest)
        state.withLock { _ = $0.take([entry]) }
      }
    }
  }

  /// The records of which a version that counts cannot be read, also one that waits to be joined.
  private func unreadableRecords() -> [RecordID] {
    allEntries().map(\.record).filter { rivals(of: $0).contains(where: isUnreadable) }
  }

  private func isUnreadable(_ entry: RecordEntry) -> Bool {
    do throws(VaultError) {
      _ = try revision(entry.revision)
      return false
    } catch {
      return error.isDamage
    }
  }

  private func rebuiltEntry(
    _ revision: RecordRevision, named name: ContentDigest
  ) throws(VaultError) -> RecordEntry {
    var summary = FrontMatterSummary()
    if let document = revision.document, !document.isDeleted {
      do {
        summary = FrontMatter.summary(
          of: try beginning(of: document, byteCount: RecordDocument.frontMatterLimit))
      } catch {
        guard error.isDamage else { throw error }
      }
    }
    return RecordEntry(revision, named: name, summary: summary)
  }

  /// Every revision object that opens. The kind stands in the header, so that the chunks, which are
  /// most of the bytes, are not read.
  private func revisionsInObjects(
    progress: (WorkProgress) -> Void
  ) throws(VaultError) -> [FoundRevisions.Found] {
    let all = try objects.listed()
    var found: [FoundRevisions.Found] = []
    for (position, object) in all.enumerated() {
      if position % 1024 == 0 {
        progress(
          WorkProgress(label: name.string, done: UInt64(position), total: UInt64(all.count)))
      }
      do {
        guard try objects.kind(of: object.name) == .record else { continue }
        let (digest, bytes) = try objects.opened(object.name, kind: .record)
        // It opens and is none that this version knows: nothing can be built on it.
        guard let revision = try? RecordRevision(decoding: bytes) else { continue }
        found.append(
          FoundRevisions.Found(
            digest: digest, byteCount: object.byteCount, revision: revision,
            author: try author(of: revision, digest, bytes)))
      } catch {
        guard error.isDamage else { throw error }
      }
    }
    return found
  }
}
