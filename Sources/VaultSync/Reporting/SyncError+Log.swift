import Log
import Vault
import VaultErrors

extension SyncError: LoggedError {
  package var logKind: ErrorKind {
    switch self {
    case .remote(let error): error.logKind
    case .vault(let error): error.logKind
    case .otherVault: "otherVault"
    case .notThisVault: "notThisVault"
    case .notEmpty: "notEmpty"
    case .emptied: "emptied"
    case .noVault: "noVault"
    case .tooManyPeople: "tooManyPeople"
    case .crowdedPeople: "crowdedPeople"
    case .busy: "busy"
    }
  }
}
