import Glibc
import Log
import Logging
import RemoteStores
import SystemPackage
import VaultModel

/// Where a mount says what fails while nobody looks.
enum MountLog {
  /// Has the file written also where there is a journal, when it is `file`.
  static let variable = "KINVAULT_LOG"

  /// The log of a mount that begins.
  ///
  /// - Parameter isWatched: Somebody sees standard error.
  static func begin(_ vault: VaultID, isWatched: Bool) -> BackgroundLog {
    let folder = stateFolder(of: vault)
    let destinations: [any LogDestination] =
      isWatched
      ? [StandardError.find(journalStream: Environment.value("JOURNAL_STREAM"))]
      : (usesJournal ? [JournalSocket()] : []) + [LogFile(stateFolder: folder)]
    let log = BackgroundLog(
      Logger(destinations, vault: LogValue(vault)), failures: FailureFile(stateFolder: folder))
    log.begin()
    return log
  }

  /// A person goes on with an older folder: that it is older is no failure any more.
  static func forgetOlderFolder(of vault: VaultID) {
    FailureFile(stateFolder: stateFolder(of: vault)).forget("rolledBack")
  }

  /// What a person types to read it.
  static func place(of vault: VaultID) -> String {
    usesJournal
      ? "journalctl -t kinvault" : stateFolder(of: vault).appending("log").string
  }

  private static var usesJournal: Bool {
    Environment.value(variable) != "file" && JournalSocket().exists
  }

  private static func stateFolder(of vault: VaultID) -> FilePath {
    Environment.stateRoot.appending(vault.hex)
  }
}

extension BackgroundLog {
  /// Notes how a sync of the remote at this place in the list has ended.
  func note(_ outcome: SyncOutcome, remote number: Int, kind: LogWord) {
    let identity = LogIdentity(remote: number)
    if let error = outcome.failure {
      return failed(.sync, error, of: identity, ["store": LogValue(kind)])
    }
    // Nothing of a member is joined until a person has decided.
    if outcome.massChange {
      return failed(.sync, kind: "massChange", of: identity, ["store": LogValue(kind)])
    }
    succeeded(.sync, of: identity)
    guard outcome.isWorthTelling else { return }
    note(
      "synced",
      [
        "remote": LogValue(number), "store": LogValue(kind),
        "pulled": LogValue(outcome.pulledFiles), "pushed": LogValue(outcome.pushedFiles),
        "findings": LogValue(outcome.problems.count { $0.severity != "note" }),
      ])
  }

  /// Notes what could not be done about what other programs keep.
  func note(_ complaints: [String]) {
    if complaints.isEmpty { return succeeded(.traces) }
    failed(.traces, kind: "notCleaned", ["places": LogValue(complaints.count)])
  }
}

extension KnownRemote {
  /// What kind of store it is.
  var logKind: LogWord {
    switch address {
    case .directory: "folder"
    case .s3: "s3"
    case .webDAV: "webdav"
    case .rclone: "rclone"
    }
  }
}
