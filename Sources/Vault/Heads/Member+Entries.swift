import Notes
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

/// What another device's head says of revisions, and what the revisions say. Docs/Format.md, "Entries".
extension Member {
  private struct Place: Hashable {
    let segment: Int
    let position: Int
  }

  /// Compares the entries of another device's head that are news with the revisions that they name, and puts what these say
  /// in the place of what says anything else.
  ///
  /// What was compared before, by this process or another one of this machine, is not compared again.
  ///
  /// - Throws: `io`.
  func compare(
    _ segments: inout [LoadedSegment], of head: LoadedHead, _ heads: inout HeadsState
  ) throws(VaultError) {
    var open: [ContentDigest: Set<Int>] = [:]
    for segment in segments {
      let known = heads.compared.open[segment.name]
      open[segment.name] = known ?? Set(segment.entries.indices)
    }
    guard open.values.contains(where: { !$0.isEmpty }) else { return }
    let news = news(in: segments, from: head.late, &heads)
    let branches = heads.branches(with: head, by: witnesses)
    var wanted = news.values.flatMap { Self.greatest(of: $0, in: segments) }
    var isFirst = true
    while true {
      let asked = wanted.filter { open[segments[$0.segment].name]?.contains($0.position) ?? false }
      let entries = asked.map { segments[$0.segment].entries[$0.position] }
      let read = heads.read
      let answers = try inParallel(entries) { (entry) throws(VaultError) in
        try self.answer(to: entry, branches, read)
      }
      var doubtful: Set<RecordID> = []
      for ((place, entry), answer) in zip(zip(asked, entries), answers) {
        switch answer {
        case .right: open[segments[place.segment].name]?.remove(place.position)
        case .says(let other):
          doubtful.insert(entry.record)
          segments[place.segment].entries[place.position] = other
        case .unreadable:
          segments[place.segment].entries[place.position] = whereItStood(entry, &heads)
        }
      }
      // What such an entry claimed to have replaced may be news all the same.
      let compared = Set(asked)
      wanted = isFirst ? doubtful.flatMap { news[$0] ?? [] }.filter { !compared.contains($0) } : []
      isFirst = false
      if wanted.isEmpty { break }
    }
    let before = heads.compared
    for (name, positions) in open { heads.compared.open[name] = positions }
    if heads.compared != before { try keepCompared(heads) }
  }

  /// What a revision says that a head from elsewhere has an entry of. What its note says may be left out.
  package func entry(
    of revision: RecordRevision, claimedAs entry: RecordEntry, by head: OpenedHead
  ) -> RecordEntry {
    let witnesses = self.witnesses
    let lines = (openedHeads + [head]).flatMap {
      TakenLine.all(of: $0.head, $0.device, by: witnesses)
    }
    return RecordEntry(revision, named: entry.revision, summary: revision.summaryInItself ?? .empty)
      .renamed(by: lines, as: entry)
  }

  /// The lines that are followed here and that these heads take over: once they are followed, what is known of these is renamed.
  package func linesTakenOver(by incoming: [OpenedHead]) -> [TakenLine] {
    let witnesses = self.witnesses
    return heads.withLock { heads in
      incoming.flatMap { (head) -> [TakenLine] in
        TakenLine.all(of: head.head, head.device, by: witnesses).filter { line in
          guard let known = heads.knownLine(line.device, by: witnesses) else { return false }
          return takesOver(known, of: line.device, head.head, of: head.device, heads)
        }
      }
    }
  }

  /// The entry of a record as it is once these lines are taken over; nil if there is none.
  package func entry(_ record: RecordID, renamedBy lines: [TakenLine]) -> RecordEntry? {
    guard var known = entry(record) else { return nil }
    for line in lines { known.rename(line) }
    return known
  }

  /// Where the entries stand that are news, by the record that they say they are of.
  private func news(
    in segments: [LoadedSegment], from late: StatementID?, _ heads: inout HeadsState
  ) -> [RecordID: [Place]] {
    withRecords(heads) { manifest in
      var news: [RecordID: [Place]] = [:]
      for (number, segment) in segments.enumerated() {
        for (position, entry) in segment.entries.enumerated()
        where manifest.isNews(entry, from: late) {
          news[entry.record, default: []].append(Place(segment: number, position: position))
        }
      }
      return news
    }
  }

  /// Those of one record's entries that no other one of them has replaced, as they say themselves.
  private static func greatest(of places: [Place], in segments: [LoadedSegment]) -> [Place] {
    guard places.count > 1 else { return places }
    let entries = places.map { segments[$0.segment].entries[$0.position] }
    let greatest = Manifest(entries).rivals(of: entries[0].record)
    return zip(places, entries).filter { greatest.contains($0.1) }.map(\.0)
  }

  private enum Answer {
    case right
    case says(RecordEntry)
    /// The revision is not here, or damaged.
    case unreadable
  }

  private func answer(
    to entry: RecordEntry, _ branches: [TakenLine], _ read: ReadRevisions
  ) throws(VaultError) -> Answer {
    var revised = read[entry.revision]
    if revised == nil { revised = try entryOfRevision(entry) }
    guard let revised else { return .unreadable }
    var said = revised.renamed(by: branches, as: entry)
    // Nobody may take anything from its absence.
    said.isBare = said.isBare && entry.isBare
    let whole = said
    said.unknown = entry.unknown
    return said == entry ? .right : .says(whole)
  }

  /// What the revision says that the entry names; nil where it is not here, or damaged.
  private func entryOfRevision(_ entry: RecordEntry) throws(VaultError) -> RecordEntry? {
    guard let bytes = try ifWhole(objects.content(entry.revision, kind: .record)) else {
      return nil
    }
    let revision: RecordRevision
    do { revision = try RecordRevision(decoding: bytes) } catch { return nil }
    return RecordEntry(
      revision, named: entry.revision, summary: try summary(of: revision, for: entry))
  }

  /// What the manifest has of a note; what the entry says where the note is not here.
  private func summary(
    of revision: RecordRevision, for entry: RecordEntry
  ) throws(VaultError) -> FrontMatterSummary {
    if let summary = revision.summaryInItself { return summary }
    guard let document = revision.document else { return .empty }
    let claimed = FrontMatterSummary(
      type: entry.type, date: entry.date, isUnreadable: entry.hasUnreadableFrontMatter)
    do {
      if case .chunks(let chunks) = document.content, objects.isLazy {
        for case let chunk? in chunks.prefix(1) where try !objects.isPresent(chunk) {
          return claimed
        }
      }
      return FrontMatter.summary(
        of: try beginning(of: document, byteCount: RecordDocument.frontMatterLimit))
    } catch {
      switch error {
      case .missing, .damaged, .away, .gone: return claimed
      default: throw error
      }
    }
  }

  /// An entry whose revision cannot be read: nothing moves or removes a record but what somebody has written.
  private func whereItStood(_ entry: RecordEntry, _ heads: inout HeadsState) -> RecordEntry {
    guard let known = withRecords(heads, { $0[entry.record] }) else { return entry }
    var entry = entry
    (entry.parent, entry.title, entry.isDeleted) = (known.parent, known.title, known.isDeleted)
    (entry.type, entry.date) = (known.type, known.date)
    entry.hasUnreadableFrontMatter = known.hasUnreadableFrontMatter
    (entry.mode, entry.modified, entry.owner) = (known.mode, known.modified, known.owner)
    entry.isBare = false
    return entry
  }
}

/// A line of one device that another one has taken over, above a counter.
package struct TakenLine: Sendable {
  let device: DeviceID
  let above: UInt64
  let other: DeviceID

  fileprivate static func all(
    of head: Head, _ device: DeviceID, by witnesses: Witnesses
  ) -> [TakenLine] {
    head.branches.filter { witnesses.hasBecome(device, from: $0.device) }
      .map { TakenLine(device: $0.device, above: $0.above, other: device) }
      + head.retold.filter { witnesses.believes(device, of: $0) }
      .map { TakenLine(device: $0.device, above: $0.above, other: $0.by) }
  }
}

extension HeadsState {
  /// The lines that heads which count, this one among them, have taken over.
  fileprivate func branches(with head: LoadedHead, by witnesses: Witnesses) -> [TakenLine] {
    (Array(loaded.values) + [head]).flatMap {
      TakenLine.all(of: $0.head, $0.device, by: witnesses)
    }
  }
}

extension RecordEntry {
  /// What a revision says, with its line renamed where an entry that names it has it renamed rightly.
  fileprivate func renamed(by lines: [TakenLine], as entry: RecordEntry) -> RecordEntry {
    var said = self
    for line in lines where said.version != entry.version { said.rename(line) }
    if (said.version, said.device) != (entry.version, entry.device) {
      (said.version, said.device) = (version, device)
    }
    return said
  }

  fileprivate mutating func rename(_ line: TakenLine) {
    let renamed = version.renaming(line.device, above: line.above, to: line.other)
    if renamed == version { return }
    version = renamed
    if device == line.device { device = line.other }
  }
}
