import Threads

/// Bounds the content of all drafts that is in memory and not sealed: whoever is about to write first has the oldest sealed
/// while there is too much.
final class DirtyBudget: Sendable {
  private let pool: ChunkMemory
  private let limit: Int
  private struct Entry {
    // A file that nothing leads to any more takes its draft with it.
    weak var draft: Draft?
    let lastUse: UInt64
  }
  private struct State {
    /// Drafts that may have dirty chunks, by when they were last written.
    var drafts: [ObjectIdentifier: Entry] = [:]
    var clock: UInt64 = 0
  }
  private let state = Guarded(State())

  init(pool: ChunkMemory, limit: Int) {
    self.pool = pool
    self.limit = limit
  }

  /// Seals old chunks until there is room. No lock may be held.
  ///
  /// - Throws: what sealing throws, `noSpace` most of all: then nothing more may be written.
  func makeRoom() throws(FileError) {
    while pool.byteCount > limit, let draft = oldest() {
      if try !draft.evictOldest() { remove(draft) }
    }
  }

  /// A draft was written.
  func use(_ draft: Draft) {
    state.withLock {
      $0.clock += 1
      $0.drafts[ObjectIdentifier(draft)] = Entry(draft: draft, lastUse: $0.clock)
    }
  }

  /// A draft has nothing that is not sealed.
  func remove(_ draft: Draft) {
    _ = state.withLock { $0.drafts.removeValue(forKey: ObjectIdentifier(draft)) }
  }

  private func oldest() -> Draft? {
    state.withLock {
      $0.drafts = $0.drafts.filter { $0.value.draft != nil }
      return $0.drafts.values.min { $0.lastUse < $1.lastUse }?.draft
    }
  }
}
