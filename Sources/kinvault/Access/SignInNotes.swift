import Glibc
import MachineState
import SystemPackage
import Tokens
import Vault
import VaultErrors
import VaultModel

/// Notes in the audit log what happens while a vault is locked. That this cannot be done is told and keeps nobody from
/// anything.
enum SignInNotes {
  /// Runs `body` with this machine's state of the vault, if it has one.
  static func keep(
    of vault: VaultID, _ body: (StateFolder) throws(VaultError) -> Void
  ) {
    let root = Environment.stateRoot
    guard access(root.appending(vault.hex).appending("device").string, F_OK) == 0 else { return }
    do { try body(StateFolder.open(root: root, vault: vault)) } catch {
      switch error {
      // Who only reads on a full disk, or a read-only one, is told by what they do there.
      case .noSpace, .readOnly, .permission: return
      default:
        Terminal.note(
          "kinvault: The audit log could not be written: \(FailureReport(error).message)")
      }
    }
  }

  /// Notes that what was given to unlock the vault with was wrong; of other errors nothing.
  static func refused(_ error: any Error, of vault: VaultID) {
    let what: String
    switch error {
    case VaultError.wrongPassword: what = "password"
    case VaultError.wrongWords, VaultError.replacedWords: what = "words"
    case TokenError.wrongPIN: what = "PIN"
    case TokenError.lockedOut: what = "PIN, after too many wrong ones"
    default: return
    }
    refused(what, of: vault)
  }

  /// Runs what tries the words that somebody gave, and notes if they are wrong.
  static func tryingWords<Value>(
    of vault: VaultID, _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    do { return try body() } catch {
      refused(error, of: vault)
      throw error
    }
  }

  static func refused(_ what: String, of vault: VaultID) {
    keep(of: vault) { (state) throws(VaultError) in
      try state.noteWithoutKeys(.refused, detail: what)
    }
  }

  /// What was noted since somebody last opened the vault, for whoever does now; empty if there is nothing to be told.
  static func news(of events: [AuditEvent]) -> [String] {
    let refused = events.filter { $0.action == AuditAction.refused.rawValue }
    guard let first = refused.map(\.time).min() else { return [] }
    let kinds = Dictionary(grouping: refused, by: \.detail).mapValues { events in
      events.reduce(0) { $0 + max(1, Int($1.count)) }
    }
    let counts = kinds.sorted { $0.key < $1.key }.map { kind, count in
      switch kind {
      case "password": counted(count, "wrong password")
      case "words": "the wrong words \(counted(count, "time"))"
      // "token" until 2026, of a TPM as well.
      case "PIN", "token": counted(count, "wrong PIN")
      default: counted(count, "refused attempt")
      }
    }
    let since = DateText.local(milliseconds: first)
    return ["Since \(since) there was tried here: \(counts.joined(separator: ", "))."]
  }

  /// What syncs have found and nobody has acknowledged; nil if there is nothing.
  static func warning(of memory: TamperingMemory) -> String? {
    let open = memory.open
    guard let first = open.map(\.first).min() else { return nil }
    let remotes = Set(open.map(\.remote)).sorted().map(Terminal.visible).joined(separator: ", ")
    return
      "Since \(DateText.local(milliseconds: first)) syncs have found \(counted(open.count, "thing")) that may be "
      + "tampering, on \(remotes). To see them: kinvault audit --action tampering. When you have looked: kinvault "
      + "audit acknowledge"
  }
}
