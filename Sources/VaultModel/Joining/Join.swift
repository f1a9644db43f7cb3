/// Joins two concurrent revisions of one record into one: `Docs/Format.md` section 10.
///
/// Commutative, associative and idempotent in all that the record holds: whichever revisions meet
/// where, and in which order, every device comes to the same record. Two devices that join the same two revisions write the
/// same bytes.
package enum Join {
  /// A part of a revision that was changed and did not get into the join; the caller keeps it.
  package struct Loser: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
      case item(Item)
      case place(RecordPlace)
    }

    package var part: Part
    /// The revision that it stands in.
    package var revision: ContentDigest

    package init(part: Part, revision: ContentDigest) {
      self.part = part
      self.revision = revision
    }
  }

  /// A joined revision, and what did not get into it.
  package struct Outcome: Sendable {
    package var merged: RecordRevision
    package var losers: [Loser]
    /// Files that may have other names, of which the two revisions have different items.
    package var metFiles: [FileID: MetFile] = [:]
  }

  /// The join of two revisions of one record.
  ///
  /// Each part (the place, the attributes, each item) is the later one; of two of one time the one whose encoding is
  /// bytewise greater. `previous` names both; time and device are those of the later revision. It is
  /// not signed: its parts are.
  ///
  /// - Parameters:
  ///   - base: the newest revision that both replaced, if the caller can tell. What stands unchanged
  ///     in it did not lose, it was replaced knowingly; without a base, whatever differs is a loser.
  ///   - load: gives the item pages of all of them.
  /// - Returns: the join; the losers, sorted by name within a revision, those of `first` first. An item lost if the join's item
  ///   of its name has other content, or if the other revision deletes the record, its own does not, and the join deletes the
  ///   record or the item.
  package static func merge(
    _ first: NamedRevision, _ second: NamedRevision, base: RecordRevision? = nil,
    load: ItemTree.Load
  ) throws -> Outcome {
    let (a, b) = (first.revision, second.revision)
    precondition(a.record == b.record, "only revisions of one record can be joined")
    guard first.digest != second.digest else { return Outcome(merged: a, losers: []) }
    var met: [FileID: MetFile] = [:]
    var (left, right, merged) = (a, b, a)
    merged.version = a.version.joined(with: b.version)
    merged.previous = [first.digest, second.digest].sorted()
    merged.signature = nil
    let aIsLater = (a.time, a.device) > (b.time, b.device)
    (merged.time, merged.device) = aIsLater ? (a.time, a.device) : (b.time, b.device)
    merged.unknown = later((a.time, a.unknown), (b.time, b.unknown)).1
    (merged.placeTime, merged.place) = later((a.placeTime, a.place), (b.placeTime, b.place))
    (merged.attributesTime, merged.attributes) = later(
      (a.attributesTime, a.attributes), (b.attributesTime, b.attributes))
    var lost = LostItems(base: base)
    func pair(_ left: Item?, _ right: Item?) throws {
      try join(left, right, into: &merged, &lost, load)
      guard let left, let right, left != right else { return }
      let linked = [left, right].filter { !$0.linkRecords.isEmpty }
      if linked.isEmpty { return }
      let files = Set(linked.map(\.file))
      let known = try lost.base?.item(named: left.name, load: load)
      for item in [left, right] where files.contains(item.file) {
        met[item.file, default: MetFile()].add(item, in: a.record, known: known)
      }
    }
    try pair(left.document, right.document)
    try left.items.forEachDifference(to: &right.items, load: load, pair)
    try lost.addDeleted(left, right, &merged, load)
    let losers =
      lostPlace(first, merged, base) + lost.losers(fromLeft: true, first.digest)
      + lostPlace(second, merged, base) + lost.losers(fromLeft: false, second.digest)
    return Outcome(merged: merged, losers: losers, metFiles: met)
  }

  private static func join(
    _ left: Item?, _ right: Item?, into merged: inout RecordRevision, _ lost: inout LostItems,
    _ load: ItemTree.Load
  ) throws {
    guard left != right else { return }
    guard let left, let right else {
      if let only = left ?? right { try merged.set(only, load: load) }
      return
    }
    let takesLeft = right.loses(to: left)
    let (taken, other) = takesLeft ? (left, right) : (right, left)
    try merged.set(taken.knowing(other.linkRecords), load: load)
    if !left.hasContent(of: right) {
      try lost.add(takesLeft ? right : left, isLeft: !takesLeft, load)
    }
  }

  private static func later<Part: CanonicalBytes>(
    _ a: (HybridTime, Part), _ b: (HybridTime, Part)
  ) -> (HybridTime, Part) {
    if a.0 != b.0 { return a.0 > b.0 ? a : b }
    return b.1.canonicalBytes.lexicographicallyPrecedes(a.1.canonicalBytes) ? a : b
  }

  private static func lostPlace(
    _ side: NamedRevision, _ merged: RecordRevision, _ base: RecordRevision?
  ) -> [Loser] {
    let place = side.revision.place
    guard place != merged.place, place != base?.place, !place.isDeleted else { return [] }
    return [Loser(part: .place(place), revision: side.digest)]
  }
}

/// Gathers the items that a join leaves out.
private struct LostItems {
  var base: RecordRevision?
  private var lefts: [FileName: Item] = [:]
  private var rights: [FileName: Item] = [:]

  init(base: RecordRevision?) { self.base = base }

  mutating func add(_ item: Item, isLeft: Bool, _ load: ItemTree.Load) throws {
    guard !item.isDeleted else { return }
    if let known = try base?.item(named: item.name, load: load), known.hasContent(of: item),
      !item.isDecided(over: known)
    {
      return
    }
    keep(item, isLeft: isLeft)
  }

  private mutating func keep(_ item: Item, isLeft: Bool) {
    if isLeft { lefts[item.name] = item } else { rights[item.name] = item }
  }

  /// Of a record that one side deletes: adds what was changed in the other's revision, if the join deletes it; else, since
  /// it was moved later, whatever was deleted in it before.
  mutating func addDeleted(
    _ left: RecordRevision, _ right: RecordRevision, _ merged: inout RecordRevision,
    _ load: ItemTree.Load
  ) throws {
    guard left.place.isDeleted != right.place.isDeleted else { return }
    var live = left.place.isDeleted ? right : left
    for item in try live.items.all(load: load) + [live.document].compactMap(\.self) {
      if merged.place.isDeleted {
        try add(item, isLeft: !left.place.isDeleted, load)
      } else if !item.isDeleted, try merged.item(named: item.name, load: load)?.isDeleted == true {
        keep(item, isLeft: !left.place.isDeleted)
      }
    }
  }

  func losers(fromLeft: Bool, _ revision: ContentDigest) -> [Join.Loser] {
    (fromLeft ? lefts : rights).values.sorted { $0.name < $1.name }.map {
      Join.Loser(part: .item($0), revision: revision)
    }
  }
}
