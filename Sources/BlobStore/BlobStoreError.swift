import SystemPackage

/// Why a store could not do what it was asked. `path` is relative to the store's root.
package enum BlobStoreError: Error, Hashable, Sendable {
  case notFound(path: String)
  case alreadyExists(path: String)
  /// The disk or a quota is full, or the file would be larger than the file system takes.
  case noSpace(path: String)
  /// The file system is mounted read-only.
  case readOnly(path: String)
  case permission(path: String)
  /// A folder, link, pipe, socket or device stands where a blob should, or a blob or link where a folder should.
  case notABlob(path: String)
  case tooLarge(path: String, size: UInt64, limit: Int)
  case invalidPath(String)
  case io(path: String, errno: Int32)
}

extension BlobStoreError {
  /// The one place where a system call's error gets its meaning.
  package init(errno: Int32, path: String) {
    switch Errno(rawValue: errno) {
    case .noSuchFileOrDirectory: self = .notFound(path: path)
    case .fileExists: self = .alreadyExists(path: path)
    case .noSpace, .diskQuotaExceeded, .fileTooLarge: self = .noSpace(path: path)
    case .readOnlyFileSystem: self = .readOnly(path: path)
    case .permissionDenied, .notPermitted: self = .permission(path: path)
    case .isDirectory, .notDirectory, .tooManySymbolicLinkLevels: self = .notABlob(path: path)
    default: self = .io(path: path, errno: errno)
    }
  }
}

extension BlobStoreError: CustomStringConvertible {
  /// What happened and to what, for a person.
  package var message: String {
    switch self {
    case .notFound(let path): "\(path): there is no such file"
    case .alreadyExists(let path): "\(path): there is such a file already"
    case .noSpace(let path): "\(path): no space is left on the disk, or a quota is used up"
    case .readOnly(let path): "\(path): the file system is read-only"
    case .permission(let path): "\(path): permission denied"
    case .notABlob(let path): "\(path): not an ordinary file in an ordinary folder"
    case .tooLarge(let path, let size, let limit):
      "\(path): \(size) bytes, where at most \(limit) may be"
    case .invalidPath(let path): "\(path): not a path that a store could have"
    case .io(let path, let errno): "\(path): \(Errno(rawValue: errno))"
    }
  }

  package var description: String { message }
}
