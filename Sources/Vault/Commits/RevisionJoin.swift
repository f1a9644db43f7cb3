import VaultErrors
import VaultModel

/// Joins revisions of one record that knew nothing of each other, and finds what of them has to be kept beside.
struct RevisionJoin {
  /// The joined revision, not stored yet, and what lost.
  struct Outcome {
    var merged: RecordRevision
    var copies: [ConflictCopy]
    var metFiles: [FileID: MetFile]
  }

  /// A record edited this often or more without the others knowing keeps the version before as well.
  static let manyEdits = 4
  /// How far back a common ancestor is looked for.
  private static let depthLimit = 1024

  let member: Member

  /// - Throws: `missing` or `damaged` when a page of either cannot be read.
  func run(_ a: NamedRevision, _ b: NamedRevision) throws(VaultError) -> Outcome {
    let (steps, found) = try bases(of: a, b)
    let newestFirst = found.sorted {
      ($0.revision.time, $0.digest) > ($1.revision.time, $1.digest)
    }
    for base in newestFirst {
      // One of which something cannot be read is as good as gone: by an older one, or by none, more counts as changed, and is kept.
      if let outcome = try ifWhole(run(a, b, base: base, steps: steps)) { return outcome }
    }
    return try run(a, b, base: nil, steps: steps)
  }

  /// - Parameter steps: How many revisions came after the base on the longer side.
  private func run(
    _ a: NamedRevision, _ b: NamedRevision, base: NamedRevision?, steps: Int
  ) throws(VaultError) -> Outcome {
    var outcome = try pages(member.loadPage) { load in
      try Join.merge(a, b, base: base?.revision, load: load)
    }
    outcome.losers.removeAll { loser in
      [a, b].contains { $0.digest == loser.revision && $0.revision.isNobodys(loser.part) }
    }
    if a.revision.place.isDeleted != b.revision.place.isDeleted, !outcome.merged.place.isDeleted {
      try noteNamesThatComeBack(in: &outcome, base: base?.revision)
    }
    var copies: [ConflictCopy] = []
    for (side, other) in [(a, b), (b, a)] {
      let losers = outcome.losers.filter { $0.revision == side.digest }
      copies += try self.copies(of: losers, in: side, other: other)
    }
    if let base, !outcome.losers.isEmpty, steps >= Self.manyEdits {
      copies.append(try whole(base))
    }
    return Outcome(merged: outcome.merged, copies: copies, metFiles: outcome.metFiles)
  }

  /// Names of files in a record that one side deletes, and that comes back: who changed such a file after that, under another name,
  /// did not change it there.
  private func noteNamesThatComeBack(
    in outcome: inout Join.Outcome, base: RecordRevision?
  ) throws(VaultError) {
    for item in try member.items(of: outcome.merged) where !item.linkRecords.isEmpty {
      var known: Item?
      if let base { known = try member.item(named: item.name, of: base) }
      outcome.metFiles[item.file, default: MetFile()]
        .add(item, in: outcome.merged.record, known: known)
    }
  }

  /// The ancestors of two revisions that the other one knew, and how many revisions came after the oldest.
  ///
  /// What a stand-in replaced it has not seen: that is no base for what comes after it, also where somebody has it again.
  private func bases(
    of a: NamedRevision, _ b: NamedRevision
  ) throws(VaultError) -> (steps: Int, bases: [NamedRevision]) {
    var (pastOfA, pastOfB) = (Past(), Past())
    while true {
      let (beforeA, beforeB) = (pastOfA, pastOfB)
      let ofA = try bases(of: a, knownTo: b.revision.version, &pastOfA, beside: pastOfB)
      let ofB = try bases(of: b, knownTo: a.revision.version, &pastOfB, beside: pastOfA)
      if pastOfA.isAsGood(as: beforeA), pastOfB.isAsGood(as: beforeB) {
        return (max(ofA.steps, ofB.steps), ofA.bases + ofB.bases)
      }
    }
  }

  /// What the ways back from a revision have shown.
  private struct Past {
    /// What stand-ins have replaced.
    var lost: Set<ContentDigest> = []
    /// Of these, what cannot be read here: what such a one had seen nobody knows.
    var unreadable: Set<ContentDigest> = []
    var reached: Set<ContentDigest> = []

    /// Whether who goes by it comes to the same as by what was known before.
    func isAsGood(as before: Past) -> Bool {
      lost == before.lost && (unreadable.isEmpty || reached == before.reached)
    }

    /// Whether whoever wrote what has this past had not seen a revision, though its version says so.
    func lacks(_ parent: NamedRevision) -> Bool {
      if lost.contains(parent.digest) { return true }
      if unreadable.isEmpty || reached.contains(parent.digest) { return false }
      // What has the mark itself came after the stand-in.
      return parent.revision.lossMark.map { !unreadable.contains($0.lost) } ?? true
    }
  }

  /// The ancestors of a revision that the other side knew, the first on each way to it, and how many revisions came after the
  /// oldest; none when they are no longer kept, or cannot be read.
  ///
  /// - Parameters:
  ///   - past: What is found on the way is added; what stand-ins on it replaced is passed over.
  ///   - others: The same of the other side.
  private func bases(
    of start: NamedRevision, knownTo other: VersionVector, _ past: inout Past, beside others: Past
  ) throws(VaultError) -> (steps: Int, bases: [NamedRevision]) {
    var steps = 0
    var level = [start]
    var seen: Set<ContentDigest> = [start.digest]
    var found: [NamedRevision] = []
    while !level.isEmpty, steps < Self.depthLimit {
      var next: [NamedRevision] = []
      for child in level {
        if let mark = child.revision.lossMark, past.lost.insert(mark.lost).inserted,
          try ifWhole(named(mark.lost)) == nil
        {
          past.unreadable.insert(mark.lost)
        }
        for digest in child.revision.previous where seen.insert(digest).inserted {
          guard let parent = try ifWhole(named(digest)) else { continue }
          past.reached.insert(digest)
          if parent.isKnown(to: other), !past.lost.contains(digest), !others.lacks(parent) {
            found.append(parent)
          } else {
            next.append(parent)
          }
        }
      }
      steps += 1
      level = next
    }
    return (steps, found)
  }

  private func named(_ digest: ContentDigest) throws(VaultError) -> NamedRevision {
    NamedRevision(try member.revision(digest), named: digest)
  }

  // MARK: What lost

  private func copies(
    of losers: [Join.Loser], in side: NamedRevision, other: NamedRevision
  ) throws(VaultError) -> [ConflictCopy] {
    guard !losers.isEmpty else { return [] }
    // Deleted by the others: the edited version is kept whole, since nothing of it shows any more, or only its folder.
    if other.revision.place.isDeleted, !side.revision.place.isDeleted {
      guard losers.allSatisfy({ isAsKept($0.part, in: side.revision) }) else {
        return [try whole(side)]
      }
      return try keptAside(losers, in: side) { (item) throws(VaultError) in
        try !hasHeld(item, other.digest)
      }
    }
    var copies = try keptAside(losers, in: side) { (item) throws(VaultError) in
      try isUnseen(item, by: other.digest)
    }
    copies += try copiesByMark(of: losers, in: side)
    return copies.sorted { $0.mark.time < $1.mark.time }
  }

  /// A copy for each device that wrote something of what lost, and each time at which it did; in no order.
  private func copiesByMark(
    of losers: [Join.Loser], in side: NamedRevision
  ) throws(VaultError) -> [ConflictCopy] {
    var byMark: [ConflictMark: ConflictCopy] = [:]
    for loser in losers where !isAsKept(loser.part, in: side.revision) {
      let time: HybridTime
      var title = side.revision.place.title
      switch loser.part {
      case .item(let item): time = item.time
      case .place(let place):
        time = side.revision.placeTime
        title = place.title
      }
      let mark = ConflictMark(
        record: side.revision.record, device: try author(of: loser.part, in: side), time: time)
      var copy = byMark[mark] ?? ConflictCopy(mark: mark, title: title, items: [])
      switch loser.part {
      case .item(let item): copy.items.append(item)
      case .place: copy.title = title
      }
      byMark[mark] = copy
    }
    return byMark.values.map { copy in
      var copy = copy
      if copy.items.isEmpty { copy.addNoteOfPlace() }
      return copy
    }
  }

  /// Whether a part of a revision is a conflict's copy, or where that stands, with nothing changed since it was kept: nobody
  /// has edited it, so as a rule no copy of it is needed.
  ///
  /// The mark alone says nothing: it stands in an attribute, which anybody can set, and whoever may write can give a file any
  /// id. So a mark counts only in what is no older than it: else a time to come would silence what is saved until then.
  func isAsKept(_ part: Join.Loser.Part, in revision: RecordRevision) -> Bool {
    guard let own = ConflictMark(revision.attributes.xattrs), own.time <= revision.time else {
      return false
    }
    return switch part {
    case .item(let item):
      item.time <= own.time
        && item.file == ConflictCopy.file(named: item.name, in: revision.record)
    case .place(let place):
      revision.placeTime <= own.time && place.parent == ConflictCopy.folder(of: member.id)
    }
  }

  /// Items of a conflict's copy that are as they were kept, and are kept beside it all the same, since the copy on the other
  /// side does not stand for them.
  private func keptAside(
    _ losers: [Join.Loser], in side: NamedRevision,
    where isUnseen: (Item) throws(VaultError) -> Bool
  ) throws(VaultError) -> [ConflictCopy] {
    guard let mark = ConflictMark(side.revision.attributes.xattrs) else { return [] }
    var aside: [Item] = []
    for case .item(let item) in losers.map(\.part)
    where isAsKept(.item(item), in: side.revision) {
      if try isUnseen(item) { aside.append(item) }
    }
    if aside.isEmpty { return [] }
    let title = mark.original(of: side.revision.place.title)
    return [ConflictCopy(mark: mark, title: title, items: []).beside(aside)]
  }

  /// Whether an item of a copy, which a revision of that copy does not show, is to be kept beside. What somebody has done with the
  /// copy is later, and they have seen what it held. But two devices may have written at one instant, and who wrote it may not be
  /// known any more; and who has put something else under the name before the copy held it has not seen it.
  func isUnseen(_ item: Item, by copy: ContentDigest) throws(VaultError) -> Bool {
    let shown = try member.item(named: item.name, of: member.revision(copy))
    return try shown?.time == item.time ? true : !hasHeld(item, copy)
  }

  /// Whether a revision, or one of those before it, holds an item with this name and content. So it is taken to be where some
  /// of these are not kept any more. What is damaged says nothing of it, nor does the first one where that is not here.
  func hasHeld(_ item: Item, _ start: ContentDigest) throws(VaultError) -> Bool {
    var waiting = [start]
    var seen: Set<ContentDigest> = [start]
    while let digest = waiting.popLast() {
      guard seen.count < Self.depthLimit else { return true }
      let revision: RecordRevision
      do { revision = try member.revision(digest) } catch {
        guard error.isDamage else { throw error }
        if case .missing = error, digest != start { return true }
        continue
      }
      let held = try ifWhole(member.item(named: item.name, of: revision)) ?? nil
      if let held, held.hasContent(of: item) { return true }
      waiting += revision.previous.filter { seen.insert($0).inserted }
    }
    return false
  }

  func whole(_ version: NamedRevision) throws(VaultError) -> ConflictCopy {
    let revision = version.revision
    var copy = ConflictCopy(
      mark: ConflictMark(record: revision.record, device: revision.device, time: revision.time),
      title: revision.place.title, items: try member.items(of: revision),
      version: revision.previous.count > 1 ? version.digest.bytes : [])
    if copy.items.isEmpty { copy.addNoteOfPlace() }
    return copy
  }

  /// The device that wrote a part of a revision.
  func author(
    of part: Join.Loser.Part, in side: NamedRevision
  ) throws(VaultError) -> DeviceID {
    try origin(of: part, in: side).device
  }

  /// The oldest revision in which a part of one stands as it is now, as far as these are kept and can be read.
  func origin(
    of part: Join.Loser.Part, in side: NamedRevision
  ) throws(VaultError) -> RecordRevision {
    var oldest = side
    for _ in 0..<Self.depthLimit {
      var before: NamedRevision?
      for name in oldest.revision.previous where before == nil {
        guard let parent = try ifWhole(named(name)),
          try ifWhole(stands(part, of: side.revision, in: parent.revision)) ?? false
        else { continue }
        before = parent
      }
      guard let before else { break }
      oldest = before
    }
    return oldest.revision
  }

  /// The item of a name as somebody has seen it, from one of the newest revisions before `start` that are kept; nil if none of
  /// them has it.
  func item(
    named name: FileName, seenAs seen: SeenFile, before start: NamedRevision
  ) throws(VaultError) -> Item? {
    if seen == .nothing { return nil }
    var waiting = start.revision.previous
    var found = Set(waiting)
    while !waiting.isEmpty, found.count < Self.depthLimit {
      let revision = waiting.removeFirst()
      do {
        let parent = try member.revision(revision)
        let item = try member.item(named: name, of: parent)
        if let item, seen.isStill(item) { return item }
        waiting += parent.previous.filter { found.insert($0).inserted }
      } catch {
        guard error.isDamage else { throw error }
      }
    }
    return nil
  }

  /// Whether a part stands in a revision as it does in `side`. Its time alone does not say so: another device may have
  /// written something else at the same instant.
  private func stands(
    _ part: Join.Loser.Part, of side: RecordRevision, in revision: RecordRevision
  ) throws(VaultError) -> Bool {
    switch part {
    case .place(let place):
      return revision.placeTime == side.placeTime && revision.place == place
    case .item(let item):
      let other = try pages(member.loadPage) { load in
        var revision = revision
        return try revision.item(named: item.name, load: load)
      }
      return other?.time == item.time && other?.content == item.content
        && other?.isDeleted == item.isDeleted
    }
  }
}

extension NamedRevision {
  /// Whether whoever wrote a revision of this version had seen it, or that is this one.
  fileprivate func isKnown(to version: VersionVector) -> Bool {
    if version.names(digest) { return true }
    return switch revision.version.compare(to: version) {
    case .dominated, .equal: true
    case .dominates, .concurrent: false
    }
  }
}
