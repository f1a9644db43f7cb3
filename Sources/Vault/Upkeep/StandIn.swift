import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// What a repair puts in the place of a revision that cannot be read. Docs/Format.md, "Lost records".
extension Member {
  /// Gives these records, as far as something of them still cannot be read, a revision that goes on from what is lost: before,
  /// nobody takes a head that names that.
  ///
  /// - Parameter found: The newest revisions that can be read; a record that is not among them has none.
  func standIn(
    for records: [RecordID], from found: [RecordID: NamedRevision]
  ) throws(VaultError) {
    if records.isEmpty { return }
    try withWriter { (writer, _) throws(VaultError) in
      for record in records {
        let versions = rivals(of: record)
        if hasLate(among: versions) { continue }
        var lost: [RecordEntry] = []
        for version in versions where try ifWhole(revision(version.revision)) == nil {
          lost.append(version)
        }
        // The first one goes by the newest.
        lost.sort { ($0.time, $0.revision) > ($1.time, $1.revision) }
        var before = found[record]
        for version in lost { before = try writer.standIn(for: version, from: before) }
      }
      _ = try writer.finish()
    }
  }
}

extension CommitWriter {
  /// Writes the stand-in of a lost version: as the record was before or, where nothing of that is left, as far as the entry says
  /// what it was.
  fileprivate mutating func standIn(
    for entry: RecordEntry, from before: NamedRevision?
  ) throws(VaultError) -> NamedRevision {
    // What is lost had not seen one that was written beside it: of that everything counts.
    let isBefore = before.map { entry.version.knows($0) } ?? true
    let mark = LossMark(of: entry.revision)
    var revision = empty(entry, mark)
    let place = revision.place
    if let before, !isBefore || !entry.isDeleted { revision = before.revision }
    // Where the record stood the entry still says.
    if isBefore, revision.place != place {
      (revision.place, revision.placeTime) = (place, LossMark.oldest)
    }
    revision.version = entry.version.joined(with: before?.revision.version ?? VersionVector())
    revision.version[context.device.id] = counter
    // Not of now: nobody has written anything.
    (revision.time, revision.device) = (
      max(entry.time, before?.revision.time ?? .zero).next(now: 0), context.device.id
    )
    revision.previous = ([entry.revision] + (before.map { [$0.digest] } ?? [])).sorted()
    revision.attributes.xattrs = mark.added(to: revision.attributes.xattrs)
    revision.attributesTime = LossMark.oldest
    beginAnew(&revision, over: before?.revision)
    let name = try write(&revision, base: nil, entry: nil)
    return NamedRevision(revision, named: name)
  }

  private func empty(_ entry: RecordEntry, _ mark: LossMark) -> RecordRevision {
    var revision = RecordRevision(
      record: entry.record,
      place: RecordPlace(parent: entry.parent, title: entry.title, isDeleted: entry.isDeleted),
      placeTime: LossMark.oldest,
      attributes: RecordAttributes(
        mode: entry.mode, modified: entry.modified, owner: entry.owner),
      attributesTime: LossMark.oldest, version: VersionVector(), time: entry.time,
      device: context.device.id)
    if !entry.isDeleted {
      let note = mark.note
      revision.document = Item(
        name: .record, file: .random(), size: UInt64(note.count),
        modified: FileTimestamp(milliseconds: context.clock.milliseconds()),
        mediaType: "text/markdown", content: .inline(note), time: LossMark.oldest)
    }
    return revision
  }
}

extension VersionVector {
  /// Whether whoever wrote a revision of this version had seen the other one.
  fileprivate func knows(_ other: NamedRevision) -> Bool {
    names(other.digest) || compare(to: other.revision.version) == .dominates
  }
}
