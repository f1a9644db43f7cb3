/// Says of a revision that it stands in the place of one that a repair could not read. `Docs/Format.md` section 10, "Lost
/// records".
///
/// It goes on from the lost one, so that nobody waits for that any more; and whoever still has that one knows by the mark that it
/// was replaced unseen.
package struct LossMark: Hashable, Sendable {
  /// The revision that could not be read.
  package var lost: ContentDigest

  package init(of lost: ContentDigest) { self.lost = lost }

  /// The extended attribute's name.
  static let xattrName = Array("user.kinvault.lost".utf8)

  /// The mark among these attributes; nil if there is none, or it does not parse.
  package init?(_ xattrs: [Xattr]) {
    guard let xattr = xattrs.first(where: { $0.name == Self.xattrName }),
      let lost = ContentDigest(hex: String(decoding: xattr.value, as: UTF8.self))
    else { return nil }
    self.init(of: lost)
  }

  /// These attributes with the mark; it alone where there is no room for them all.
  package func added(to xattrs: [Xattr]) -> [Xattr] {
    let own = Xattr(name: Self.xattrName, value: Array(lost.hex.utf8))
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
  /// The mark of a stand-in, or of one that this is an edit of; nil for any other.
  package var lossMark: LossMark? { LossMark(attributes.xattrs) }

  /// Whether it goes on from the revision of its mark as a stand-in does, without having seen it. An edit of a stand-in is none.
  package var isStandIn: Bool { lossMark.map { previous.contains($0.lost) } ?? false }

  /// Whether a stand-in, or one before this, has this part of itself: nobody has written it, so that it loses to nobody.
  package func isNobodys(_ part: Join.Loser.Part) -> Bool {
    switch part {
    case .item(let item): item.time == LossMark.oldest
    case .place: placeTime == LossMark.oldest
    }
  }
}
