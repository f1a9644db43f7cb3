/// Says of a revision that it stands in the place of one that a repair could not read. `Docs/Format.md` section 10, "Lost
/// records".
///
/// It goes on from the lost one, so that nobody waits for that any more; and whoever still has that one knows by the mark that it
/// was replaced unseen.
package struct LossMark: Hashable, Sendable {
  /// The revision that could not be read.
  package var lost: ContentDigest
  /// When that was written, as its entry says: what the stand-in holds of it or of before is no later.
  package var time: HybridTime

  package init(of lost: ContentDigest, writtenAt time: HybridTime) {
    self.lost = lost
    self.time = time
  }

  /// The extended attribute's name.
  static let xattrName = Array("user.kinvault.lost".utf8)

  /// The mark among these attributes; nil if there is none, or it does not parse.
  package init?(_ xattrs: [Xattr]) {
    guard let xattr = xattrs.first(where: { $0.name == Self.xattrName }) else { return nil }
    let words = String(decoding: xattr.value, as: UTF8.self).split(separator: " ")
    guard words.count == 2, let lost = ContentDigest(hex: words[0]),
      let time = UInt64(words[1]).map(HybridTime.init(rawValue:)), time < .last
    else { return nil }
    self.init(of: lost, writtenAt: time)
  }

  /// These attributes with the mark; it alone where there is no room for them all.
  package func added(to xattrs: [Xattr]) -> [Xattr] {
    let value = Array("\(lost.hex) \(time.rawValue)".utf8)
    let own = Xattr(name: Self.xattrName, value: value)
    let all = xattrs.filter { $0.name != Self.xattrName } + [own]
    do { return try all.validated() } catch { return [own] }
  }

  /// As which type lists show a record of which nothing could be read.
  package static let type = "lost"
  /// Of the parts of a stand-in that nobody has written: older than anything that somebody has, so that this counts as soon as it is
  /// brought back.
  package static let oldest = HybridTime(rawValue: 1)

  /// The note of a record of which nothing could be read.
  package var note: [UInt8] {
    Array(
      """
      ---
      type: \(Self.type)
      revision: \(lost.hex)
      ---
      What this record held could not be read any more on the machine that repaired it.
      If another machine still has it, it comes back by itself when that one syncs.

      """.utf8)
  }
}

extension RecordRevision {
  /// What it stands in the place of; nil for any other. An edit of a stand-in keeps the mark, and is none.
  package var lossMark: LossMark? {
    LossMark(attributes.xattrs).flatMap { previous.contains($0.lost) ? $0 : nil }
  }

  /// Whether it is a stand-in, and has this part of itself from what it stands in the place of, or from before: that lost to nobody.
  package func isOfBefore(_ part: Join.Loser.Part) -> Bool {
    guard let lossMark else { return false }
    return switch part {
    case .item(let item): item.time <= lossMark.time
    case .place: placeTime <= lossMark.time
    }
  }
}

extension RecordEntry {
  /// Whether its revision may be a stand-in, or have come after one, for another entry's: whoever wants to know looks into it.
  package func mayStandIn(for other: RecordEntry) -> Bool {
    type == LossMark.type || time == other.time.next(now: 0)
  }
}
