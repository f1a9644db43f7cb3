import Glibc
import SystemPackage

extension Errno {
  /// The error of the last system call on this thread.
  package static var current: Errno { Errno(rawValue: errno) }

  /// Passes on what a system call returned, or throws its error when that is negative.
  @discardableResult
  package static func check<Result: SignedInteger>(_ result: Result) throws(Errno) -> Result {
    if result < 0 { throw Errno.current }
    return result
  }
}
