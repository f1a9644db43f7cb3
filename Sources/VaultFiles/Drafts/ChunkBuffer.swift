import Glibc
import Threads

/// The unsealed content of one chunk: the first `count` bytes of page-aligned memory.
///
/// Bytes past `count` read as zeros, and are only cleared when something is written behind them, so that
/// what is about to be overwritten is never zeroed first.
final class ChunkBuffer: @unchecked Sendable {
  // Protected by the lock of the draft it belongs to; while its chunk is being sealed nobody changes it.

  private(set) var memory: UnsafeMutableRawPointer
  private(set) var capacity: Int
  private(set) var count = 0
  /// Whether every write so far began where the one before ended.
  private(set) var isSequential = true
  /// When it was last changed, in ticks of its draft.
  var lastUse: UInt64 = 0
  private let pool: BufferPool

  /// A buffer with room for at least `capacity` bytes.
  init(capacity: Int, pool: BufferPool) {
    self.pool = pool
    (memory, self.capacity) = pool.take(capacity)
  }

  deinit { pool.give(memory, capacity) }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

  /// Puts bytes at `offset`, clearing a gap between the end and `offset`.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    reserve(offset + bytes.count)
    if offset != count { isSequential = false }
    extend(to: offset)
    if let source = bytes.baseAddress {
      (memory + offset).copyMemory(from: source, byteCount: bytes.count)
    }
    count = max(count, offset + bytes.count)
  }

  /// Makes it at least `newCount` bytes long, with zeros.
  func extend(to newCount: Int) {
    guard newCount > count else { return }
    reserve(newCount)
    memset(memory + count, 0, newCount - count)
    count = newCount
  }

  /// Drops what lies past `newCount`.
  func truncate(to newCount: Int) {
    guard newCount < count else { return }
    count = newCount
    isSequential = false
  }

  /// Clears the bytes of a range that are there.
  func zero(_ range: Range<Int>) {
    isSequential = false
    if range.upperBound >= count {
      count = min(count, range.lowerBound)
    } else {
      memset(memory + range.lowerBound, 0, range.count)
    }
  }

  /// Has `body` fill the first bytes; it returns how many. For chunks that are loaded to be changed.
  func fill<Failure: Error>(
    _ byteCount: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    reserve(byteCount)
    try body(UnsafeMutableRawBufferPointer(start: memory, count: byteCount))
    count = byteCount
    isSequential = false
  }

  /// Copies a range of the chunk, zeros where there is nothing.
  func copy(_ range: Range<Int>, to target: UnsafeMutableRawPointer) {
    let present = max(0, min(range.upperBound, count) - range.lowerBound)
    if present > 0 { target.copyMemory(from: memory + range.lowerBound, byteCount: present) }
    if present < range.count { memset(target + present, 0, range.count - present) }
  }

  private func reserve(_ needed: Int) {
    guard needed > capacity else { return }
    let (larger, largerCapacity) = pool.take(max(needed, min(capacity * 4, pool.chunkSize)))
    larger.copyMemory(from: memory, byteCount: count)
    pool.give(memory, capacity)
    (memory, capacity) = (larger, largerCapacity)
  }
}

/// Memory for chunk buffers: full-size ones are kept and used again, small ones come from malloc in the size
/// needed. Counts what is out.
final class BufferPool: @unchecked Sendable {
  // Everything below is protected by `monitor`.
  let chunkSize: Int
  private let monitor = Monitor()
  private var spare: [UnsafeMutableRawPointer] = []
  private var bytesOut = 0
  private let spareLimit: Int

  private static let pageSize = 4096

  /// - Parameter spareLimit: how many full-size buffers are kept when nobody uses them.
  init(chunkSize: Int, spareLimit: Int = 12) {
    self.chunkSize = chunkSize
    self.spareLimit = spareLimit
  }

  deinit { for memory in spare { free(memory) } }

  /// The bytes of all buffers in use.
  var byteCount: Int { monitor.withLock { bytesOut } }

  /// Memory of at least this size, not cleared.
  func take(_ byteCount: Int) -> (UnsafeMutableRawPointer, Int) {
    let isFull = byteCount > chunkSize / 4
    let page = Self.pageSize
    let capacity = isFull ? chunkSize : max(page, (byteCount + page - 1) / page * page)
    let reused: UnsafeMutableRawPointer? = monitor.withLock {
      bytesOut += capacity
      return isFull ? spare.popLast() : nil
    }
    if let reused { return (reused, capacity) }
    var memory: UnsafeMutableRawPointer?
    guard posix_memalign(&memory, page, capacity) == 0, let memory else {
      preconditionFailure("out of memory")
    }
    return (memory, capacity)
  }

  func give(_ memory: UnsafeMutableRawPointer, _ capacity: Int) {
    let isKept = monitor.withLock {
      bytesOut -= capacity
      guard capacity == chunkSize, spare.count < spareLimit else { return false }
      spare.append(memory)
      return true
    }
    if !isKept { free(memory) }
  }
}
