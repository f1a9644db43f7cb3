import Glibc
import Vault
import VaultErrors

extension FileError {
  /// What a program is told of a failure of the vault.
  init(_ error: VaultError) {
    switch error {
    case .noSpace, .noRoomForNewKeys: self = .noSpace
    case .readOnly, .viewersOnlyRead, .thisDeviceRemoved, .epochSpent: self = .readOnly
    case .alreadyExists: self = .alreadyExists
    case .notFound: self = .notFound
    case .away: self = .away
    case .permission, .noAccess, .ownersOnly, .lastOwner, .accessEnded: self = .accessDenied
    case .io(_, let number) where number == ENOSPC || number == EDQUOT: self = .noSpace
    case .io(_, let number) where number == EROFS: self = .readOnly
    default: self = .inputOutput
    }
  }
}
