import Threads
import VaultModel

/// Page-aligned buffers of one size, reused so that bulk data costs no allocation.
///
/// They hold plaintext or ciphertext of attachments for the length of one call and are kept out of
/// core dumps with the rest of the process.
package final class BufferPool: Sendable {
  let byteCount: Int
  private let keptCount: Int
  // Raw addresses, since pointers are not Sendable; the lock hands each to one caller at a time.
  private let free = Guarded<[UInt]>([])

  /// A pool of buffers that any sealed chunk fits into, which keeps up to `keptCount` unused ones.
  package init(keptCount: Int) {
    byteCount = (ObjectLayout.largestFileSize(of: .chunk) + 4095) & ~4095
    self.keptCount = keptCount
  }

  deinit {
    for address in free.withLock({ $0 }) {
      UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }
  }

  /// A buffer whose bytes are not initialised; give it back with `put`.
  func take() -> UnsafeMutableRawBufferPointer {
    if let address = free.withLock({ $0.popLast() }),
      let pointer = UnsafeMutableRawPointer(bitPattern: address)
    {
      return UnsafeMutableRawBufferPointer(start: pointer, count: byteCount)
    }
    return .allocate(byteCount: byteCount, alignment: 4096)
  }

  /// Takes back a buffer that `take` gave and nobody uses any more.
  func put(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress else { return }
    let address = UInt(bitPattern: base)
    let isKept = free.withLock { addresses in
      guard addresses.count < keptCount else { return false }
      addresses.append(address)
      return true
    }
    if !isKept { base.deallocate() }
  }
}
