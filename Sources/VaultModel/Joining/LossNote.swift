/// The note of a record of which no revision can be read any more, as a repair leaves it. `Docs/Format.md` section 10.
///
/// The revision that has it goes on from the one that is lost, so that nobody waits for that any more; and whoever still has
/// it knows by the note that it was replaced unseen.
package enum LossNote {
  /// As which type lists show such a record.
  package static let type = "lost"
  /// Of the note, and of all else in such a revision: older than anything that somebody has written, so that this counts as soon
  /// as it is brought back.
  package static let time = HybridTime(rawValue: 1)

  /// The whole note, for the revision that could not be read.
  package static func text(of lost: ContentDigest) -> [UInt8] {
    Array(
      """
      ---
      type: \(type)
      revision: \(lost.hex)
      ---
      What this record held could not be read any more on the machine that repaired it.
      If another machine still has it, it comes back by itself when that one syncs.

      """.utf8)
  }
}

extension RecordRevision {
  /// Whether it stands in the place of this revision, which its writer could not read.
  package func standsIn(for lost: ContentDigest) -> Bool {
    previous.contains(lost) && document?.content == .inline(LossNote.text(of: lost))
  }
}

extension Join.Loser {
  /// Whether it is a note that only stood in the place of what is there again: nothing of it is anybody's.
  package var isLossNote: Bool {
    guard case .item(let item) = part else { return false }
    return item.name == .record && item.time == LossNote.time
  }
}
