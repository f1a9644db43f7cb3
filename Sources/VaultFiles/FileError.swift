/// Why an operation on the mounted view failed; each case is one `errno`, which VaultMount names
/// in one `switch`.
package enum FileError: Error, Hashable, Sendable {
  /// ENOENT: no such file, directory or inode.
  case notFound
  /// EEXIST: the name is taken.
  case alreadyExists
  /// ENOTDIR: a directory was needed.
  case notDirectory
  /// EISDIR: a directory is not opened, written or unlinked as a file.
  case isDirectory
  /// ENOTEMPTY: only an empty directory is removed or replaced.
  case notEmpty
  /// EPERM: the view does not allow it to anyone (removing a member, giving a file away).
  case notPermitted
  /// EACCES: the permission bits do not allow it, or a file was to be made among the members.
  case accessDenied
  /// EXDEV: the two places belong to different members, whose keys differ; copy instead.
  case crossDevice
  /// EROFS: the mount or the vault is read-only.
  case readOnly
  /// ENOSPC: the store is full.
  case noSpace
  /// EDQUOT-like limits of the format, as E2BIG: extended attributes exceed their limit.
  case attributesTooLarge
  /// EIO: an object is damaged or missing, or the store failed.
  case inputOutput
  /// ENETUNREACH: a part of the content is kept on a remote that cannot be reached.
  case away
  /// ENAMETOOLONG: a name is longer than 255 bytes, or a symlink's target than 4,095.
  case nameTooLong
  /// EINVAL: the arguments make no sense together.
  case invalidArgument
  /// EOPNOTSUPP: the view has no such operation.
  case notSupported
  /// ENODATA: no extended attribute of this name.
  case noAttribute
  /// ERANGE: the value does not fit the buffer offered.
  case rangeExceeded
  /// EBADF: the handle was not opened for this.
  case badHandle
  /// EFBIG: beyond the largest file.
  case fileTooLarge
  /// ENXIO: no data, or no hole, at or after this offset.
  case noSuchRegion
  /// EMLINK: more links than the format can list.
  case tooManyLinks
  /// ESTALE: the inode number means nothing any more; or others have removed the file, and what was written cannot have
  /// its name.
  case stale
}

extension FileError {
  /// Why something could not be saved, in words for the audit log.
  var cause: String {
    switch self {
    case .noSpace: "not saved: the disk is full"
    case .readOnly: "not saved: nothing may be written"
    case .accessDenied: "not saved: no access"
    case .away: "not saved: a part is on a remote that cannot be reached"
    case .inputOutput: "not saved: a part of it could not be read or written by this program"
    default: "not saved: \(self)"
    }
  }
}
