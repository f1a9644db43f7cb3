import Glibc
import VaultModel

/// Why a plain file could not be taken in or written out.
package enum PlainFileError: Error {
  /// The operating system refused; `path` is that of the plain file.
  case system(call: String, path: String, errno: Int32)
  /// Neither a file, a directory nor a link: a device, or a socket.
  case notImportable(path: String)
  /// The name cannot be one in a vault.
  case invalidName(path: String)
  /// Something is there already; it was left as it is.
  case alreadyExists(path: String)
  case vault(VaultError)
}

/// Runs a call of the vault and says its failure as one of plain files.
func inVault<Value>(_ body: () throws(VaultError) -> Value) throws(PlainFileError) -> Value {
  do { return try body() } catch { throw .vault(error) }
}

/// An open descriptor, closed with this value.
struct OpenFile: ~Copyable {
  let descriptor: Int32

  /// - Parameter path: For the error only.
  init(
    openat folder: Int32, _ name: FileName, _ flags: Int32, mode: mode_t = 0, path: String
  ) throws(PlainFileError) {
    descriptor = name.withCString { Glibc.openat(folder, $0, flags | O_CLOEXEC, mode) }
    guard descriptor >= 0 else {
      if errno == EEXIST { throw .alreadyExists(path: path) }
      throw .system(call: "open", path: path, errno: errno)
    }
  }

  init(path: String, _ flags: Int32) throws(PlainFileError) {
    descriptor = Glibc.open(path, flags | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(call: "open", path: path, errno: errno) }
  }

  deinit { close(descriptor) }

  func status(path: String) throws(PlainFileError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw .system(call: "stat", path: path, errno: errno)
    }
    return status
  }
}

extension FileName {
  /// Calls `body` with the name as C takes it.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
    }
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
