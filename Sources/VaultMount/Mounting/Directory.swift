import Glibc
import SystemPackage

/// What a directory of the system holds.
enum Directory {
  /// The names in it without `.` and `..`, in no order; none when it cannot be read.
  static func names(in folder: FilePath) -> [[UInt8]] {
    guard let handle = folder.withPlatformString({ opendir($0) }) else { return [] }
    defer { closedir(handle) }
    var result: [[UInt8]] = []
    while let entry = readdir(handle) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != Array(".".utf8), name != Array("..".utf8) { result.append(name) }
    }
    return result
  }
}
