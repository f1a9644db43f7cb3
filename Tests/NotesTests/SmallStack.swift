import Glibc

private final class Job<Result: Sendable>: @unchecked Sendable {
  // Written by the thread and read after it has been joined.
  var result: Result?
  let work: @Sendable () -> Result
  init(_ work: @escaping @Sendable () -> Result) { self.work = work }
  func run() { result = work() }
}

/// Runs the work on a thread with 512 KiB of stack, as a dispatch queue's threads have.
func onSmallStack<Result: Sendable>(_ work: @escaping @Sendable () -> Result) -> Result? {
  let job = Job(work)
  let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    let closure = Unmanaged<Closure>.fromOpaque(context!).takeRetainedValue()
    closure.run()
    return nil
  }
  var thread = pthread_t()
  let context = Unmanaged.passRetained(Closure { job.run() }).toOpaque()
  let isRunning = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) {
    guard let attributes = $0.baseAddress, pthread_attr_init(attributes) == 0 else { return false }
    defer { pthread_attr_destroy(attributes) }
    pthread_attr_setstacksize(attributes, 512 << 10)
    return pthread_create(&thread, attributes, body, context) == 0
  }
  guard isRunning else { return nil }
  pthread_join(thread, nil)
  return job.result
}

private final class Closure {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}
