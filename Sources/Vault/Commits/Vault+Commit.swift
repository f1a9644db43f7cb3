import VaultErrors
import VaultModel

extension Vault {
  /// Commits edits of one member; durable when it returns.
  ///
  /// - Throws: The first failure of an edit that could not be applied.
  package func commit(_ edits: RecordEdit..., to member: Member) throws(VaultError) {
    try commit(edits, to: member)
  }

  package func commit(_ edits: [RecordEdit], to member: Member) throws(VaultError) {
    let commit = try member.commit(edits)
    if let failure = commit.firstFailure { throw failure }
  }
}
