import VaultCrypto
import VaultErrors
import VaultModel

/// What a repair puts in the place of a record of which no revision can be read. Docs/Format.md, "Lost records".
extension Member {
  /// Gives these records, as far as they are known and still cannot be read, a revision that goes on from the one that is lost:
  /// no other device takes a head that names it before.
  func standIn(for lost: [RecordID]) throws(VaultError) {
    if lost.isEmpty { return }
    try withWriter { (writer, _) throws(VaultError) in
      for record in lost where !hasLate(among: rivals(of: record)) {
        guard let entry = entry(record), try ifWhole(revision(entry.revision)) == nil else {
          continue
        }
        try writer.standIn(for: entry)
      }
      _ = try writer.finish()
    }
  }
}

extension CommitWriter {
  /// Writes the stand-in of a record's lost revision, as far as its entry says what that was.
  fileprivate mutating func standIn(for entry: RecordEntry) throws(VaultError) {
    var version = member.rivals(of: entry.record).reduce(VersionVector()) {
      $0.joined(with: $1.version)
    }
    version[context.device.id] = counter
    var revision = RecordRevision(
      record: entry.record,
      place: RecordPlace(parent: entry.parent, title: entry.title, isDeleted: entry.isDeleted),
      placeTime: LossNote.time,
      attributes: RecordAttributes(
        mode: entry.mode, modified: entry.modified, owner: entry.owner),
      attributesTime: LossNote.time, version: version, time: max(time, entry.time.next(now: 0)),
      device: context.device.id, previous: [entry.revision])
    if !entry.isDeleted {
      let note = LossNote.text(of: entry.revision)
      revision.document = Item(
        name: .record, file: .random(), size: UInt64(note.count),
        modified: FileTimestamp(milliseconds: context.clock.milliseconds()),
        mediaType: "text/markdown", content: .inline(note), time: LossNote.time)
    }
    makeRoom(in: &revision)
    try write(&revision, base: nil, entry: nil)
  }
}
