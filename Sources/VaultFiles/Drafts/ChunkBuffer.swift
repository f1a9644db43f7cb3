import Glibc

/// The unsealed content of one chunk: the first `count` bytes of page-aligned memory.
///
/// Bytes past `count` read as zeros, and are only cleared when something is written behind them, so that
/// what is about to be overwritten is never zeroed first.
final class ChunkBuffer: @unchecked Sendable {
  // Protected by the lock of the draft it belongs to; while its chunk is being sealed nobody changes it.

  private var block: ChunkMemory.Block
  private(set) var count = 0
  /// Whether every write so far began where the one before ended.
  private(set) var isSequential = true
  /// When it was last changed, in ticks of its draft.
  var lastUse: UInt64 = 0
  private let pool: ChunkMemory

  /// A buffer with room for at least `capacity` bytes.
  init(capacity: Int, pool: ChunkMemory) {
    self.pool = pool
    block = pool.take(capacity)
  }

  deinit { pool.give(block) }

  private var memory: UnsafeMutableRawPointer { block.memory }

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
    guard needed > block.capacity else { return }
    let larger = pool.take(max(needed, min(block.capacity * 4, pool.chunkSize)))
    larger.memory.copyMemory(from: memory, byteCount: count)
    pool.give(block)
    block = larger
  }
}
