import BlobStore
import Log
import VaultCrypto
import VaultModel

extension VaultError: LoggedError {
  package var logKind: ErrorKind {
    switch self {
    case .notAVault: "notAVault"
    case .otherVault: "otherVault"
    case .badInvitation: "badInvitation"
    case .folderNotEmpty: "folderNotEmpty"
    case .unsupported: "unsupported"
    case .thisDeviceRemoved: "thisDeviceRemoved"
    case .signedByRemovedDevice: "signedByRemovedDevice"
    case .replacedWords: "replacedWords"
    case .noDeviceHere: "noDeviceHere"
    case .wrongPassword: "wrongPassword"
    case .wrongWords: "wrongWords"
    case .otherWords: "otherWords"
    case .notNeeded: "notNeeded"
    case .lastSlot: "lastSlot"
    case .passwordIsNotEnough: "passwordIsNotEnough"
    case .damagedSlot: "damagedSlot"
    case .damaged: "damaged"
    case .missing: "missing"
    case .away: "away"
    case .gone: "gone"
    case .rolledBack: "rolledBack"
    case .forked: "forked"
    case .branched: "branched"
    case .keysDivided: "keysDivided"
    case .keysAwaited: "keysAwaited"
    case .epochSpent: "epochSpent"
    case .noSpace, .noRoomForNewKeys: "noSpace"
    case .readOnly: "readOnly"
    case .permission: "permission"
    case .noAccess: "noAccess"
    case .viewersOnlyRead: "viewersOnlyRead"
    case .ownersOnly: "ownersOnly"
    case .lastOwner: "lastOwner"
    case .moreSenior: "moreSenior"
    case .accessEnded: "accessEnded"
    case .notFound: "notFound"
    case .changedMeanwhile: "changedMeanwhile"
    case .alreadyExists: "alreadyExists"
    case .limit: "limit"
    case .io(_, let errno): ErrorKind("io", number: errno)
    case .crypto(let error): error.logKind
    }
  }
}

extension BlobStoreError: LoggedError {
  package var logKind: ErrorKind {
    switch self {
    case .notFound: "missing"
    case .alreadyExists: "alreadyExists"
    case .noSpace: "noSpace"
    case .readOnly: "readOnly"
    case .permission: "permission"
    case .notABlob: "notABlob"
    case .tooLarge: "tooLarge"
    case .invalidPath: "invalidPath"
    case .io(_, let errno): ErrorKind("io", number: errno)
    case .unreachable: "unreachable"
    case .timedOut: "timedOut"
    case .throttled: "throttled"
    case .denied: "denied"
    case .untrusted: "untrusted"
    case .noSuchStore: "noSuchStore"
    case .garbled: "garbled"
    case .unexpectedReply(_, let status, _):
      ErrorKind("unexpectedReply", number: Int32(clamping: status))
    case .endlessListing: "endlessListing"
    case .programFailed: "programFailed"
    }
  }
}

extension CryptoError: LoggedError {
  package var logKind: ErrorKind {
    switch self {
    case .authenticationFailed: "authenticationFailed"
    case .unwrapFailed: "unwrapFailed"
    case .malformed: "malformed"
    case .unsupportedVersion: "unsupportedVersion"
    case .wrongKind: "wrongKind"
    case .otherKey: "otherKey"
    case .nameMismatch: "nameMismatch"
    case .costOutOfRange: "costOutOfRange"
    case .outOfMemory: "outOfMemory"
    case .invalidKey: "invalidKey"
    }
  }
}
