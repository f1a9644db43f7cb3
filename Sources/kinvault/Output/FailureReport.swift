import ArgumentParser
import BlobStore
import Glibc
import Notes
import RemoteStores
import Search
import Tokens
import Vault
import VaultCrypto
import VaultErrors
import VaultFiles
import VaultMount
import VaultPlain
import VaultSync

/// What a failed command says and ends with. The one place where errors become exit statuses.
struct FailureReport {
  let status: ExitStatus
  let message: String

  init(_ error: any Error) {
    switch error {
    case let error as CommandError: self.init(error)
    case let error as VaultError: self.init(error)
    case let error as PlainFileError: self.init(error)
    case let error as BlobStoreError: self.init(error)
    case let error as CryptoError: self.init(error)
    case let error as SyncError: self.init(error)
    case .vault(let error) as SearchError: self.init(error)
    case .index(let code) as SearchError:
      self.init(.system, "The search failed: \(SearchError.text(ofCode: code)).")
    case let error as RemoteAddressError: self.init(.usage, "\(error.message).")
    case let error as WordsError: self.init(.wrongSecret, error.message)
    case let error as SessionKeyringError: self.init(.unsupported, error.message)
    case let error as TokenError: self.init(error)
    case let error as MountError: self.init(error)
    case let error as FileError:
      self.init(
        Self.status(ofErrno: error.errno),
        "The last changes could not be saved: \(String(cString: strerror(error.errno))).")
    case let error as FrontMatterError: self.init(.refused, error.message)
    default: self.init(parser: error)
    }
  }

  private init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  /// Help, versions, completion scripts and wrong command lines.
  private init(parser error: any Error) {
    let code = Kinvault.exitCode(for: error)
    let status: ExitStatus =
      switch code {
      case .success: .success
      case .validationFailure: .usage
      default: .system
      }
    self.init(status, Kinvault.fullMessage(for: error))
  }

  /// Prints the message, to standard output when nothing failed, and ends the program.
  func end() -> Never {
    if status == .success {
      if !message.isEmpty { Terminal.writeLine(message) }
    } else if !message.isEmpty {
      let isUsage = status == .usage && message.hasPrefix("Error:")
      Terminal.note(isUsage ? message : "kinvault: \(message)")
    }
    endProcess(status.rawValue)
  }
}

// A process in the background tells its failure to the one that the person waits for.
extension FailureReport {
  var encoded: String { "\(status.rawValue) \(message)" }

  /// Nil for anything but `encoded`.
  init?(encoded text: String) {
    guard let end = text.firstIndex(of: " "), let number = Int32(text[..<end]),
      let status = ExitStatus(rawValue: number)
    else { return nil }
    self.init(status, String(text[text.index(after: end)...]))
  }
}

extension FailureReport {
  private init(_ error: CommandError) {
    let status: ExitStatus =
      switch error {
      case .usage: .usage
      case .notFound: .notFound
      case .alreadyExists: .alreadyExists
      case .locked: .locked
      case .wrongSecret: .wrongSecret
      case .refused: .refused
      case .notPermitted: .notPermitted
      case .unsupported: .unsupported
      case .noRoom: .noSpace
      case .damaged: .damaged
      case .interrupted: .interrupted
      case .problemsFound: .problemsFound
      case .notSynced(_, let status), .cutShort(_, let status): status
      case .system(_, _, let number): Self.status(ofErrno: number)
      }
    self.init(status, error.message)
  }

  private init(_ error: VaultError) {
    let status: ExitStatus =
      switch error {
      case .notAVault, .noDeviceHere, .notFound: .notFound
      case .folderNotEmpty, .otherVault, .rolledBack, .limit, .lastSlot, .notNeeded,
        .changedMeanwhile:
        .refused
      case .badInvitation: .usage
      case .unsupported: .unsupported
      case .wrongPassword, .passwordIsNotEnough, .wrongWords, .replacedWords, .otherWords:
        .wrongSecret
      case .damagedSlot, .damaged, .missing, .gone, .forked, .branched, .signedByRemovedDevice:
        .damaged
      // Nothing is damaged; somebody who has the words decides.
      case .keysDivided, .keysAwaited: .refused
      case .noSpace, .noRoomForNewKeys: .noSpace
      case .readOnly, .permission, .noAccess, .viewersOnlyRead, .ownersOnly, .lastOwner,
        .accessEnded, .moreSenior, .thisDeviceRemoved, .epochSpent:
        .notPermitted
      case .alreadyExists: .alreadyExists
      case .io(_, let number): Self.status(ofErrno: number)
      case .away: .unreachable
      case .crypto: .system
      }
    self.init(status, error.message)
  }

  private init(_ error: TokenError) {
    let status: ExitStatus =
      switch error {
      case .noneHere, .notKept: .notFound
      case .wrongPIN, .another: .wrongSecret
      case .lockedOut, .needsPIN, .hasNoPIN, .notConfirmed: .notPermitted
      case .unsuitable: .unsupported
      case .failed: .system
      }
    self.init(status, error.message)
  }

  private init(_ error: PlainFileError) {
    switch error {
    case .system(_, _, let number): self.init(Self.status(ofErrno: number), error.message)
    case .notImportable, .changing: self.init(.refused, error.message)
    case .alreadyExists: self.init(.alreadyExists, error.message)
    case .vault(let cause): self.init(cause)
    }
  }

  private init(_ error: BlobStoreError) {
    let status: ExitStatus =
      switch error {
      case .notFound: .notFound
      case .alreadyExists: .alreadyExists
      case .noSpace: .noSpace
      case .readOnly, .permission, .denied, .untrusted: .notPermitted
      case .notABlob, .tooLarge, .invalidPath, .garbled: .damaged
      case .noSuchStore: .notFound
      case .unreachable, .timedOut, .throttled, .unexpectedReply, .endlessListing, .programFailed:
        .unreachable
      case .io(_, let number): Self.status(ofErrno: number)
      }
    if case .permission(let path) = error, path.hasPrefix("/") {
      self.init(status, DeniedFolder.message(for: path))
    } else {
      self.init(status, "\(error.message).")
    }
  }

  private init(_ error: SyncError) {
    switch error {
    case .remote(.permission(let path)) where path.hasPrefix("/"):
      self.init(.notPermitted, "The remote failed. \(DeniedFolder.message(for: path))")
    case .remote(let cause): self.init(FailureReport(cause).status, error.message)
    case .vault(.noSpace):
      self.init(
        .noSpace,
        "There is no space left on the disk of the vault for what comes from the remote. What was saved here is safe, and "
          + "can be read. Move or delete other files on that disk, and try again; once there is room, kinvault collect "
          + "removes what the vault no longer needs.")
    case .vault(let cause): self.init(cause)
    case .otherVault, .notThisVault, .notEmpty, .emptied, .tooManyPeople, .crowdedPeople:
      self.init(.refused, error.message)
    case .noVault: self.init(.notFound, error.message)
    case .busy: self.init(.busy, error.message)
    }
  }

  private init(_ error: CryptoError) {
    self.init(.system, error.message)
  }

  private init(_ error: MountError) {
    if case .backgroundFailed(let text) = error, let report = FailureReport(encoded: text) {
      self = report
      return
    }
    let status: ExitStatus =
      switch error {
      case .notADirectory, .notEmpty, .overlapsVault: .refused
      case .alreadyMounted, .mountedElsewhere, .mountedUnseen, .notEnded, .busy, .stillServing:
        .busy
      case .refused, .othersNotAllowed, .noDevice: .unsupported
      case .notMounted: .notFound
      case .notUnmounted, .backgroundFailed, .backgroundDied: .system
      case .system(_, _, let number), .notSaved(_, let number), .lostAtEnd(_, let number):
        Self.status(ofErrno: number)
      }
    self.init(status, error.message)
  }

  private static func status(ofErrno number: Int32) -> ExitStatus {
    switch number {
    case ENOSPC, EDQUOT: .noSpace
    case EROFS, EACCES, EPERM: .notPermitted
    case ENOENT, ENOTDIR: .notFound
    case EEXIST, ENOTEMPTY: .alreadyExists
    case EBUSY, ETXTBSY, EAGAIN: .busy
    default: .system
    }
  }
}
