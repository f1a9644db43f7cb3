import Glibc

/// What `body` takes of the processor by this thread: what else the machine does meanwhile does not count.
func processorTime(of body: () -> Void) -> Duration {
  let before = processorTime()
  body()
  return processorTime() - before
}

private func processorTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
