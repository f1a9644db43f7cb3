import Glibc

/// A signal that does nothing but let a blocking call return.
enum InterruptSignal {
  static let number = SIGUSR2

  /// Without a handler the signal would end the process.
  static func prepare() {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    sigaction(number, &action, nil)
    signal(SIGPIPE, SIG_IGN)
  }

  /// Lets the signal reach the calling thread. A thread inherits what its maker blocks, and Dispatch's block it.
  static func unblock() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
