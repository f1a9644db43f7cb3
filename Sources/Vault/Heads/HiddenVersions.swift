import Notes
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

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
    let own = context.device.id
    let replacing = withRecords(heads) { manifest in
      entries.flatMap { entry in
        manifest.rivals(of: entry.record).filter { entry.compare(to: $0) == .dominates }
          .map { (entry: entry, known: $0) }
      }
    }
    for (entry, known) in replacing {
      if try isCalledLost(known, by: entry.revision) {
        note(known.revision, calledLostBy: entry, &heads)
        continue
      }
      guard mayWrite, known.version[own] > 0 else { continue }
      if try ifWhole(revision(entry.revision))?.previous.contains(known.revision) ?? false {
        continue
      }
      for mine in try ownVersions(in: known)
      where try !leads(entry.revision, to: mine.revision, mine.version[own]) {
        heads.hidden.add(
          HiddenVersions.Hidden(
            record: entry.record, revision: mine.revision, claimed: entry.version[own]))
      }
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
    while let digest = open.popLast(), seen.count <= Self.joinedVersionLimit {
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

  private static let joinedVersionLimit = 64
  private static let pastLimit = 1024

  /// Writes what is hidden once more, in a commit of its own: whatever is written next goes on from that.
  ///
  /// - Throws: As `commit`.
  func writeHidden(_ heads: inout HeadsState) throws(VaultError) {
    if heads.hidden.isEmpty { return }
    var writer = CommitWriter(member: self, heads: heads)
    do {
      try writer.takeOver()
      try writer.writeHidden()
      _ = try writer.finish()
    } catch {
      objects.restage()
      throw error
    }
    objects.settle()
    heads = writer.heads
  }
}

extension CommitWriter {
  /// Writes hidden versions of this device with the counter of this commit, in the place of what they were before, and
  /// joins each with what hides it.
  mutating func writeHidden() throws(VaultError) {
    let own = context.device.id
    for hidden in heads.hidden.sorted {
      let rivals = member.rivals(of: hidden.record)
      // Another process of this device may have done it.
      guard rivals.contains(where: { $0.version[own] <= hidden.claimed }) else {
        heads.hidden.remove(hidden)
        continue
      }
      if rivals.areTooManyToJoin(besides: 1) || member.hasLate(among: rivals) { continue }
      let before = written
      do {
        if let mine = try writtenAnew(hidden) {
          try join(hidden.record, (written[hidden.record].map { [$0] } ?? rivals) + [mine])
        }
        heads.hidden.remove(hidden)
      } catch {
        switch error {
        case .damaged, .missing, .limit: written = before
        default: throw error
        }
      }
    }
    try settleFiles()
  }

  /// A revision of this device with the counter of this commit; nil for one that it has not signed, unless others call that lost:
  /// then this device goes on from it.
  private mutating func writtenAnew(
    _ hidden: HiddenVersions.Hidden
  ) throws(VaultError) -> RecordEntry? {
    let own = context.device.id
    var revision = try member.revision(hidden.revision)
    if hidden.isCalledLost {
      (revision.previous, revision.device) = ([hidden.revision], own)
    } else if try !member.isSigned(hidden.revision, by: own) {
      return nil
    }
    revision.version[own] = counter
    let name = try store(&revision)
    return RecordEntry(revision, named: name, summary: revision.summaryInItself ?? .empty)
  }
}
