import Glibc
import Threads

/// Memory for chunk buffers: full-size ones are kept and used again, small ones come from malloc in the size
/// needed. Counts what is out.
final class ChunkMemory: Sendable {
  /// Memory that one buffer has, or nobody.
  struct Block: @unchecked Sendable {
    // Whoever has it protects what is in it: the pool, or one `ChunkBuffer`.
    fileprivate(set) var memory: UnsafeMutableRawPointer
    /// In bytes.
    fileprivate(set) var capacity: Int
  }

  private struct State {
    var spare: [Block] = []
    var bytesOut = 0
  }

  let chunkSize: Int
  private let spareLimit: Int
  private let state = Guarded(State())

  private static let pageSize = 4096

  /// - Parameter spareLimit: how many full-size buffers are kept when nobody uses them.
  init(chunkSize: Int, spareLimit: Int = 12) {
    self.chunkSize = chunkSize
    self.spareLimit = spareLimit
  }

  deinit { for block in state.withLock({ $0.spare }) { free(block.memory) } }

  /// The bytes of all buffers in use.
  var byteCount: Int { state.withLock { $0.bytesOut } }

  /// Memory of at least this size, not cleared.
  func take(_ byteCount: Int) -> Block {
    let isFull = byteCount > chunkSize / 4
    let page = Self.pageSize
    let capacity = isFull ? chunkSize : max(page, (byteCount + page - 1) / page * page)
    let reused: Block? = state.withLock {
      $0.bytesOut += capacity
      return isFull ? $0.spare.popLast() : nil
    }
    if let reused { return reused }
    var memory: UnsafeMutableRawPointer?
    guard posix_memalign(&memory, page, capacity) == 0, let memory else {
      preconditionFailure("out of memory")
    }
    return Block(memory: memory, capacity: capacity)
  }

  func give(_ block: Block) {
    let isKept = state.withLock {
      $0.bytesOut -= block.capacity
      guard block.capacity == chunkSize, $0.spare.count < spareLimit else { return false }
      $0.spare.append(block)
      return true
    }
    if !isKept { free(block.memory) }
  }
}
