import CLinux
import Glibc
import VaultErrors
import VaultModel

/// Why a plain file could not be taken in or written out.
package enum PlainFileError: Error {
  /// The operating system refused; `path` is that of the plain file.
  case system(call: String, path: String, errno: Int32)
  /// Neither a file, a directory nor a link: a device, or a socket.
  case notImportable(path: String)
  /// Somebody wrote to it each time that it was read, so that what was read may be half of one state and half of another.
  case changing(path: String)
  /// Something is there already; it was left as it is.
  case alreadyExists(path: String)
  case vault(VaultError)

  /// Whether others can be written where this one cannot. FAT has no links, no names with a question mark, none that differ by
  /// their case alone, and no file of 4 GiB or more.
  var isOfOneFile: Bool {
    switch self {
    case .vault, .alreadyExists: true
    case .system(_, _, let number):
      [EINVAL, EILSEQ, EPERM, ENAMETOOLONG, EFBIG, EOPNOTSUPP].contains(number)
    case .notImportable, .changing: false
    }
  }
}

/// A call of the vault, whose failure is said as one of plain files: `try inVault(member.commit(edits))`.
func inVault<Value>(
  _ call: @autoclosure () throws(VaultError) -> Value
) throws(PlainFileError) -> Value {
  do { return try call() } catch { throw .vault(error) }
}

/// Several calls of the vault, the failure of any of which is said as one of plain files.
func inVault<Value>(_ body: () throws(VaultError) -> Value) throws(PlainFileError) -> Value {
  do { return try body() } catch { throw .vault(error) }
}

/// An open descriptor, closed with this value.
struct OpenFile: ~Copyable {
  let descriptor: Int32

  init(_ file: PlainFile, _ flags: Int32, mode: mode_t = 0) throws(PlainFileError) {
    descriptor = try file.check("open") { openat($0, $1, flags | O_CLOEXEC, mode) }
  }

  deinit { Glibc.close(descriptor) }

  /// Closes it and says what only closing tells: on network file systems, that a write did not arrive.
  consuming func close(path: String) throws(PlainFileError) {
    let returned = Glibc.close(descriptor)
    let error = errno
    discard self
    // After EINTR Linux has closed it all the same.
    if returned < 0 && error != EINTR { throw .system(call: "close", path: path, errno: error) }
  }

  /// Has the whole file system that the folder is in put on disk what was written.
  func syncFileSystem(path: String) throws(PlainFileError) {
    let error = kv_syncfs(descriptor)
    guard error == 0 else { throw .system(call: "sync", path: path, errno: -error) }
    // FAT's syncfs leaves it in the disk's cache, which an fsync empties; others have none of a folder.
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw .system(call: "sync", path: path, errno: errno)
    }
  }

  func status(path: String) throws(PlainFileError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw .system(call: "stat", path: path, errno: errno)
    }
    return status
  }
}

extension FileTimestamp {
  init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: UInt32(clamping: time.tv_nsec))
  }

  var systemTime: timespec {
    timespec(tv_sec: time_t(clamping: seconds), tv_nsec: Int(nanoseconds))
  }
}
