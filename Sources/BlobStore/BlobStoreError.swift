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

  // What only a store behind a network or a program can answer. `reason` and `text` are one line each, never hold a
  // secret, and come from the other side: never compare them.

  /// Nobody answers there: no such host, connection refused or broken off.
  case unreachable(path: String, reason: String)
  case timedOut(path: String)
  /// The store asks for patience.
  case throttled(path: String)
  /// The store refuses these credentials, or they do not suffice for this.
  case denied(path: String, reason: String)
  /// The other side could not prove who it is, or speaks in a way that cannot be trusted.
  case untrusted(reason: String)
  /// There is no such bucket, share or remote.
  case noSuchStore(name: String)
  /// What arrived is not what was sent: cut short, or with another checksum.
  case garbled(path: String, reason: String)
  /// An answer that makes no sense; `status` is HTTP's, or 0.
  case unexpectedReply(path: String, status: Int, text: String)
  /// A listing that does not end, or not within reason.
  case endlessListing(folder: String, limit: Int)
  /// The program that the store is reached through does not start or has ended.
  case programFailed(program: String, reason: String)
}

extension BlobStoreError {
  /// Whether the same call may well succeed when it is made again a little later.
  package var isTransient: Bool {
    switch self {
    case .unreachable, .timedOut, .throttled, .garbled: true
    case .unexpectedReply(_, let status, _): [408, 425, 500, 502, 503, 504, 509].contains(status)
    case .io(_, let errno):
      [.resourceTemporarilyUnavailable, .resourceBusy, .timedOut, .staleNFSFileHandle]
        .contains(Errno(rawValue: errno))
    case .notFound, .alreadyExists, .noSpace, .readOnly, .permission, .notABlob, .tooLarge,
      .invalidPath, .denied, .untrusted, .noSuchStore, .endlessListing, .programFailed:
      false
    }
  }

  /// Whether no more files could be opened, by this process or by anybody.
  package var isOfTooManyFiles: Bool {
    guard case .io(_, let errno) = self else { return false }
    return [.tooManyOpenFiles, .tooManyOpenFilesInSystem].contains(Errno(rawValue: errno))
  }
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
    // The store as a whole has no path.
    words.hasPrefix(": ") ? String(words.dropFirst(2)) : words
  }

  private var words: String {
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
    case .unreachable(let path, let reason): "\(path): the store cannot be reached: \(reason)"
    case .timedOut(let path): "\(path): the store did not answer in time"
    case .throttled(let path): "\(path): the store asks to come back later"
    case .denied(let path, let reason): "\(path): the store refuses access: \(reason)"
    case .untrusted(let reason): "the store cannot be trusted: \(reason)"
    case .noSuchStore(let name): "\(name): there is no such bucket, folder or remote"
    case .garbled(let path, let reason): "\(path): garbled on its way: \(reason)"
    case .unexpectedReply(let path, let status, let text):
      "\(path): the store gave an answer that makes no sense"
        + (status == 0 ? "" : " (status \(status))") + (text.isEmpty ? "" : ": \(text)")
    case .endlessListing(let folder, let limit):
      "\(folder.isEmpty ? "the store" : folder): its listing does not end (more than \(limit) entries)"
    case .programFailed(let program, let reason): "\(program): \(reason)"
    }
  }

  package var description: String { message }
}
