import Log
import Vault
import VaultErrors
import VaultModel

/// What becomes of that which cannot be saved when a mount ends.
extension FileTree {
  /// Keeps in this machine's state what of a member could not be committed, where nothing of it could, and names in the log what
  /// is kept and what goes with this process.
  func keepAtEnd(_ shown: ShownMember) {
    noteUnsealedAtEnd(of: shown)
    let (pending, failure) = withTree { tree in
      (tree[shown.view].pendingEdits, tree[shown.view].failure)
    }
    guard let failure, !pending.edits.isEmpty else { return }
    defer { withExtendedLifetime(pending.objects) {} }
    log.attempt(.redoLog, of: LogIdentity(shown.member.id)) { () throws(VaultError) in
      try vault.keepAtEnd(pending.edits, of: shown.member, reason: failure.cause)
    }
  }

  /// Also where somebody has the file open, and would have been told at the next sync or close.
  private func noteUnsealedAtEnd(of shown: ShownMember) {
    let lost: [(link: Link, cause: String)] = withTree { tree in
      tree[shown.view].unsealed.values.compactMap { file -> (link: Link, cause: String)? in
        guard let error = file.pendingError, let link = file.links.first else { return nil }
        return (link, error.cause)
      }
    }
    for (link, cause) in lost {
      vault.audit.note(
        .unsaved, member: shown.member.id, record: link.record, name: link.name,
        detail: "\(cause), and lost")
    }
  }
}
