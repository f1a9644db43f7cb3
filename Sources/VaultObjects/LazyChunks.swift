import BlobStore
import Dispatch
import Threads
import VaultErrors
import VaultModel

/// Where chunks that are not on this machine can be had: the remotes, as far as they can be reached.
package protocol ChunkSource: Sendable {
  /// The chunk's file, from the first remote that has it whole; where none has, as one of them has it.
  ///
  /// Blocks; called from any thread, for several chunks at once.
  ///
  /// - Parameter isWhole: Whether a file is the chunk.
  /// - Throws: `away` when no remote that can be reached has it; `gone` when each was asked, none has it, and nothing says
  ///   that it may be on its way to one.
  func fetch(
    _ chunk: ObjectName, of member: MemberID, where isWhole: ([UInt8]) -> Bool
  ) throws(VaultError) -> [UInt8]

  /// Whether a remote surely has the chunk, and goes on having it: it was asked just now, the file there is as long as the one
  /// here, and the head stands there by which this machine names it, with nothing left to be compared. What no head there
  /// names another device may be about to remove from there.
  ///
  /// - Parameter head: Nil for a machine that has written nothing of the member: others' heads name the chunk.
  func holds(
    _ chunk: ObjectName, byteCount: UInt64, of member: MemberID, under head: StandingHead?
  ) throws(VaultError) -> Bool
}

/// A head file as it is to stand on a remote.
package struct StandingHead: Hashable, Sendable {
  package let path: VaultPath
  package let counter: UInt64
  package let hash: FileHash

  package init(path: VaultPath, counter: UInt64, hash: FileHash) {
    (self.path, self.counter, self.hash) = (path, counter, hash)
  }
}

/// Brings the chunks here that a lazy vault keeps elsewhere, and knows which were used last. Safe to use from any thread.
package final class LazyChunks: Sendable {
  /// So many chunks are fetched ahead of a reader at once, at most.
  private static let readaheadLimit = 4

  private let source = Guarded<(any ChunkSource)?>(nil)
  private let underway = Guarded<[ContentDigest: Fetch]>([:])
  private let readahead = DispatchSemaphore(value: readaheadLimit)
  /// Of which all remotes have said that they have them no more, and when.
  private let gone = Guarded<[ContentDigest: ContinuousClock.Instant]>([:])
  private let uses = Guarded<(count: UInt64, last: [ContentDigest: UInt64])>((0, [:]))

  /// One chunk on its way, which several readers may wait for.
  private final class Fetch: Sendable {
    let group = DispatchGroup()
    let failure = Guarded<VaultError?>(nil)
    init() { group.enter() }
  }

  package init() {}

  /// From now on chunks come from here; nil: they cannot be had.
  package func setSource(_ new: (any ChunkSource)?) { source.withLock { $0 = new } }

  /// Brings a chunk here, verified and in its place. Threads that ask for one chunk at once share one fetch.
  ///
  /// - Throws: `away` when it cannot be had; `gone` when nobody has it any more; `damaged` when what came is not it;
  ///   `noSpace`, `io`.
  package func fetch(_ chunk: ContentDigest, for objects: ObjectStore) throws(VaultError) {
    let (fetch, isOurs) = underway.withLock { underway in
      if let fetch = underway[chunk] { return (fetch, false) }
      let fetch = Fetch()
      underway[chunk] = fetch
      return (fetch, true)
    }
    if isOurs {
      var isGone = false
      do { try fetchNow(chunk, for: objects) } catch {
        fetch.failure.withLock { $0 = error }
        if case .gone = error { isGone = true }
      }
      let now = isGone ? ContinuousClock.now : nil
      gone.withLock { $0[chunk] = now }
      underway.withLock { $0[chunk] = nil }
      fetch.group.leave()
    } else {
      fetch.group.wait()
    }
    if let failure = fetch.failure.withLock({ $0 }) { throw failure }
  }

  private func fetchNow(_ chunk: ContentDigest, for objects: ObjectStore) throws(VaultError) {
    guard let source = source.withLock({ $0 }) else {
      throw .away(path: objects.path(of: chunk).string, reason: "no remote is set up or reachable")
    }
    let (name, file) = try Self.file(of: chunk, for: objects, from: source)
    _ = try objects.authenticate(name, kind: .chunk, file: file)
    try objects.place(name, file: file)
  }

  /// The chunk's file under the keys in use or, where no remote has that, under those of an epoch before. It is gone only if it
  /// is under all of its names.
  private static func file(
    of chunk: ContentDigest, for objects: ObjectStore, from source: any ChunkSource
  ) throws(VaultError) -> (name: ObjectName, file: [UInt8]) {
    // Of the first name that may be had yet.
    var away: VaultError?
    for name in objects.names(of: chunk) {
      do {
        let file = try source.fetch(name, of: objects.member) {
          objects.isWhole(name, kind: .chunk, file: $0)
        }
        return (name, file)
      } catch {
        switch error {
        case .away: away = away ?? error
        case .gone: break
        default: throw error
        }
      }
    }
    throw away ?? .gone(path: objects.path(of: chunk).string, record: nil)
  }

  /// Begins to bring chunks that will be wanted soon; does nothing when enough are on their way.
  func fetchAhead(_ chunk: ContentDigest, for objects: ObjectStore) {
    guard !underway.withLock({ $0[chunk] != nil }), readahead.wait(timeout: .now()) == .success
    else { return }
    let isStarted = SystemThread.detach { [self] in
      defer { readahead.signal() }
      // Whoever reads the chunk is told what was wrong.
      do throws(VaultError) { try fetch(chunk, for: objects) } catch {}
    }
    if !isStarted { readahead.signal() }
  }

  /// For so long it counts that all remotes have said that they have a chunk no more.
  private static let goneTime = Duration.seconds(60)

  /// Whether all remotes have said just now that they have the chunk no more. Nobody is asked.
  func isGone(_ chunk: ContentDigest) -> Bool {
    gone.withLock { $0[chunk].map { ContinuousClock.now - $0 < Self.goneTime } ?? false }
  }

  /// From now on this chunk is the one that was used last.
  func noteUse(_ chunk: ContentDigest) {
    uses.withLock {
      $0.count += 1
      $0.last[chunk] = $0.count
    }
  }

  /// Greater for a chunk that was used later; 0 for one that this process did not use.
  package func lastUse(of chunk: ContentDigest) -> UInt64 { uses.withLock { $0.last[chunk] ?? 0 } }

  /// Whether a remote surely has the object, as `ChunkSource.holds` says; false where no remote is set up.
  ///
  /// - Throws: What asking the remote throws.
  package func holds(
    _ name: ObjectName, byteCount: UInt64, of member: MemberID, under head: StandingHead?
  ) throws(VaultError) -> Bool {
    guard let source = source.withLock({ $0 }) else { return false }
    return try source.holds(name, byteCount: byteCount, of: member, under: head)
  }
}
