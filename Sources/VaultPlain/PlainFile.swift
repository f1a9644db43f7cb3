import Glibc
import VaultModel

/// Where a plain file or directory stands outside of the vault: a path in bytes from an open directory on.
///
/// Names are taken as they are, UTF-8 or not, and nothing is as long as the whole path, so that any name works at any
/// depth. Valid as long as the directory's descriptor is open.
package struct PlainFile {
  private let folder: Int32
  private let terminatedPath: [CChar]
  /// The path for messages; bytes that are not UTF-8 show as U+FFFD.
  package let description: String

  /// - Parameter path: From the current folder on, unless it begins with `/`. A NUL ends it.
  package init(path: some Collection<UInt8>) {
    folder = AT_FDCWD
    let bytes = path.prefix { $0 != 0 }
    terminatedPath = bytes.map { CChar(bitPattern: $0) } + [0]
    description = String(decoding: bytes, as: UTF8.self)
  }

  /// - Parameter path: That of the directory `folder`, for messages.
  init(_ name: FileName, in folder: Int32, at path: String) {
    self.folder = folder
    terminatedPath = name.bytes.map { CChar(bitPattern: $0) } + [0]
    description = "\(path)/\(name.string)"
  }

  /// What the last component is, links not followed.
  package func status() throws(PlainFileError) -> stat {
    var status = stat()
    try check("stat") { fstatat($0, $1, &status, AT_SYMLINK_NOFOLLOW) }
    return status
  }

  /// Makes this a name of another file, as well as the one that it has.
  func link(to other: PlainFile) throws(PlainFileError) {
    try check("link") { (folder, path) in
      other.terminatedPath.withUnsafeBufferPointer {
        linkat(other.folder, $0.baseAddress!, folder, path, 0)
      }
    }
  }

  /// Calls a system call that takes a directory's descriptor and a path, and returns its result.
  ///
  /// - Throws: `alreadyExists` for `EEXIST`, `system` for any other failure.
  @discardableResult
  func check<Number: SignedInteger>(
    _ call: String, _ body: (Int32, UnsafePointer<CChar>) -> Number
  ) throws(PlainFileError) -> Number {
    let result = terminatedPath.withUnsafeBufferPointer { body(folder, $0.baseAddress!) }
    guard result >= 0 else {
      if errno == EEXIST { throw .alreadyExists(path: description) }
      throw .system(call: call, path: description, errno: errno)
    }
    return result
  }
}
