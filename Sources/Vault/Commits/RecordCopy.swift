import VaultCrypto
import VaultErrors
import VaultModel

/// The edits that make a record of one member anew in another one, with everything below it, under new ids and without its
/// history.
struct RecordCopy {
  private let source: Member
  private let contents: ContentCopy
  private let target: Member
  /// By ids in the source.
  private var records: [RecordID: RecordID] = [:]
  private var files: [FileID: FileID] = [:]
  /// The revisions that were copied.
  private(set) var revisions: [RecordID: ContentDigest] = [:]

  init(from source: Member, to target: Member) {
    (self.source, self.target) = (source, target)
    contents = ContentCopy(source: source, target: target)
  }

  /// - Returns: The record's new id, and the edits, those of what holds others first.
  /// - Throws: `notFound`; `missing`, `damaged`, `away` of what cannot be read: then nothing is copied.
  mutating func edits(
    of record: RecordID, in parent: RecordID
  ) throws(VaultError) -> (record: RecordID, edits: [RecordEdit]) {
    guard record != .root, let top = source.entry(record), !top.isDeleted else {
      throw .notFound(what: "the record")
    }
    var entries = [top]
    var next = 0
    while next < entries.count {
      entries += source.children(of: entries[next].record)
      next += 1
    }
    for entry in entries { records[entry.record] = .random() }
    var edits: [RecordEdit] = []
    for entry in entries {
      guard let new = records[entry.record] else { preconditionFailure("all have new ids") }
      let above = entry.record == record ? nil : entry.parent.flatMap { records[$0] }
      edits.append(try edit(of: entry, as: new, in: above ?? parent))
    }
    return (edits[0].record, edits)
  }

  private mutating func edit(
    of entry: RecordEntry, as new: RecordID, in parent: RecordID
  ) throws(VaultError) -> RecordEdit {
    let revision = try source.revision(entry.revision)
    revisions[entry.record] = entry.revision
    var edit = RecordEdit(
      record: new, isNew: true,
      place: RecordPlace(parent: parent, title: entry.title, isDeleted: false),
      attributes: revision.attributes)
    edit.hasAllNames = true
    for var item in try source.items(of: revision) {
      item.content = try contents.copied(item.content)
      item.file = newFile(item.file)
      // Names of the file in records that stay behind are another file's from now on.
      item.linkRecords = item.linkRecords.compactMap { records[$0] }.sorted()
      edit.items[item.name] = item
    }
    return edit
  }

  private mutating func newFile(_ file: FileID) -> FileID {
    if let known = files[file] { return known }
    let new = FileID.random()
    files[file] = new
    return new
  }
}

extension Vault {
  /// Puts a record with everything in it into another member, as a person does who moves its folder in the mount from one
  /// member to another: there it is new, here it is deleted, and keeps its history.
  ///
  /// What is put there is durable before anything is deleted here: a crash in between leaves both.
  ///
  /// - Returns: The record's id there.
  /// - Throws: `alreadyExists` where something there has the name; `changedMeanwhile` where something of it is changed
  ///   while it is copied, which is not lost: then it stays here; `notFound`, `missing`, `damaged`, `away`.
  package func move(
    _ record: RecordID, of source: Member, into parent: RecordID, of target: Member
  ) throws(VaultError) -> RecordID {
    try move(record, of: source, into: parent, of: target, whenCopied: { () throws(VaultError) in })
  }

  /// - Parameter whenCopied: Called when the copy is there, and nothing is deleted here.
  func move(
    _ record: RecordID, of source: Member, into parent: RecordID, of target: Member,
    whenCopied: () throws(VaultError) -> Void
  ) throws(VaultError) -> RecordID {
    guard let title = source.entry(record)?.title else { throw .notFound(what: "the record") }
    guard try !target.hasAnything(named: title, in: parent) else {
      throw .alreadyExists(what: title.string)
    }
    var copy = RecordCopy(from: source, to: target)
    let (new, edits) = try copy.edits(of: record, in: parent)
    try commit(edits, to: target)
    try whenCopied()
    do throws(VaultError) {
      var removals = try source.edits(deleting: record)
      for position in removals.indices {
        guard let seen = copy.revisions[removals[position].record] else {
          throw .changedMeanwhile(record: removals[position].record)
        }
        removals[position].base = seen
      }
      try commit(removals, to: source)
    } catch {
      // Not whole any more, and the one here is. Where only what comes after a commit has failed, there is none here.
      if stands(record, in: source) { try commit(target.edits(deleting: new), to: target) }
      throw error
    }
    return new
  }

  /// Whether a record is there for certain, and not deleted.
  private func stands(_ record: RecordID, in member: Member) -> Bool {
    // What keeps it from being read anew is told no less: whoever asks throws why the record could not be moved.
    guard (try? member.refresh()) != nil else { return false }
    return member.entry(record)?.isDeleted == false
  }
}
