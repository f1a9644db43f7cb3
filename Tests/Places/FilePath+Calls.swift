import CPosix
import Glibc
import SystemPackage

/// System calls on a path, with their errors thrown as `Errno`.
extension FilePath {
  /// The entry of this name, which may be any bytes.
  package func appending(bytes: [UInt8]) -> FilePath {
    let name = bytes.map { CChar(bitPattern: $0) } + [0]
    return appending(FilePath.Component(platformString: name)!)
  }

  /// lstat(2).
  package func status() throws -> Glibc.stat {
    var result = Glibc.stat()
    try Errno.check(withPlatformString { lstat($0, &result) })
    return result
  }

  /// Whether there is an entry, be it a dangling link.
  package var exists: Bool { (try? status()) != nil }

  package func makeDirectory(mode: mode_t = 0o755) throws {
    try Errno.check(withPlatformString { mkdir($0, mode) })
  }

  package func removeDirectory() throws { try Errno.check(withPlatformString { rmdir($0) }) }

  package func unlink() throws { try Errno.check(withPlatformString { Glibc.unlink($0) }) }

  /// renameat2(2).
  package func rename(to other: FilePath, flags: Int = 0) throws {
    try Errno.check(
      withPlatformString { old in
        other.withPlatformString { px_rename(old, $0, UInt32(flags)) }
      })
  }

  /// Makes this the hard link of an existing file.
  package func link(to existing: FilePath) throws {
    try Errno.check(
      existing.withPlatformString { old in withPlatformString { Glibc.link(old, $0) } })
  }

  /// Makes this a symbolic link with these bytes in it.
  package func symlink(to target: [UInt8]) throws {
    let text = target.map { CChar(bitPattern: $0) } + [0]
    try Errno.check(withPlatformString { Glibc.symlink(text, $0) })
  }

  package func linkTarget() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 5000)
    let count = try withPlatformString { path in
      try buffer.withUnsafeMutableBytes {
        try Errno.check(
          readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count))
      }
    }
    return Array(buffer[..<count])
  }

  package func changeMode(_ mode: mode_t) throws {
    try Errno.check(withPlatformString { chmod($0, mode) })
  }

  package func changeOwner(_ user: uid_t, _ group: gid_t) throws {
    try Errno.check(withPlatformString { lchown($0, user, group) })
  }

  package func truncate(to size: Int) throws {
    try Errno.check(withPlatformString { Glibc.truncate($0, off_t(size)) })
  }

  /// utimensat(2); `px_utime_now` and `px_utime_omit` stand as nanoseconds.
  package func setTimes(
    access: (seconds: Int, nanoseconds: Int), modified: (seconds: Int, nanoseconds: Int)
  ) throws {
    try Errno.check(
      withPlatformString {
        px_utimens(
          $0, Int64(access.seconds), Int64(access.nanoseconds), Int64(modified.seconds),
          Int64(modified.nanoseconds))
      })
  }

  /// Makes a file with this content.
  package func write(_ bytes: [UInt8]) throws {
    try OpenFile(self, O_WRONLY | O_CREAT | O_TRUNC).append(bytes)
  }

  package func write(_ text: String) throws { try write(Array(text.utf8)) }

  package func contents() throws -> [UInt8] { try OpenFile(self, O_RDONLY).contents() }

  package func text() throws -> String { String(decoding: try contents(), as: UTF8.self) }

  /// The names in this directory without `.` and `..`, sorted by their bytes.
  package func names() throws -> [[UInt8]] {
    let listing = try OpenDirectory(self)
    return try listing.rest().map(\.name).filter { $0 != [0x2e] && $0 != [0x2e, 0x2e] }
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// `names` as text.
  package func textNames() throws -> [String] {
    try names().map { String(decoding: $0, as: UTF8.self) }
  }
}

extension stat {
  package var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
  package var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
  package var isLink: Bool { st_mode & S_IFMT == S_IFLNK }
  package var permissions: mode_t { st_mode & 0o7777 }
  /// The time of the last change of the content, in nanoseconds since 1970.
  package var modifiedNanoseconds: Int { st_mtim.tv_sec * 1_000_000_000 + st_mtim.tv_nsec }
  /// The time of the last change of content or attributes, in nanoseconds since 1970.
  package var changedNanoseconds: Int { st_ctim.tv_sec * 1_000_000_000 + st_ctim.tv_nsec }
}
