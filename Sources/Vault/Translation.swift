import BlobStore
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

/// Puts what a member is made of under the keys of another epoch: every object with all that it names. No content
/// changes by it. Docs/Format.md, "Links and epochs".
///
/// Pages are checked as they are when they are read: what may not stand where it stands stays behind.
///
/// The same objects come of it whoever does it, so several devices may, and what an interrupted one has written is
/// found and kept. Safe to use from several threads.
final class Translation: Sendable {
  let member: Member
  /// The keys that everything is sealed with anew.
  let target: EpochKeys
  /// Whether the revisions that others replaced are taken along, as far as they are here.
  let keepsHistory: Bool
  let lacking: Lacking
  /// Whether chunks are brought here that a lazy vault keeps elsewhere. Nobody waits for a remote who holds a lock.
  private let fetches: Bool
  /// With these comes to its place what is written under keys that are in use already; nil while nobody reads what stands
  /// under them.
  private let arrivals: ObjectStore.Arrivals?
  private let state = Guarded(State())

  /// What becomes of a content that is not to be had. What only history needs, and a lazy vault's remotes have no more, is
  /// passed over in each case: history has ended there for everybody.
  enum Lacking {
    /// What is missing is an error, as it may be on its way; so is what a current revision needs and the remotes have no more.
    case awaited
    /// What is missing is passed over. What a current revision needs and the remotes have no more is an error.
    case passedOverInHistory
    /// What is missing is passed over. What the remotes have no more is passed over as well, and told: there is nothing else to
    /// go on from.
    case passedOver
  }

  /// What none of a lazy vault's remotes has any more, and was passed over.
  struct Gone: Sendable {
    /// What only replaced revisions and deleted records need.
    var inHistory: Set<ContentDigest> = []
    /// What current revisions need, each with a record.
    var current: [ContentDigest: RecordID] = [:]

    mutating func add(_ other: Gone) {
      inHistory.formUnion(other.inHistory)
      current.merge(other.current) { first, _ in first }
    }
  }

  private struct State {
    /// What need not be looked at again.
    var done: Set<ContentDigest> = []
    var count: UInt64 = 0
    var leftBehind: Set<ContentDigest> = []
    var gone = Gone()
    /// Pages and lists that were done for history, where something below was passed over.
    var donePartly: Set<ContentDigest> = []
    /// The chunks that current revisions need, each with a record, as far as that was looked up.
    var current: [ContentDigest: RecordID] = [:]
  }

  init(
    member: Member, target: EpochKeys, keepsHistory: Bool, lacking: Lacking,
    with arrivals: ObjectStore.Arrivals? = nil
  ) {
    self.arrivals = arrivals
    fetches = arrivals == nil
    self.member = member
    self.target = target
    self.keepsHistory = keepsHistory
    self.lacking = lacking
  }

  /// How many objects were put under the new keys so far.
  var count: UInt64 { state.withLock { $0.count } }

  /// What is damaged, or was forged by somebody with the keys, and so stays under the keys that it stands under.
  var leftBehind: Set<ContentDigest> { state.withLock { $0.leftBehind } }

  /// What no remote has any more, and so was passed over.
  var gone: Gone { state.withLock { $0.gone } }

  /// - Parameter record: The one whose current revision needs it; nil where only history does.
  private func isDone(_ digest: ContentDigest, neededBy record: RecordID?) -> Bool {
    state.withLock { state in
      if record != nil { return state.done.contains(digest) && !state.donePartly.contains(digest) }
      return state.done.contains(digest) || state.gone.inHistory.contains(digest)
    }
  }

  /// Where a walk from a revision has come to.
  private struct Standing {
    /// The record of that revision; nil where it is deleted, so that only its history needs anything.
    private var record: RecordID?
    /// So many revisions it is in, of which each has replaced the next.
    private var depth = 0

    mutating func enter(_ revision: RecordRevision) {
      depth += 1
      if depth == 1 { record = revision.place.isDeleted ? nil : revision.record }
    }

    mutating func leave() { depth -= 1 }

    /// The record whose current revision needs what comes next; nil where only history does.
    var needing: RecordID? { depth == 1 ? record : nil }
  }

  // MARK: One object

  /// Puts a revision under the new keys with all that it names, and before it those that it replaced.
  ///
  /// - Throws: `missing`, `gone` for what is not to be had, if that is not passed over; `away`; `noSpace`, `io`.
  func take(revision digest: ContentDigest) throws(VaultError) { try take(.revision(digest)) }

  /// Puts an object under the new keys after everything that it names: one that stands under these says that all below it
  /// does, and that its history is as long as it is.
  private func take(_ first: ObjectReference) throws(VaultError) {
    var walk = GraphWalk(from: [first])
    var standing = Standing()
    // Not of revisions: a record may have been edited any number of times.
    var open: [ContentDigest: [UInt8]] = [:]
    while let step = walk.next() {
      switch step {
      case .enter(let reference):
        // A revision that was replaced may have been collected.
        let isNeeded = reference.kind != .record || reference == first
        let record = standing.needing ?? recordNeeding(reference.digest)
        guard !isDone(reference.digest, neededBy: record),
          let bytes = try readable(
            reference, isNeeded: isNeeded, by: record, below: Array(open.keys)),
          let content = decoded(reference, bytes)
        else { continue }
        if let revision = content.revision {
          standing.enter(revision)
        } else {
          open[reference.digest] = bytes
        }
        let older = content.revision.map { replaced(by: $0, named: reference.digest) } ?? []
        walk.descend(into: older + reference.references(in: content))
      case .leave(let reference):
        if reference.kind == .record { standing.leave() }
        var bytes = open.removeValue(forKey: reference.digest)
        if bytes == nil { bytes = try readable(reference) }
        if let bytes { try write(reference.kind, bytes, as: reference.digest) }
      }
    }
  }

  private func recordNeeding(_ digest: ContentDigest) -> RecordID? {
    state.withLock { $0.current[digest] }
  }

  /// Nil for what does not decode, or may not stand there: that is left behind.
  private func decoded(_ reference: ObjectReference, _ bytes: [UInt8]) -> ObjectContent? {
    do {
      let content = try ObjectContent(decoding: bytes, reference.kind)
      try reference.check(content)
      return content
    } catch {
      leaveBehind(reference.digest)
      return nil
    }
  }

  /// The revisions before this one, as far as history goes on.
  private func replaced(
    by revision: RecordRevision, named digest: ContentDigest
  ) -> [ObjectReference] {
    guard keepsHistory else { return [] }
    return revision.previous.filter { member.historyGoesOn(from: digest, to: $0) }
      .map(ObjectReference.revision)
  }

  /// The content; nil for what is damaged, or not to be had and passed over: that can be read no less than before.
  ///
  /// - Parameters:
  ///   - record: The one whose current revision needs it; nil where only history does.
  ///   - pages: Those that it stands below, and the list of chunks.
  private func readable(
    _ reference: ObjectReference, isNeeded: Bool = true, by record: RecordID? = nil,
    below pages: [ContentDigest] = []
  ) throws(VaultError) -> [UInt8]? {
    let digest = reference.digest
    do {
      return try member.objects.content(digest, kind: reference.kind, fetches: fetches)
    } catch {
      switch error {
      case .damaged: leaveBehind(digest)
      case .missing where !isNeeded || lacking != .awaited: note(digest)
      case .gone where record == nil || lacking == .passedOver:
        noteGone(digest, from: record, below: pages)
      case .gone(let path, _): throw .gone(path: path, record: record)
      default: throw error
      }
      return nil
    }
  }

  private func note(_ digest: ContentDigest) {
    state.withLock { _ = $0.done.insert(digest) }
  }

  /// In history, where no record is named, it is asked for again where a current revision needs it too.
  private func noteGone(
    _ digest: ContentDigest, from record: RecordID?, below pages: [ContentDigest]
  ) {
    state.withLock { state in
      if let record {
        state.done.insert(digest)
        state.gone.current[digest] = record
      } else {
        state.gone.inHistory.insert(digest)
        state.donePartly.formUnion(pages)
      }
    }
  }

  private func leaveBehind(_ digest: ContentDigest) {
    state.withLock { state in
      state.done.insert(digest)
      state.leftBehind.insert(digest)
    }
  }

  private func write(
    _ kind: ObjectKind, _ content: [UInt8], as digest: ContentDigest
  ) throws(VaultError) {
    _ = try member.objects.write(kind, content, under: target, with: arrivals)
    state.withLock { state in
      state.done.insert(digest)
      state.count += 1
    }
  }

  // MARK: Everything

  /// Puts these entries' revisions under the new keys on several threads: first the chunks, which are most of the bytes,
  /// then the rest.
  ///
  /// - Parameter progress: Told how many objects of how many are done, from several threads.
  /// - Throws: The first error; then nothing further is begun.
  func run(
    _ entries: [RecordEntry],
    progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void
  ) throws(VaultError) {
    let wanted = Set(entries.map(\.record))
    var chunks: Set<ContentDigest> = []
    var others: Set<ContentDigest> = []
    var current: [ContentDigest: RecordID] = [:]
    MemberWalk(member: member).walkAll(
      where: { wanted.contains($0.record) }, keeps: { _, _ in keepsHistory },
      visit: { reference in
        let record = reference.isOnlyInHistory ? nil : reference.record
        guard !isDone(reference.digest, neededBy: record) else { return }
        if reference.kind == .chunk {
          chunks.insert(reference.digest)
          if let record { current[reference.digest] = record }
        } else {
          others.insert(reference.digest)
        }
      }, fail: { _, _ in }, progress: { _ in })
    let needed = current
    state.withLock { $0.current = needed }
    let total = UInt64(chunks.count + others.count)
    let start = count
    _ = try inParallel(chunks.sorted()) { (digest) throws(VaultError) in
      try self.take(ObjectReference(digest, .chunk))
      progress(min(total, self.count - start), total)
    }
    _ = try inParallel(entries) { (entry) throws(VaultError) in
      try self.take(revision: entry.revision)
      progress(min(total, self.count - start), total)
    }
  }
}
