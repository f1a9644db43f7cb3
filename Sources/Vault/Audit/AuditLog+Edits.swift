import VaultModel

extension AuditLog {
  /// Notes what a commit has done with edits: what was made, changed and deleted. Everyone with access is told of records and
  /// files that were deleted.
  ///
  /// - Parameter replaced: Names of a record whose files will be there again with a later commit: programs that write a file
  ///   anew take the old one away first.
  package func note(
    _ edits: [RecordEdit], of commit: Commit, in member: MemberID,
    butFor replaced: (RecordID) -> Set<FileName> = { _ in [] }
  ) {
    let committed = Set(commit.entries.map(\.record))
    for edit in edits where committed.contains(edit.record) && !edit.isOfTimeAlone {
      let action: AuditAction =
        edit.isNew ? .create : edit.place?.isDeleted == true ? .delete : .write
      var removed = commit.removed[edit.record, default: []].filter { !$0.isAside }
      removed.subtract(replaced(edit.record))
      if action == .delete { removed = [] }
      note(removed: removed, from: edit.record, in: member)
      let written = edit.items.keys.filter { !removed.contains($0) }
      if action == .write, written.isEmpty, !removed.isEmpty { continue }
      note(
        action, member: member, record: edit.record, name: written.count == 1 ? written[0] : nil)
    }
  }

  /// Notes files that were changed, and could not be saved when the process ended.
  func note(unsaved edits: [RecordEdit], of member: MemberID, _ detail: String) {
    for edit in edits where !edit.isOfTimeAlone {
      let names = edit.items.keys.sorted()
      if names.isEmpty || names.count > Self.unsavedFileLimit {
        note(
          .unsaved, member: member, record: edit.record,
          detail: names.isEmpty ? detail : "\(detail): \(names.count) files")
        continue
      }
      for name in names {
        note(.unsaved, member: member, record: edit.record, name: name, detail: detail)
      }
    }
  }

  /// Of many files at once it is told how many.
  private func note(removed names: Set<FileName>, from record: RecordID, in member: MemberID) {
    guard names.count <= Self.removedFileLimit else {
      return note(.delete, member: member, record: record, detail: "\(names.count) files")
    }
    for name in names.sorted() { note(.delete, member: member, record: record, name: name) }
  }

  private static let removedFileLimit = 8
  private static let unsavedFileLimit = 64
}

extension FileName {
  /// Whether it is as programs call what they put aside for themselves: locks, and copies while they save.
  fileprivate var isAside: Bool {
    bytes.first == UInt8(ascii: ".") || bytes.last == UInt8(ascii: "~")
  }
}
