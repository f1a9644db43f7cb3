import Glibc
import Testing
import VaultFiles

@testable import VaultMount

@Suite struct ErrnoTests {
  @Test func everyErrorHasTheNumberThatPOSIXNames() {
    let table: [(FileError, Int32)] = [
      (.notFound, ENOENT), (.alreadyExists, EEXIST), (.notDirectory, ENOTDIR),
      (.isDirectory, EISDIR), (.notEmpty, ENOTEMPTY), (.notPermitted, EPERM),
      (.accessDenied, EACCES), (.crossDevice, EXDEV), (.readOnly, EROFS), (.noSpace, ENOSPC),
      (.attributesTooLarge, E2BIG), (.inputOutput, EIO), (.nameTooLong, ENAMETOOLONG),
      (.invalidArgument, EINVAL), (.notSupported, EOPNOTSUPP), (.noAttribute, ENODATA),
      (.rangeExceeded, ERANGE), (.badHandle, EBADF), (.fileTooLarge, EFBIG),
      (.noSuchRegion, ENXIO), (.tooManyLinks, EMLINK), (.stale, ESTALE),
    ]
    for (error, number) in table { #expect(error.errno == number, "\(error)") }
    #expect(Set(table.map(\.1)).count == table.count)
  }
}
