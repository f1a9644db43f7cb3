import Glibc
import SystemPackage

/// Whole small files of the system: `/proc`, `/sys`, the list of mounts.
enum SmallFile {
  static func load(_ path: FilePath) throws(MountError) -> [UInt8] {
    let descriptor = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw MountError.system(call: "open", path: path, errno: errno) }
    defer { close(descriptor) }
    return try load(from: descriptor, path: path)
  }

  /// Everything from the descriptor's position to its end. `path` is for the error only.
  static func load(from descriptor: Int32, path: FilePath) throws(MountError) -> [UInt8] {
    var result: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw MountError.system(call: "read", path: path, errno: errno) }
      if count == 0 { return result }
      result.append(contentsOf: piece[..<count])
    }
  }

  /// Writes the bytes over an existing file; false when that does not work.
  static func overwrite(_ path: FilePath, with bytes: [UInt8]) -> Bool {
    let descriptor = path.withPlatformString { open($0, O_WRONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return write(descriptor, bytes, bytes.count) == bytes.count
  }
}
