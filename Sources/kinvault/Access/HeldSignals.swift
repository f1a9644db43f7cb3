import Glibc

/// Signals that wait until somebody has time for them.
struct HeldSignals {
  private var held = sigset_t()
  private var before = sigset_t()

  init(_ signals: [Int32]) {
    sigemptyset(&held)
    for signal in signals { sigaddset(&held, signal) }
    pthread_sigmask(SIG_BLOCK, &held, &before)
  }

  /// One that has come; nil if none has.
  func next() -> Int32? {
    var set = held
    var now = timespec()
    let signal = sigtimedwait(&set, nil, &now)
    return signal > 0 ? signal : nil
  }

  /// Waits for one.
  func wait() {
    var set = held
    var signal: Int32 = 0
    while sigwait(&set, &signal) != 0 {}
  }

  /// Lets the signal do what it would have done, which for most ends the process.
  func deliver(_ signal: Int32) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    kill(getpid(), signal)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Signals come through as before.
  func release() {
    var mask = before
    pthread_sigmask(SIG_SETMASK, &mask, nil)
  }
}
