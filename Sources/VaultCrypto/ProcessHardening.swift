import CLinux
import Glibc

/// Keeps what this process knows inside it.
package enum ProcessHardening {
  /// No core dumps, no report of a crash that shows registers and memory, and no other process of the same user can
  /// attach or read this one's memory.
  ///
  /// Call it once, first thing in `main`. Holds for this process until it executes another program.
  /// What the system refuses is left as it is: there is nothing a person could do about it.
  package static func apply() {
    _ = kv_prctl_not_dumpable()
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    forgetCrashHandlers()
  }

  /// Swift's runtime installed handlers before `main`, if the terminal or `SWIFT_BACKTRACE` asks for it, that show the
  /// memory around every register on standard error, or in a file. A crash ends the process without a word instead.
  private static func forgetCrashHandlers() {
    for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
      var present = sigaction()
      guard sigaction(number, nil, &present) == 0 else { continue }
      // What whoever started us ignores stays ignored.
      let handler = unsafeBitCast(present.__sigaction_handler.sa_handler, to: Int.self)
      if handler != unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_DFL) }
    }
  }
}
