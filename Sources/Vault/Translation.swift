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
  /// What is written is sealed with these.
  let target: EpochKeys
  /// Whether the revisions that others replaced are taken along, as far as they are here.
  let keepsHistory: Bool
  /// Whether what is not here is passed over; else it is an error, since it may be on its way.
  let keepsMissing: Bool
  /// With these comes to its place what is written under keys that are in use already; nil while nobody reads what stands
  /// under them.
  private let arrivals: ObjectStore.Arrivals?
  private let state = Guarded(State())

  private struct State {
    /// What need not be looked at again.
    var done: Set<ContentDigest> = []
    var count: UInt64 = 0
    var leftBehind: Set<ContentDigest> = []
  }

  init(
    member: Member, target: EpochKeys, keepsHistory: Bool, keepsMissing: Bool,
    with arrivals: ObjectStore.Arrivals? = nil
  ) {
    self.arrivals = arrivals
    self.member = member
    self.target = target
    self.keepsHistory = keepsHistory
    self.keepsMissing = keepsMissing
  }

  /// How many objects were put under the new keys so far.
  var count: UInt64 { state.withLock { $0.count } }

  /// What is damaged, or was forged by somebody with the keys, and so stays under the keys that it stands under.
  var leftBehind: Set<ContentDigest> { state.withLock { $0.leftBehind } }

  private func isDone(_ digest: ContentDigest) -> Bool {
    state.withLock { $0.done.contains(digest) }
  }

  // MARK: One object

  /// Puts a revision under the new keys with all that it names, and before it those that it replaced.
  ///
  /// - Throws: `missing` for what is not here, if that is not passed over; `away`; `noSpace`, `io`.
  func take(revision digest: ContentDigest) throws(VaultError) { try take(.revision(digest)) }

  /// Puts an object under the new keys after everything that it names: one that stands under these says that all below it
  /// does, and that its history is as long as it is.
  private func take(_ first: ObjectReference) throws(VaultError) {
    var walk = GraphWalk(from: [first])
    // Not of revisions: a record may have been edited any number of times.
    var open: [ContentDigest: [UInt8]] = [:]
    while let step = walk.next() {
      switch step {
      case .enter(let reference):
        // A revision that was replaced may have been collected.
        let isNeeded = reference.kind != .record || reference == first
        guard !isDone(reference.digest),
          let bytes = try readable(reference.digest, reference.kind, isNeeded: isNeeded),
          let content = decoded(reference, bytes)
        else { continue }
        if reference.kind != .record { open[reference.digest] = bytes }
        let older = content.revision.map { replaced(by: $0, named: reference.digest) } ?? []
        walk.descend(into: older + reference.references(in: content))
      case .leave(let reference):
        var bytes = open.removeValue(forKey: reference.digest)
        if bytes == nil { bytes = try readable(reference.digest, reference.kind) }
        if let bytes { try write(reference.kind, bytes, as: reference.digest) }
      }
    }
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

  /// The content; nil for what is damaged, or not here and passed over: that can be read no less than before.
  private func readable(
    _ digest: ContentDigest, _ kind: ObjectKind, isNeeded: Bool = true
  ) throws(VaultError) -> [UInt8]? {
    do { return try member.objects.content(digest, kind: kind) } catch {
      switch error {
      case .damaged: leaveBehind(digest)
      case .missing where !isNeeded || keepsMissing: note(digest)
      default: throw error
      }
      return nil
    }
  }

  private func note(_ digest: ContentDigest) {
    state.withLock { _ = $0.done.insert(digest) }
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
    MemberWalk(member: member).walkAll(
      where: { wanted.contains($0.record) }, keeps: { _, _ in keepsHistory },
      visit: { reference in
        guard !isDone(reference.digest) else { return }
        if reference.kind == .chunk {
          chunks.insert(reference.digest)
        } else {
          others.insert(reference.digest)
        }
      }, fail: { _, _ in }, progress: { _ in })
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
