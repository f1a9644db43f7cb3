import Glibc

/// How many files this process may have open: objects being read, and everything else.
package enum OpenFileLimit {
  private static var resource: __rlimit_resource_t { .init(RLIMIT_NOFILE.rawValue) }

  /// Raises the soft limit, often 1,024, to what the system allows anyway; left as it is where that fails.
  package static func raise() {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(resource, &limit)
  }

  /// The soft limit as it is now.
  package static func current() -> Int {
    var limit = rlimit()
    let status = getrlimit(resource, &limit)
    precondition(status == 0, "the limit of open files cannot be read")
    return Int(clamping: limit.rlim_cur)
  }
}
