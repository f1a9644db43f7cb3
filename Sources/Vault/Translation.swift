import BlobStore
import Threads
import VaultCrypto
import VaultModel

/// Puts what a member is made of under the keys of another epoch: every object with all that it names. No content
/// changes by it. Docs/Format.md, "Links and epochs".
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
  private let state = Guarded(State())

  private struct State {
    /// What need not be looked at again.
    var done: Set<ContentDigest> = []
    var count: UInt64 = 0
    var leftBehind: Set<ContentDigest> = []
  }

  init(member: Member, target: EpochKeys, keepsHistory: Bool, keepsMissing: Bool) {
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

  /// Puts a revision under the new keys, those that it replaced before it. Iterative: a record may have been edited any
  /// number of times.
  ///
  /// - Throws: `missing` for what is not here, if that is not passed over; `away`; `noSpace`, `io`.
  func take(revision first: ContentDigest) throws(VaultError) {
    var waiting = [first]
    var opened: Set<ContentDigest> = []
    while let digest = waiting.last {
      if isDone(digest) {
        waiting.removeLast()
        continue
      }
      let isFirstLook = opened.insert(digest).inserted
      let found = try readable(digest, .record, isNeeded: digest == first)
      guard let bytes = found, let revision = try decoded(digest, bytes) else {
        waiting.removeLast()
        continue
      }
      let before =
        keepsHistory
        ? revision.previous.filter {
          !isDone($0) && member.historyGoesOn(from: digest, to: $0)
        } : []
      if isFirstLook, !before.isEmpty {
        waiting += before
        continue
      }
      try takeContents(of: revision)
      try write(.record, bytes, as: digest)
      waiting.removeLast()
    }
  }

  /// Nil for one that does not decode: that is left behind.
  private func decoded(
    _ digest: ContentDigest, _ bytes: [UInt8]
  ) throws(VaultError) -> RecordRevision? {
    do throws(ModelError) { return try RecordRevision(decoding: bytes) } catch {
      leaveBehind(digest)
      return nil
    }
  }

  private func takeContents(of revision: RecordRevision) throws(VaultError) {
    if let document = revision.document { try take(document.content) }
    if let root = revision.items.rootPage {
      try take(page: root, depth: 0)
    } else {
      for item in revision.items.loadedItems { try take(item.content) }
    }
  }

  private func take(page digest: ContentDigest, depth: Int) throws(VaultError) {
    // What is deeper cannot be read, so it need not be readable.
    guard !isDone(digest), depth <= Limits.treeDepth else { return }
    let found = try readable(digest, .page)
    guard let bytes = found else { return }
    let page: ItemPage
    do throws(ModelError) { page = try ItemPage(decoding: bytes) } catch {
      return leaveBehind(digest)
    }
    switch page {
    case .leaf(let items): for item in items { try take(item.content) }
    case .branch(let children):
      for case let child? in children { try take(page: child, depth: depth + 1) }
    }
    try write(.page, bytes, as: digest)
  }

  /// Puts all that a content names under the new keys.
  private func take(_ content: Item.Content) throws(VaultError) {
    switch content {
    case .none, .inline, .symlink: return
    case .chunks(let chunks): for case let chunk? in chunks { try take(chunk: chunk) }
    case .indexes(let indexes): for index in indexes { try take(index: index) }
    }
  }

  private func take(index digest: ContentDigest) throws(VaultError) {
    guard !isDone(digest) else { return }
    let found = try readable(digest, .index)
    guard let bytes = found else { return }
    let index: ChunkIndex
    do throws(ModelError) { index = try ChunkIndex(decoding: bytes) } catch {
      return leaveBehind(digest)
    }
    for case let chunk? in index.chunks { try take(chunk: chunk) }
    try write(.index, bytes, as: digest)
  }

  private func take(chunk digest: ContentDigest) throws(VaultError) {
    guard !isDone(digest) else { return }
    let found = try readable(digest, .chunk)
    if let found { try write(.chunk, found, as: digest) }
  }

  /// The content; nil for what is damaged, or not here and passed over: that can be read no less than before.
  private func readable(
    _ digest: ContentDigest, _ kind: ObjectKind, isNeeded: Bool = true
  ) throws(VaultError) -> [UInt8]? {
    do throws(VaultError) { return try member.objects.content(digest, kind: kind) } catch {
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
    _ = try member.objects.write(kind, content, under: target)
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
      try self.take(chunk: digest)
      progress(min(total, self.count - start), total)
    }
    _ = try inParallel(entries) { (entry) throws(VaultError) in
      try self.take(revision: entry.revision)
      progress(min(total, self.count - start), total)
    }
  }
}
