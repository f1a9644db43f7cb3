import CLinux
import Glibc

/// Keeps what this process knows inside it.
package enum ProcessHardening {
  /// No core dumps, and no other process of the same user can attach or read this one's memory.
  ///
  /// Call it once, first thing in `main`. Holds for this process until it executes another program.
  /// What the system refuses is left as it is: there is nothing a person could do about it.
  package static func apply() {
    _ = kv_prctl_not_dumpable()
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}
