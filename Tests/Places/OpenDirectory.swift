import Glibc
import SystemPackage

/// A directory that is being read, entry by entry.
package final class OpenDirectory {
  package struct Entry: Sendable {
    package let name: [UInt8]
    package let inode: UInt
    /// `DT_REG` and so on.
    package let type: UInt8
    /// Where the reading goes on after this entry.
    package let next: Int
  }

  private let stream: OpaquePointer

  package init(_ path: FilePath) throws {
    guard let stream = path.withPlatformString({ opendir($0) }) else { throw Errno.current }
    self.stream = stream
  }

  deinit { closedir(stream) }

  package var descriptor: Int32 { dirfd(stream) }

  /// The next entry; nil at the end.
  package func next() throws -> Entry? {
    errno = 0
    guard let entry = readdir(stream) else {
      if errno != 0 { throw Errno.current }
      return nil
    }
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
    return Entry(
      name: name, inode: UInt(entry.pointee.d_ino), type: entry.pointee.d_type,
      next: telldir(stream))
  }

  /// All entries that are left.
  package func rest() throws -> [Entry] {
    var entries: [Entry] = []
    while let entry = try next() { entries.append(entry) }
    return entries
  }

  package func seek(to position: Int) { seekdir(stream, position) }

  package func rewind() { rewinddir(stream) }
}
