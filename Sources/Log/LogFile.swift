import Glibc
import SystemPackage

/// The file `log` in a vault's state, where there is no journal. Docs/Format.md, "This machine's state".
///
/// Only its owner reads it. When it has grown to its limit it becomes `log.1`, in the place of the one before. Several
/// processes may write it. On a full disk lines are dropped, whole.
package struct LogFile: LogDestination {
  package static let standardLimit = 256 << 10

  private let path: FilePath
  private let limit: Int

  package init(stateFolder: FilePath, limit: Int = LogFile.standardLimit) {
    path = stateFolder.appending("log")
    self.limit = limit
  }

  package func write(_ line: LogLine) -> Bool {
    let bytes = Array("\(LogLine.timestamp()) \(line.level) [\(getpid())] \(line.text)\n".utf8)
    // Another process may exchange the file between opening and locking it.
    for _ in 0..<4 {
      if let isWritten = attempt(bytes) { return isWritten }
    }
    return false
  }

  /// Nil when the file was exchanged meanwhile.
  private func attempt(_ bytes: [UInt8]) -> Bool? {
    let descriptor = path.withPlatformString {
      open($0, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var (opened, standing) = (stat(), stat())
    guard flock(descriptor, LOCK_EX) == 0, fstat(descriptor, &opened) == 0 else { return false }
    guard path.withPlatformString({ lstat($0, &standing) }) == 0, standing.st_ino == opened.st_ino
    else { return nil }
    if Int(opened.st_size) + bytes.count > limit, opened.st_size > 0 {
      let older = FilePath("\(path).1")
      let isMoved = path.withPlatformString { from in
        older.withPlatformString { rename(from, $0) }
      }
      return isMoved == 0 ? nil : false
    }
    if Glibc.write(descriptor, bytes, bytes.count) == bytes.count { return true }
    // Half a line would hide the next one.
    ftruncate(descriptor, opened.st_size)
    return false
  }
}
