import Notes
import VaultCrypto
import VaultErrors
import VaultModel

extension RecordID {
  /// The same on every device that makes the record: an id of what is hashed.
  static func derived(_ label: String, _ context: [UInt8]) -> RecordID {
    let digest = Digest.sha256(Array(label.utf8) + [0] + context)
    guard let id = RecordID(digest.bytes.prefix(byteCount)) else {
      preconditionFailure("a hash is longer than a record id")
    }
    return id
  }
}

extension RecordEdit {
  /// Makes a record, empty so far.
  package init(new record: RecordID, titled title: FileName, in parent: RecordID) {
    self.init(
      record: record, isNew: true,
      place: RecordPlace(parent: parent, title: title, isDeleted: false),
      attributes: RecordAttributes(mode: 0o700, modified: .now))
  }
}

extension FileName {
  /// What a record of this date is called: `2025-01-20 COVID-19`. Nil for what no folder can be called.
  package init?(date: String, title: String) {
    let trimmed = title.drop(while: \.isWhitespace)
    guard !trimmed.isEmpty else { return nil }
    self.init(date.isEmpty ? String(trimmed) : "\(date) \(trimmed)")
  }
}

extension Member {
  /// Where records of a type go, and the edit that makes the folder where there is none.
  package func place(for type: RecordType) -> (parent: RecordID, edits: [RecordEdit]) {
    guard let folder = FileName(type.folder) else { preconditionFailure("a type without folder") }
    if let found = child(named: folder, of: .root) { return (found, []) }
    let edit = RecordEdit(new: freeFolder(named: folder) ?? .random(), titled: folder, in: .root)
    return (edit.record, [edit])
  }

  /// The record that a folder of this name in the member's own becomes: the same on every device, so that two which make it
  /// before they have met make one. Nil for a folder that is of no type, and where the record was there before, wherever
  /// it is by now.
  package func freeFolder(named name: FileName) -> RecordID? {
    guard RecordType.allCases.contains(where: { $0.folder == name.string }) else { return nil }
    let record = RecordID.derived("kinvault type folder", id.bytes + name.bytes)
    return entry(record) == nil ? record : nil
  }

  /// The edits that delete a record with everything below it, as all that is now and nothing later. What they held stays
  /// in their history, and `RecordRestore` brings it back.
  ///
  /// - Throws: `notFound` for a record that is not there, or the root.
  package func edits(deleting record: RecordID) throws(VaultError) -> [RecordEdit] {
    guard record != .root, let top = entry(record), !top.isDeleted else {
      throw .notFound(what: "the record")
    }
    var found = [top]
    var next = 0
    while next < found.count {
      found += children(of: found[next].record)
      next += 1
    }
    // From the bottom up, so that nothing ever stands in what is gone.
    return found.reversed().map { entry in
      var edit = RecordEdit(
        record: entry.record,
        place: RecordPlace(parent: entry.parent, title: entry.title, isDeleted: true))
      edit.base = entry.revision
      return edit
    }
  }
}
