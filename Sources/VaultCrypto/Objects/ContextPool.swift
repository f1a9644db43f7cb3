import Glibc
import Synchronization

/// OpenSSL contexts that are kept between uses, since making one costs more than using it on a
/// small object.
///
/// Any thread may take one. Nobody ever waits for another: with a lock around a list of them, threads that hash small
/// objects spent two fifths of their time in handing the lock on.
final class ContextPool: Sendable {
  private static let slotCount = 16

  /// The address of a context that nobody uses, or zero; whoever takes it out has it alone.
  private let idle: InlineArray<16, Atomic<UInt>>
  private let make: @Sendable () -> OpaquePointer
  private let free: @Sendable (OpaquePointer) -> Void

  init(
    make: @escaping @Sendable () -> OpaquePointer,
    free: @escaping @Sendable (OpaquePointer) -> Void
  ) {
    idle = InlineArray { _ in Atomic(0) }
    self.make = make
    self.free = free
  }

  deinit {
    while let context = take(from: 0) { free(context) }
  }

  /// Lends a context that no other thread uses meanwhile. What the last user left in it remains.
  func withContext<Result: ~Copyable, Failure: Error>(
    _ body: (OpaquePointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let first = Self.firstSlot
    let taken = take(from: first) ?? make()
    defer { giveBack(taken, to: first) }
    return try body(taken)
  }

  /// Where this thread looks first: mostly nobody else does.
  private static var firstSlot: Int {
    Int((UInt(pthread_self()) &* 0x9e37_79b9_7f4a_7c15) >> 60)
  }

  private func take(from first: Int) -> OpaquePointer? {
    for offset in 0..<Self.slotCount {
      let slot = (first + offset) % Self.slotCount
      guard idle[slot].load(ordering: .relaxed) != 0 else { continue }
      let address = idle[slot].exchange(0, ordering: .acquiring)
      if let context = OpaquePointer(bitPattern: address) { return context }
    }
    return nil
  }

  private func giveBack(_ context: OpaquePointer, to first: Int) {
    for offset in 0..<Self.slotCount {
      let slot = (first + offset) % Self.slotCount
      let (isKept, _) = idle[slot].compareExchange(
        expected: 0, desired: UInt(bitPattern: context), ordering: .releasing)
      if isKept { return }
    }
    free(context)
  }
}
