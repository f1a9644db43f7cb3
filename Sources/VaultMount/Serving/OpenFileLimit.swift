import Glibc

/// How many files whoever serves a vault may have open: the objects being read, besides everything else.
package enum OpenFileLimit {
  /// Raises the soft limit, often 1,024, to what the system allows anyway; left as it is where that fails.
  package static func raise() {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(resource, &limit)
  }
}
