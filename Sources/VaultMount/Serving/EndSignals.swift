import Glibc

/// SIGINT, SIGTERM and SIGHUP, turned from sudden death into something a thread can wait for.
///
/// The handlers write one byte into a pipe, so it does not matter which thread the kernel picks for the signal.
enum EndSignals {
  private static let ends: (reading: Int32, writing: Int32) = {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { preconditionFailure("no pipe for signals: \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }()

  /// Takes over the signals for the rest of the process's life. Twice is as good as once.
  static func takeOver() {
    _ = ends  // made here, so that the handler only reads it
    for signal in [SIGINT, SIGTERM, SIGHUP] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { signal in
        let before = errno
        var byte = UInt8(truncatingIfNeeded: signal)
        _ = write(EndSignals.ends.writing, &byte, 1)
        errno = before
      }
      action.sa_flags = SA_RESTART
      sigaction(signal, &action, nil)
    }
    // Whoever started this program may have blocked them.
    var ending = sigset_t()
    sigemptyset(&ending)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&ending, signal) }
    pthread_sigmask(SIG_UNBLOCK, &ending, nil)
  }

  /// Waits for the next of them.
  static func wait() -> Int32 {
    var byte: UInt8 = 0
    while read(ends.reading, &byte, 1) != 1 {}
    return Int32(byte)
  }
}
