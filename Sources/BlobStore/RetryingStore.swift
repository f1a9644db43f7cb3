import Threads

/// Makes calls again that failed for a reason that may pass (`isTransient`), with longer and longer pauses; all other
/// errors come through at once.
///
/// A `put` with `ifAbsent` that found the blob there after a try without an answer may have found its own: then it
/// compares, and succeeds when the bytes are the same.
package final class RetryingStore: BlobStore {
  /// How often, and how long. Pauses are random between nothing and a bound that doubles ("full jitter"), so that many
  /// callers do not come back at once: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
  package struct Policy: Sendable {
    package var attempts = 5
    package var firstPause: Duration = .milliseconds(200)
    package var longestPause: Duration = .seconds(20)
    /// For all pauses of one call.
    package var budget: Duration = .seconds(60)
    /// A call that has waited this long for a store that says nothing is not made again.
    package var patience: Duration = .seconds(30)

    package init() {}

    /// The longest that the pause after a failed attempt (the first is 1) may be.
    package func bound(after attempt: Int) -> Duration {
      min(firstPause * (1 << min(max(attempt, 1) - 1, 20)), longestPause)
    }
  }

  private let inner: any BlobStore
  private let policy: Policy
  private let pause: @Sendable (Duration) -> Void
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - pause: What waits; tests count instead.
  ///   - now: What the clock says.
  package init(
    _ inner: any BlobStore, policy: Policy = Policy(),
    pause: @escaping @Sendable (Duration) -> Void = SystemThread.pause(for:),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.inner = inner
    self.policy = policy
    self.pause = pause
    self.now = now
  }

  private func trying<Value>(
    _ call: (_ attempt: Int) throws(BlobStoreError) -> Value
  ) throws(BlobStoreError) -> Value {
    var attempt = 1
    var spent = Duration.zero
    var silence = Duration.zero
    while true {
      let start = now()
      do {
        return try call(attempt)
      } catch {
        let wait = policy.bound(after: attempt) * Double.random(in: 0...1)
        if case .timedOut = error { silence += start.duration(to: now()) }
        guard error.isTransient, attempt < policy.attempts, spent + wait <= policy.budget,
          silence < policy.patience
        else { throw error }
        pause(wait)
        spent += wait
        attempt += 1
      }
    }
  }

  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    try trying { (_) throws(BlobStoreError) in try inner.read(path, limit: limit) }
  }

  package func read(
    _ path: BlobPath, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    try trying { (_) throws(BlobStoreError) in try inner.read(path, at: offset, count: count) }
  }

  package func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    try trying { (_) throws(BlobStoreError) in try inner.size(of: path) }
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    try trying { (attempt) throws(BlobStoreError) in
      do throws(BlobStoreError) {
        try inner.put(path, bytes, condition)
      } catch .alreadyExists where attempt > 1 {
        guard try holds(path, bytes) else { throw .alreadyExists(path: path.string) }
      }
    }
  }

  private func holds(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer
  ) throws(BlobStoreError) -> Bool {
    do {
      let found = try inner.read(path, limit: bytes.count)
      return found.withUnsafeBytes { $0.elementsEqual(bytes) }
    } catch .tooLarge {
      return false
    }
  }

  package var decidesRaces: Bool { inner.decidesRaces }

  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    try trying { (_) throws(BlobStoreError) in try inner.remove(path) }
  }

  package func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    try trying { (_) throws(BlobStoreError) in try inner.list(folder) }
  }

  package func page(_ position: WalkPosition) throws(BlobStoreError) -> WalkPage {
    try trying { (_) throws(BlobStoreError) in try inner.page(position) }
  }

  /// Never again: after an error a second success proves nothing.
  package func flush() throws(BlobStoreError) {
    try inner.flush()
  }
}
