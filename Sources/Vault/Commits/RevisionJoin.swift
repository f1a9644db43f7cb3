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

  /// A revision and its digest.
  struct Named {
    let digest: ContentDigest
    let revision: RecordRevision
  }

  /// A record edited this often or more without the others knowing keeps the version before as well.
  static let manyEdits = 4
  /// How far back a common ancestor is looked for.
  private static let depthLimit = 1024

  let member: Member

  /// - Throws: `missing` or `damaged` when a revision or a page of either cannot be read.
  func run(_ a: Named, _ b: Named) throws(VaultError) -> Outcome {
    let (stepsOfA, baseOfA) = try base(of: a, known: b.revision.version)
    let (stepsOfB, baseOfB) = try base(of: b, known: a.revision.version)
    let base = [baseOfA, baseOfB].compactMap(\.self).max {
      ($0.revision.time, $0.digest) < ($1.revision.time, $1.digest)
    }
    let outcome = try pages(member.loadPage) { load in
      try Join.merge(
        a.revision, named: a.digest, b.revision, named: b.digest, base: base?.revision, load: load)
    }
    var copies: [ConflictCopy] = []
    for (side, other) in [(a, b), (b, a)] {
      let losers = outcome.losers.filter { $0.revision == side.digest }
      copies += try self.copies(of: losers, in: side, other: other)
    }
    if let base, !outcome.losers.isEmpty, max(stepsOfA, stepsOfB) >= Self.manyEdits {
      copies.append(try whole(base))
    }
    return Outcome(merged: outcome.merged, copies: copies, metFiles: outcome.metFiles)
  }

  /// The newest ancestor of a revision that the other side knew, and how many revisions came after it; nil when
  /// it is no longer kept.
  private func base(
    of start: Named, known: VersionVector
  ) throws(VaultError) -> (steps: Int, base: Named?) {
    var steps = 0
    var level = [start]
    var seen: Set<ContentDigest> = [start.digest]
    var found: [Named] = []
    while !level.isEmpty, steps < Self.depthLimit {
      var next: [Named] = []
      for child in level {
        for digest in child.revision.previous where seen.insert(digest).inserted {
          guard let parent = try revisionIfKept(digest) else { continue }
          switch parent.revision.version.compare(to: known) {
          case .dominated, .equal: found.append(parent)
          case .dominates, .concurrent: next.append(parent)
          }
        }
      }
      steps += 1
      level = next
    }
    let newest = found.max { ($0.revision.time, $0.digest) < ($1.revision.time, $1.digest) }
    return (steps, newest)
  }

  private func revisionIfKept(_ digest: ContentDigest) throws(VaultError) -> Named? {
    do {
      return Named(digest: digest, revision: try member.revision(digest))
    } catch {
      if case .missing = error { return nil }
      throw error
    }
  }

  // MARK: What lost

  private func copies(
    of losers: [Join.Loser], in side: Named, other: Named
  ) throws(VaultError) -> [ConflictCopy] {
    guard !losers.isEmpty else { return [] }
    // Deleted by the others: the edited version is kept whole, since nothing of it shows any more, or only its folder.
    if other.revision.place.isDeleted, !side.revision.place.isDeleted {
      return isOwnCopy(side, losers) ? [] : [try whole(side)]
    }
    var byMark: [ConflictMark: ConflictCopy] = [:]
    for loser in losers {
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
      if let own = ConflictMark(side.revision.attributes.xattrs), time <= own.time { continue }
      var copy = byMark[mark] ?? ConflictCopy(mark: mark, title: title, items: [])
      switch loser.part {
      case .item(let item): copy.items.append(item)
      case .place: copy.title = title
      }
      byMark[mark] = copy
    }
    return byMark.values.map { copy in
      var copy = copy
      if copy.items.isEmpty { copy.addNoteOfPlace(in: member.id) }
      return copy
    }.sorted { $0.mark.time < $1.mark.time }
  }

  /// Whether the revision is itself a conflict's copy, with nothing changed since it was made: then nobody edited
  /// it, and no copy of it is needed.
  private func isOwnCopy(_ side: Named, _ losers: [Join.Loser]) -> Bool {
    guard let own = ConflictMark(side.revision.attributes.xattrs) else { return false }
    return losers.allSatisfy { loser in
      switch loser.part {
      case .item(let item): item.time <= own.time
      case .place: side.revision.placeTime <= own.time
      }
    }
  }

  private func whole(_ version: Named) throws(VaultError) -> ConflictCopy {
    let revision = version.revision
    var copy = ConflictCopy(
      mark: ConflictMark(record: revision.record, device: revision.device, time: revision.time),
      title: revision.place.title, items: try member.items(of: revision),
      version: revision.previous.count > 1 ? version.digest.bytes : [])
    if copy.items.isEmpty { copy.addNoteOfPlace(in: member.id) }
    return copy
  }

  /// The device that wrote a part of a revision: that of the oldest revision in which it stands as it is now, as far as
  /// these are kept.
  func author(
    of part: Join.Loser.Part, in side: Named
  ) throws(VaultError) -> DeviceID {
    var oldest = side
    for _ in 0..<Self.depthLimit {
      var before: Named?
      for name in oldest.revision.previous where before == nil {
        guard let parent = try revisionIfKept(name) else { continue }
        if try stands(part, of: side.revision, in: parent.revision) { before = parent }
      }
      guard let before else { break }
      oldest = before
    }
    return oldest.revision.device
  }

  /// The item of a name as somebody has seen it, when its file had last changed at `time`: from one of the newest
  /// revisions before `start` that are kept; nil if none of them has it.
  func item(
    named name: FileName, changedAt time: HybridTime, before start: Named
  ) throws(VaultError) -> Item? {
    if time == .zero { return nil }
    var waiting = start.revision.previous
    var seen = Set(waiting)
    while !waiting.isEmpty, seen.count < Self.depthLimit {
      let revision = waiting.removeFirst()
      do {
        guard let parent = try revisionIfKept(revision) else { continue }
        let item = try member.item(named: name, of: parent.revision)
        if let item, item.changed == time { return item }
        waiting += parent.revision.previous.filter { seen.insert($0).inserted }
      } catch {
        switch error {
        case .damaged, .missing: continue
        default: throw error
        }
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
