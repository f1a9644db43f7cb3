import Glibc
import VaultFiles

extension FileError {
  /// The number that the kernel gets for this error; the one place where errors of the tree become numbers.
  package var errno: Int32 {
    switch self {
    case .notFound: ENOENT
    case .alreadyExists: EEXIST
    case .notDirectory: ENOTDIR
    case .isDirectory: EISDIR
    case .notEmpty: ENOTEMPTY
    case .notPermitted: EPERM
    case .accessDenied: EACCES
    case .crossDevice: EXDEV
    case .readOnly: EROFS
    case .noSpace: ENOSPC
    case .attributesTooLarge: E2BIG
    case .inputOutput: EIO
    case .away: ENETUNREACH
    case .nameTooLong: ENAMETOOLONG
    case .invalidArgument: EINVAL
    case .notSupported: EOPNOTSUPP
    case .noAttribute: ENODATA
    case .rangeExceeded: ERANGE
    case .badHandle: EBADF
    case .fileTooLarge: EFBIG
    case .noSuchRegion: ENXIO
    case .tooManyLinks: EMLINK
    case .stale: ESTALE
    }
  }
}
