import CLinux
import Glibc

/// Writes that come straight from the program's memory, past the kernel's page cache.
///
/// For files that are open for writing only: who copies a file in does not read it back. It spares a copy of every
/// byte, and the question for `security.capability` that comes before the first write into the cache. Mappings need a
/// descriptor that can read, so they are never of such a handle.
enum DirectWrites {
  /// Whether the kernel drops what it has cached of the range, so that other handles and mappings of the file see
  /// what was written. It does so since Linux 6.6.
  static let areCoherent: Bool = {
    var names = utsname()
    guard uname(&names) == 0 else { return false }
    let release = withUnsafeBytes(of: &names.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return isCoherent(kernelRelease: release)
  }()

  /// Whether a write that was made through a handle with these flags came past the page cache.
  static func passCache(flags: Int32) -> Bool {
    flags & kv_o_direct != 0 || areCoherent && flags & O_ACCMODE == O_WRONLY
  }

  /// - Parameter kernelRelease: As `uname -r` says it, such as `6.1.0-28-amd64`.
  static func isCoherent(kernelRelease: String) -> Bool {
    let numbers = kernelRelease.split { !$0.isWholeNumber }.prefix(2).compactMap { Int($0) }
    guard numbers.count == 2 else { return false }
    return (numbers[0], numbers[1]) >= (6, 6)
  }
}
