import CPosix
import Glibc
import SystemPackage

/// An open file whose calls are the system's, with their errors thrown as `Errno`; closed when the value goes.
package final class OpenFile: Sendable {
  package let descriptor: Int32

  /// open(2), always with `O_CLOEXEC`: a program that another test starts must not inherit it, and with it its locks.
  package init(_ path: FilePath, _ flags: Int32, _ mode: mode_t = 0o644) throws(Errno) {
    descriptor = try Errno.check(
      path.withPlatformString { Glibc.open($0, flags | O_CLOEXEC, mode) })
  }

  deinit { close(descriptor) }

  /// A new file to be read and written.
  package static func create(_ path: FilePath, mode: mode_t = 0o644) throws -> OpenFile {
    try OpenFile(path, O_RDWR | O_CREAT | O_EXCL, mode)
  }

  /// Up to `count` bytes at `offset`; fewer only at the end of the file.
  package func read(at offset: Int, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let part = try bytes.withUnsafeMutableBytes { buffer in
        try Errno.check(
          pread(descriptor, buffer.baseAddress! + done, count - done, off_t(offset + done)))
      }
      if part == 0 { break }
      done += part
    }
    return Array(bytes[..<done])
  }

  /// Everything from the beginning to the end.
  package func contents() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while case let part = try read(at: bytes.count, count: 1 << 20), !part.isEmpty { bytes += part }
    return bytes
  }

  package func text() throws -> String { String(decoding: try contents(), as: UTF8.self) }

  /// Writes all bytes at `offset`.
  package func write(_ bytes: [UInt8], at offset: Int) throws {
    var done = 0
    while done < bytes.count {
      done += try bytes.withUnsafeBytes { buffer in
        try Errno.check(
          pwrite(descriptor, buffer.baseAddress! + done, bytes.count - done, off_t(offset + done)))
      }
    }
  }

  /// Writes all bytes where the file stands.
  package func append(_ bytes: [UInt8]) throws {
    var done = 0
    while done < bytes.count {
      done += try bytes.withUnsafeBytes { buffer in
        try Errno.check(Glibc.write(descriptor, buffer.baseAddress! + done, bytes.count - done))
      }
    }
  }

  package func write(_ text: String) throws { try append(Array(text.utf8)) }

  package func truncate(to size: Int) throws {
    try Errno.check(ftruncate(descriptor, off_t(size)))
  }

  package func allocate(_ mode: Int, at offset: Int, count: Int) throws {
    try Errno.check(px_fallocate(descriptor, Int32(mode), Int64(offset), Int64(count)))
  }

  package func sync() throws { try Errno.check(fsync(descriptor)) }

  package func status() throws -> Glibc.stat {
    var result = Glibc.stat()
    try Errno.check(fstat(descriptor, &result))
    return result
  }
}
