import ArgumentParser
import VaultModel

/// What a way to unlock asks for, as commands call it.
enum UnlockKind: String, ExpressibleByArgument, CaseIterable, CustomStringConvertible {
  case password
  case keyring
  case token
  case tpm

  init(_ part: UnlockPart) {
    self =
      switch part.kind {
      case .password: .password
      case .keyring: .keyring
      case .token: .token
      case .tpm: .tpm
      }
  }

  var description: String {
    switch self {
    case .password: "a password"
    case .keyring: "the desktop's keyring"
    case .token: "a FIDO2 token"
    case .tpm: "this machine's TPM"
    }
  }
}
