import Glibc
import SystemPackage

/// What a folder of the system holds: any folder, and not only a vault's, so that names are bytes.
package enum FolderNames {
  /// The names in it but for `.` and `..`, in no order.
  package static func all(in folder: FilePath) throws(Errno) -> [[UInt8]] {
    guard let stream = folder.withPlatformString({ opendir($0) }) else {
      throw Errno(rawValue: errno)
    }
    defer { closedir(stream) }
    return try read(stream)
  }

  /// The names in a folder that is open, and stays so, but for `.` and `..`, in no order.
  package static func all(in descriptor: Int32) throws(Errno) -> [[UInt8]] {
    // What reads it takes its descriptor with it when it is closed.
    let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard own >= 0 else { throw Errno(rawValue: errno) }
    guard let stream = fdopendir(own) else {
      let error = Errno(rawValue: errno)
      close(own)
      throw error
    }
    defer { closedir(stream) }
    // Both descriptors have one position.
    rewinddir(stream)
    return try read(stream)
  }

  /// The names in it but for `.` and `..`, in no order; none where it cannot be read.
  package static func readable(in folder: FilePath) -> [[UInt8]] {
    do { return try all(in: folder) } catch { return [] }
  }

  private static func read(_ stream: OpaquePointer) throws(Errno) -> [[UInt8]] {
    var names: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
    }
    guard errno == 0 else { throw Errno(rawValue: errno) }
    return names
  }
}
