import CLinux
import Glibc
import SystemPackage

/// A lock on a file (`flock`), held until it goes out of scope or the process ends, however it ends.
///
/// It excludes other processes, and other locks of this one: each has an open file of its own. A child that was started
/// meanwhile does not inherit it. The file is made when it is missing (mode 0600) and stays.
package struct FileLock: ~Copyable, Sendable {
  package enum Mode: Sendable {
    case exclusive
    /// Any number of shared locks, but none together with an exclusive one.
    case shared
  }

  private let file: Descriptor

  /// Waits until the lock is free. The file's folder must exist.
  package init(at path: FilePath, mode: Mode = .exclusive) throws(BlobStoreError) {
    let text = path.string
    let lock = try Self.take(path: text, mode: mode, waits: true) { flags in
      let returned = open(text, flags, 0o600)
      return returned < 0 ? -errno : returned
    }
    // Without LOCK_NB flock returns when it has the lock.
    guard let file = lock else { throw .io(path: text, errno: EWOULDBLOCK) }
    self.file = file
  }

  private init(_ file: consuming Descriptor) {
    self.file = file
  }

  /// The lock, or nil at once while someone else holds it.
  package static func attempt(
    at path: FilePath, mode: Mode = .exclusive
  ) throws(BlobStoreError) -> FileLock? {
    let text = path.string
    let lock = try take(path: text, mode: mode, waits: false) { flags in
      let returned = open(text, flags, 0o600)
      return returned < 0 ? -errno : returned
    }
    guard let file = lock else { return nil }
    return FileLock(file)
  }

  /// Opens and locks, once more when the file was removed or replaced while it waited: a lock on a file that has
  /// no name any more would exclude nobody.
  private static func take(
    path: String, mode: Mode, waits: Bool, open: (_ flags: Int32) -> Int32
  ) throws(BlobStoreError) -> Descriptor? {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    let operation = (mode == .exclusive ? LOCK_EX : LOCK_SH) | (waits ? 0 : LOCK_NB)
    while true {
      let file = try Descriptor(retryingInterrupted { open(flags) }, path: path)
      let error = errorOf { flock(file.number, operation) }
      if error == -EWOULDBLOCK { return nil }
      guard error == 0 else { throw BlobStoreError(errno: -error, path: path) }
      if try file.status(path: path).st_nlink > 0 { return file }
    }
  }
}
