import Vault
import VaultModel

/// What of a member waits for a commit.
struct PendingEdits {
  var edits: [RecordEdit] = []
  /// The objects that the edits need, as far as no commit has them.
  var objects: [[StoredObject]] = []
  /// What still waits when the edits are committed.
  var remaining: [RecordID: PendingRecord] = [:]
}

extension MemberView {
  /// What is pending, as edits; moves it from `pending` to `inFlight`.
  ///
  /// - Parameter latest: Where there is something to commit, it takes all times along if one waits since then or longer, or
  ///   if they are many: their nodes stay in memory meanwhile.
  func collectEdits(andTimesSince latest: ContinuousClock.Instant) -> PendingEdits {
    var edits = pendingEdits
    let areDue = touched.count > Self.touchedLimit || touched.values.contains { $0.since <= latest }
    if areDue, !edits.edits.isEmpty {
      releaseTimes()
      edits = pendingEdits
    }
    for edit in edits.edits {
      inFlight[edit.record] = pending[edit.record]
      guard edit.modified != nil || edit.attributes != nil else { continue }
      if let time = touched.removeValue(forKey: edit.record), edit.modified != nil {
        inFlight[edit.record]?.time = time
      }
    }
    pending = edits.remaining
    return edits
  }

  private static let touchedLimit = 1_000

  /// What is pending, as edits.
  var pendingEdits: PendingEdits {
    var edits = PendingEdits()
    for (record, change) in pending {
      guard let node = directories[record] else {
        preconditionFailure("a directory that changed is kept until it is committed")
      }
      if change.isNew, node.isRemoved { continue }
      var edit = RecordEdit(record: record, isNew: change.isNew)
      edit.seen = change.seen
      edit.hasAllNames = true
      edit.isOfView = true
      if change.place || change.isNew { edit.place = node.place }
      edit.seenPlace = change.seenPlace
      addItems(of: change, in: node, to: &edit, &edits)
      let isChanged = edit.place != nil || !edit.items.isEmpty
      if change.attributes || change.isNew {
        edit.attributes = node.recordAttributes
      } else if let time = change.time ?? (isChanged ? touched[record] : nil) {
        edit.modified = RecordEdit.Touch(time: node.modified, over: time.committed)
      }
      if isChanged || edit.attributes != nil || edit.modified != nil { edits.edits.append(edit) }
    }
    return edits
  }

  /// Adds to a record's edit which of its items differ, and to the edits the objects that these need, and what remains of them.
  private func addItems(
    of change: PendingRecord, in node: DirectoryNode, to edit: inout RecordEdit,
    _ edits: inout PendingEdits
  ) {
    var later = PendingRecord()
    for (name, isCommitted) in change.items {
      switch slot(name, in: edit.record) {
      case .stored(let item):
        edit.items[name] = item
        edit.unchangedFiles[name] = item.fileTime
      case .node(let file) where file.isPublished:
        edit.items[name] = file.item(named: name)
        if !file.hasOwnState { edit.unchangedFiles[name] = file.committed.changed }
        // Where others may have given it a name meanwhile the commit looks for itself.
        if !file.unseenLinkRecords.isEmpty { edit.hasAllNames = false }
        if !file.objects.isEmpty { edits.objects.append(file.objects) }
      case .node:
        // Never flushed: nobody counts on it yet. What it replaced is gone.
        later.items[name] = isCommitted
        if isCommitted { edit.items.updateValue(nil, forKey: name) }
      case nil:
        // Only of a directory that is here it can be said that a name is gone.
        if isCommitted, node.files != nil { edit.items.updateValue(nil, forKey: name) }
      }
    }
    if !later.items.isEmpty { edits.remaining[edit.record] = later }
  }
}
