import Threads

/// Bounds the content of all drafts that is in memory and not sealed: whoever is about to write first has the oldest sealed
/// while there is too much.
final class DirtyBudget: @unchecked Sendable {
  private let pool: BufferPool
  private let limit: Int
  private let monitor = Monitor()
  private struct Entry {
    // A file that nothing leads to any more takes its draft with it.
    weak var draft: Draft?
    let lastUse: UInt64
  }
  /// Drafts that may have dirty chunks, by when they were last written. Protected by `monitor`.
  private var drafts: [ObjectIdentifier: Entry] = [:]
  private var clock: UInt64 = 0

  init(pool: BufferPool, limit: Int) {
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
    monitor.withLock {
      clock += 1
      drafts[ObjectIdentifier(draft)] = Entry(draft: draft, lastUse: clock)
    }
  }

  /// A draft has nothing that is not sealed.
  func remove(_ draft: Draft) {
    _ = monitor.withLock { drafts.removeValue(forKey: ObjectIdentifier(draft)) }
  }

  private func oldest() -> Draft? {
    monitor.withLock {
      drafts = drafts.filter { $0.value.draft != nil }
      return drafts.values.min { $0.lastUse < $1.lastUse }?.draft
    }
  }
}
