import VaultErrors
import VaultModel

extension Vault {
  /// Commits all edits of one member, or none; durable when it returns.
  ///
  /// - Throws: What a commit throws; the first failure of an edit that cannot be applied.
  package func commit(_ edits: RecordEdit..., to member: Member) throws(VaultError) {
    try commit(edits, to: member)
  }

  package func commit(_ edits: [RecordEdit], to member: Member) throws(VaultError) {
    try member.commitAll(edits)
  }
}
