import VaultErrors
import VaultModel
import VaultObjects

/// How a deleted record comes back, with what was deleted together with it.
package struct Undeletion {
  /// From the top down.
  package fileprivate(set) var edits: [RecordEdit] = []
  /// Records below it of which what they were cannot be had, and why. What stood in them stays deleted with them, so that
  /// nothing stands in what is gone.
  package fileprivate(set) var left: [(record: RecordID, error: VaultError)] = []

  /// Whether there is anything that was deleted and has not come back.
  package var isOfAny: Bool { !edits.isEmpty || !left.isEmpty }
}

extension RecordRestore {
  /// Brings back a deleted record, with the deleted records below it that went at the same time; those above it too, where
  /// they are deleted. Of one that is back, what was left then.
  ///
  /// - Throws: `alreadyExists` if another record has taken its place; `notFound`, `missing`, `damaged` of the record itself; `away`
  ///   of what a lazy vault cannot have now.
  package func undeletion(of record: RecordID) throws(VaultError) -> Undeletion {
    guard let entry = member.entry(record) else { throw .notFound(what: "the record") }
    var plan = Undeletion()
    if entry.isDeleted {
      plan.edits = try edits(makingRoomFor: entry)
      plan.edits.append(try edit(undeleting: entry))
    }
    if let deletion = try self.deletion(of: entry) {
      try append(below: entry, deletion, to: &plan)
    }
    return plan
  }

  /// When a record was deleted, and when it came back.
  private struct Deletion {
    /// Records below a deleted one that were deleted at most this long before it went with it.
    private static let gap: UInt64 = 600_000

    let time: HybridTime
    /// Nil while it is deleted.
    var end: HybridTime?

    /// Whether another record, which is deleted, was so together with it.
    func includes(_ entry: RecordEntry) -> Bool {
      if let end, entry.time > end { return false }
      let gap = time.milliseconds.subtractingReportingOverflow(entry.time.milliseconds)
      return gap.overflow || gap.partialValue <= Self.gap
    }
  }

  /// The record's last deletion; nil where its history knows of none.
  private func deletion(of entry: RecordEntry) throws(VaultError) -> Deletion? {
    if entry.isDeleted { return Deletion(time: entry.time) }
    let history = try member.history(of: entry.record)
    guard let last = history.firstIndex(where: { $0.revision.place.isDeleted }), last > 0 else {
      return nil
    }
    return Deletion(time: history[last].revision.time, end: history[last - 1].revision.time)
  }

  private func append(
    below top: RecordEntry, _ deletion: Deletion, to plan: inout Undeletion
  ) throws(VaultError) {
    let children = Dictionary(grouping: member.allEntries(), by: \.parent)
    var waiting = [top]
    var seen: Set<RecordID> = [top.record]
    while let next = waiting.popLast() {
      for child in children[next.record] ?? [] where seen.insert(child.record).inserted {
        if child.isDeleted {
          guard deletion.includes(child) else { continue }
          do { plan.edits.append(try wholeEdit(undeleting: child)) } catch {
            switch error {
            case .damaged, .missing, .notFound, .gone: plan.left.append((child.record, error))
            default: throw error
            }
            continue
          }
        }
        waiting.append(child)
      }
    }
  }

  private func edit(undeleting entry: RecordEntry) throws(VaultError) -> RecordEdit {
    try edit(of: entry.record, to: revisionBeforeDeletion(of: entry.record).revision)
  }

  /// The same of a record of which everything is here: what is not would keep all the others from coming back.
  ///
  /// - Throws: `missing`, `damaged`, `gone` of what is not; `away` of what cannot be had now.
  private func wholeEdit(undeleting entry: RecordEntry) throws(VaultError) -> RecordEdit {
    let before = try revisionBeforeDeletion(of: entry.record)
    var failure: VaultError?
    _ = MemberWalk(member: member, readsAhead: true).walk(
      revision: before.digest, of: entry.record, isOnlyInHistory: true,
      visit: { object in
        guard failure == nil, object.kind == .chunk else { return }
        failure = lack(of: object.digest, in: entry.record)
      }, fail: { failure = failure ?? $1 })
    if let failure { throw failure }
    return try edit(of: entry.record, to: before.revision)
  }

  /// What a commit would say of a chunk that nobody has. One that a lazy vault keeps elsewhere is brought here.
  private func lack(of chunk: ContentDigest, in record: RecordID) -> VaultError? {
    do {
      try member.objects.fetchIfAway(chunk)
      if try member.objects.isPresent(chunk) { return nil }
      return .missing(path: member.objects.path(of: chunk).string)
    } catch {
      guard case .gone(let path, _) = error else { return error }
      return .gone(path: path, record: record)
    }
  }
}
