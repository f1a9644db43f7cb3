import Notes
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// Versions that this device has written and that entries hide whose writers have not gone on from them. Docs/Format.md,
/// "Hidden versions".
///
/// A version vector is its writer's word: whoever guesses the counter with which this device will write a record next
/// can have said beforehand that they had seen it.
struct HiddenVersions: Hashable, Sendable {
  struct Hidden: Hashable, Sendable {
    let record: RecordID
    let revision: ContentDigest
    /// The counter of this device that the entry says its writer had seen.
    let claimed: UInt64
    /// Its writer could not read the version, whoever has written that, and it is whole here.
    var isCalledLost = false
  }

  private(set) var all: Set<Hidden> = []

  var isEmpty: Bool { all.isEmpty }

  mutating func add(_ hidden: Hidden) { all.insert(hidden) }
  mutating func remove(_ hidden: Hidden) { all.remove(hidden) }

  /// In an order that stays.
  var sorted: [Hidden] {
    all.sorted { ($0.record, $0.revision, $0.claimed) < ($1.record, $1.revision, $1.claimed) }
  }
}

extension Member {
  /// Whether a version that this device has written is to be written once more.
  package var hasHiddenVersions: Bool { heads.withLock { !$0.hidden.isEmpty } }

  /// Whether something is whole here that a repair elsewhere could not read, and this person may not write anew; asked once.
  package func takeHoldsWhatIsCalledLost() -> Bool {
    heads.withLock { heads in
      defer { heads.holdsWhatIsCalledLost = false }
      return heads.holdsWhatIsCalledLost
    }
  }

  /// Writes those of these revisions anew that stand-ins have replaced unseen, and that have come back whole: what others could take
  /// of the member would wait for the rest.
  ///
  /// - Throws: As `commit`.
  package func takeBack(_ revisions: Set<ContentDigest>) throws(VaultError) {
    guard mayWrite, !revisions.isEmpty else { return }
    try heads.withLock { (heads) throws(VaultError) in
      for revision in revisions { try noteReturned(revision, &heads) }
    }
    if hasHiddenVersions { _ = try joinConcurrent(waits: false) }
  }

  private func noteReturned(
    _ digest: ContentDigest, _ heads: inout HeadsState
  ) throws(VaultError) {
    guard let revision = try ifWhole(self.revision(digest)) else { return }
    let known = RecordEntry(revision, named: digest, summary: .empty)
    for entry in rivals(of: known.record) where entry.compare(to: known) == .dominates {
      guard try isCalledLost(known, by: entry.revision), try ifWhole(hasWholly(known)) ?? false
      else { continue }
      note(digest, calledLostBy: entry, &heads)
    }
  }

  /// Finds among entries that another device's head brings those that hide what this one has written, before they are
  /// taken.
  ///
  /// Costs one revision of each record that changes mostly.
  ///
  /// - Throws: `io`.
  func noteHidden(by entries: [RecordEntry], _ heads: inout HeadsState) throws(VaultError) {
    let replacing = withRecords(heads) { manifest in
      entries.flatMap { entry in
        manifest.rivals(of: entry.record) { entry.compare(to: $0) == .dominates }
          .map { (entry: entry, known: $0) }
      }
    }
    for (entry, known) in replacing { try noteHidden(known, by: entry, &heads) }
  }

  /// Finds what this device's own head names and entries hide that are known already, before it is taken: heads of
  /// others may be read first. Costs nothing where none was; else as much as if they had come later.
  ///
  /// - Parameter segments: Those of the head that were read now. What the rest of them hold, heads that name them as
  ///   well may have brought, together with what hides it.
  /// - Throws: `io`.
  func noteHidden(
    of head: LoadedHead, in segments: [LoadedSegment], _ heads: inout HeadsState
  ) throws(VaultError) {
    guard mayWrite, heads.loaded.keys.contains(where: { $0 != head.device }) else { return }
    let known = heads.loaded[head.device]?.head.segments ?? []
    let read = Set(segments.map(\.name) + known)
    let rest = try ifWhole(loadSegments(of: head.head, where: { name, _ in !read.contains(name) }))
    let entries = (segments + (rest ?? [])).flatMap(\.entries)
    let hiding = withRecords(heads) { manifest in
      entries.flatMap { entry in
        manifest.rivals(of: entry.record) { $0.compare(to: entry) == .dominates }
          .map { (entry: $0, known: entry) }
      }
    }
    if hiding.isEmpty { return }
    // What this device itself has replaced it has seen.
    let newest = Manifest(entries)
    for (entry, known) in hiding where newest.holds(known) {
      try noteHidden(known, by: entry, &heads)
    }
  }

  /// Notes what of a version is hidden by an entry that dominates it.
  private func noteHidden(
    _ known: RecordEntry, by entry: RecordEntry, _ heads: inout HeadsState
  ) throws(VaultError) {
    let own = context.device.id
    if try isCalledLost(known, by: entry.revision) {
      note(known.revision, calledLostBy: entry, &heads)
      return
    }
    guard mayWrite, known.version[own] > 0 else { return }
    if try ifWhole(revision(entry.revision))?.previous.contains(known.revision) ?? false { return }
    for mine in try ownVersions(in: known)
    where try !leads(entry.revision, to: mine.revision, mine.version[own]) {
      heads.hidden.add(
        HiddenVersions.Hidden(
          record: entry.record, revision: mine.revision, claimed: entry.version[own]))
    }
  }

  private func note(
    _ revision: ContentDigest, calledLostBy entry: RecordEntry, _ heads: inout HeadsState
  ) {
    guard mayWrite else {
      heads.holdsWhatIsCalledLost = true
      return
    }
    heads.hidden.add(
      HiddenVersions.Hidden(
        record: entry.record, revision: revision, claimed: entry.version[context.device.id],
        isCalledLost: true))
  }

  /// Whether the revision goes on from a version that is whole here by nothing but stand-ins, as far as those on the way are here.
  /// Where one that is not here has a stand-in, nobody knows what it had seen: it may have been a stand-in itself.
  private func isCalledLost(
    _ known: RecordEntry, by start: ContentDigest
  ) throws(VaultError) -> Bool {
    var isLost = false
    var (gone, replaced): (Set<ContentDigest>, Set<ContentDigest>) = ([], [])
    var open = [start]
    var seen = Set(open)
    while let digest = open.popLast(), seen.count <= Self.pastLimit {
      guard let revision = try ifWhole(self.revision(digest)) else {
        gone.insert(digest)
        continue
      }
      // What has not seen it does not come from it either.
      let version = revision.version
      guard version.isBegunAnew || version.compare(to: known.version) == .dominates else {
        continue
      }
      let mark = revision.lossMark
      let isMarked = mark?.lost == known.revision
      if revision.previous.contains(known.revision), !isMarked { return false }
      isLost = isLost || isMarked
      // Whoever deleted a record may have seen all of it.
      if let mark, !revision.place.isDeleted { replaced.insert(mark.lost) }
      open += revision.previous.filter { $0 != known.revision && seen.insert($0).inserted }
    }
    let isUnknown = !gone.isEmpty && gone.isSubset(of: replaced)
    guard isLost || isUnknown else { return false }
    return try ifWhole(items(of: self.revision(known.revision))) != nil
  }

  /// The version itself if this device has written it; of a join the parts that it has written.
  private func ownVersions(
    in known: RecordEntry
  ) throws(VaultError) -> [(revision: ContentDigest, version: VersionVector)] {
    var found: [(revision: ContentDigest, version: VersionVector)] = []
    var open = [known.revision]
    var seen = Set(open)
    while let digest = open.popLast(), seen.count <= Self.joinedVersionLimit,
      found.count < Self.ownVersionLimit
    {
      guard let revision = try ifWhole(self.revision(digest)) else { continue }
      if revision.isUnsignedJoin {
        open += revision.previous.filter { seen.insert($0).inserted }
      } else if revision.device == context.device.id {
        found.append((digest, revision.version))
      }
    }
    return found
  }

  /// Whether a revision goes on from one of this device, with this counter in its version, as far as what comes before it
  /// is here.
  private func leads(
    _ start: ContentDigest, to wanted: ContentDigest, _ counter: UInt64
  ) throws(VaultError) -> Bool {
    var open = [start]
    var seen = Set(open)
    while let digest = open.popLast(), seen.count <= Self.pastLimit {
      if digest == wanted { return true }
      guard let revision = try ifWhole(self.revision(digest)) else { continue }
      // What has not seen it does not come from it either.
      let version = revision.version
      if version[context.device.id] < counter, !version.isBegunAnew { continue }
      if revision.previous.contains(wanted) { return true }
      open += revision.previous.filter { seen.insert($0).inserted }
    }
    return false
  }

  /// Any number of versions can be joined two by two, and whoever makes some up can have this device's stand deepest.
  private static let joinedVersionLimit = 1024
  /// For each of them what comes before an entry is looked into.
  private static let ownVersionLimit = 64
  private static let pastLimit = 1024

  /// Writes what is hidden once more, in a commit of its own: whatever is written next goes on from that.
  ///
  /// - Throws: As `commit`.
  func writeHidden(_ heads: inout HeadsState) throws(VaultError) {
    if heads.hidden.isEmpty { return }
    try writing(&heads) { (writer) throws(VaultError) in
      try writer.writeHidden()
      _ = try writer.finish()
    }
  }
}

extension CommitWriter {
  /// Writes hidden versions of this device with the counter of this commit, in the place of what they were before, and
  /// joins each with what hides it.
  ///
  /// - Throws: `away` where this device's late head needs what a lazy vault keeps on a remote, as `takeOver` does.
  mutating func writeHidden() throws(VaultError) {
    let own = context.device.id
    for hidden in heads.hidden.sorted {
      let rivals = member.rivals(of: hidden.record)
      // Another process of this device may have done it.
      guard rivals.contains(where: { $0.version[own] <= hidden.claimed }) else {
        heads.hidden.remove(hidden)
        continue
      }
      let before = written
      do {
        try takeOver(hidden: hidden.revision)
        if let mine = try versionAnew(of: hidden) { try add(mine, beside: rivals) }
        heads.hidden.remove(hidden)
      } catch {
        switch error {
        case .damaged, .missing, .gone, .limit: written = before
        // A late head of this device needs it: the next one would not tell of it any more.
        case .away where !isOwnHeadLate: written = before
        default: throw error
        }
      }
    }
    try settleFiles()
  }

  /// Puts a hidden version under the keys in use where it stands under others: no entry that counts names it, so
  /// nothing else brings it there. What of it is missing is passed over, as where a late head of this device is taken over.
  ///
  /// - Throws: `away` where a lazy vault keeps something of it on a remote.
  private func takeOver(hidden revision: ContentDigest) throws(VaultError) {
    guard !member.register.keys.others.isEmpty, try !objects.isPresentNow(revision) else { return }
    let gone = try objects.placing { (arrivals) throws(VaultError) -> Translation.Gone in
      let translation = Translation(
        member: member, target: member.register.keys.current, keepsHistory: true,
        lacking: .passedOver, with: arrivals)
      try translation.take(revision: revision)
      return translation.gone
    }
    context.noteGone(gone, of: member)
  }

  /// A hidden version as a revision of this device with the counter of this commit; nil for one that it has not signed,
  /// unless others call that lost: then this device goes on from it.
  private func versionAnew(
    of hidden: HiddenVersions.Hidden
  ) throws(VaultError) -> RecordRevision? {
    let own = context.device.id
    var revision = try self.revision(hidden.revision, of: hidden.record).revision
    if hidden.isCalledLost {
      (revision.previous, revision.device) = ([hidden.revision], own)
    } else if try !member.isSigned(hidden.revision, by: own) {
      return nil
    }
    revision.version[own] = counter
    return revision
  }

  /// Writes a version that was hidden, and joins it with what this commit has of its record, or else with what is known.
  private mutating func add(
    _ version: RecordRevision, beside rivals: [RecordEntry]
  ) throws(VaultError) {
    var version = version
    let known = written[version.record]
    if known == nil, member.hasLate(among: rivals) || rivals.areTooManyToJoin(besides: 1) {
      // It stands in this head by itself; with what is late it is joined once that is taken over.
      try write(&version, base: nil, entry: nil)
      return
    }
    let name = try store(&version)
    let entry = RecordEntry(version, named: name, summary: version.summaryInItself ?? .empty)
    try join(version.record, (known.map { [$0] } ?? rivals) + [entry])
  }
}
