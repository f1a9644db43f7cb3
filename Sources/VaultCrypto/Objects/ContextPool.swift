import Synchronization

/// OpenSSL contexts that are kept between uses, since making one costs more than using it on a
/// small object.
///
/// Any thread may take one; there are never more than were in use at once.
final class ContextPool: Sendable {
  /// A context that nobody uses; whoever takes it out of the pool has it alone.
  private struct Idle: @unchecked Sendable { let context: OpaquePointer }

  private let idle = Mutex<[Idle]>([])
  private let make: @Sendable () -> OpaquePointer
  private let free: @Sendable (OpaquePointer) -> Void

  init(
    make: @escaping @Sendable () -> OpaquePointer,
    free: @escaping @Sendable (OpaquePointer) -> Void
  ) {
    self.make = make
    self.free = free
  }

  deinit {
    idle.withLock { contexts in
      for entry in contexts { free(entry.context) }
    }
  }

  /// Lends a context that no other thread uses meanwhile. What the last user left in it remains.
  func withContext<Result: ~Copyable, Failure: Error>(
    _ body: (OpaquePointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let taken = idle.withLock { $0.popLast() } ?? Idle(context: make())
    defer { idle.withLock { $0.append(taken) } }
    return try body(taken.context)
  }
}
