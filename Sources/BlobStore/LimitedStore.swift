import Glibc
import Threads

/// Lets only so many calls through at once, and only so many bytes a second in each direction. The others wait.
package final class LimitedStore: BlobStore {
  private let inner: any BlobStore
  private let slots: Slots
  private let upload: ByteRate?
  private let download: ByteRate?

  /// - Parameter bytesPerSecond: For uploads, and by itself for downloads; nil: no limit.
  package init(_ inner: any BlobStore, concurrency: Int, bytesPerSecond: Int? = nil) {
    self.inner = inner
    slots = Slots(concurrency)
    upload = bytesPerSecond.map { ByteRate(bytesPerSecond: $0) }
    download = bytesPerSecond.map { ByteRate(bytesPerSecond: $0) }
  }

  private func limited<Value>(
    _ call: () throws(BlobStoreError) -> Value
  ) throws(BlobStoreError) -> Value {
    slots.take()
    defer { slots.give() }
    return try call()
  }

  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    try limited { () throws(BlobStoreError) in
      paid(try inner.read(path, limit: limit))
    }
  }

  package func read(
    _ path: BlobPath, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    try limited { () throws(BlobStoreError) in
      paid(try inner.read(path, at: offset, count: count))
    }
  }

  /// How many bytes come is known only afterwards: the next to come pays for them.
  private func paid(_ bytes: [UInt8]) -> [UInt8] {
    download?.spend(bytes.count)
    return bytes
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    try limited { () throws(BlobStoreError) in
      upload?.spend(bytes.count)
      try inner.put(path, bytes, condition)
    }
  }

  package func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    try limited { () throws(BlobStoreError) in try inner.size(of: path) }
  }

  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    try limited { () throws(BlobStoreError) in try inner.remove(path) }
  }

  package func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    try limited { () throws(BlobStoreError) in try inner.list(folder) }
  }

  package func page(_ position: WalkPosition) throws(BlobStoreError) -> WalkPage {
    try limited { () throws(BlobStoreError) in try inner.page(position) }
  }

  package var decidesRaces: Bool { inner.decidesRaces }

  package func flush() throws(BlobStoreError) {
    try inner.flush()
  }
}

/// A counting semaphore.
private final class Slots: @unchecked Sendable {
  // glibc's own locking protects it; it stands at one address for as long as the class lives.
  private let semaphore: UnsafeMutablePointer<sem_t>

  init(_ count: Int) {
    semaphore = .allocate(capacity: 1)
    sem_init(semaphore, 0, UInt32(clamping: max(count, 1)))
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func take() {
    while sem_wait(semaphore) != 0 && errno == EINTR {}
  }

  func give() {
    sem_post(semaphore)
  }
}

/// Bytes over time: each caller waits until those before it have had their share.
package final class ByteRate: Sendable {
  private let bytesPerSecond: Double
  /// When all that was spent so far is paid for.
  private let paidUntil = Guarded(ContinuousClock.now)

  package init(bytesPerSecond: Int) {
    self.bytesPerSecond = Double(max(bytesPerSecond, 1))
  }

  /// Waits until these bytes may pass.
  package func spend(_ byteCount: Int) {
    let wait = paidUntil.withLock { paidUntil in
      let now = ContinuousClock.now
      let wait = max(.zero, paidUntil - now)
      paidUntil = max(paidUntil, now) + .seconds(Double(byteCount) / bytesPerSecond)
      return wait
    }
    if wait > .zero { SystemThread.pause(for: wait) }
  }
}
