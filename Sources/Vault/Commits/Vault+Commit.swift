import VaultErrors
import VaultModel

extension Vault {
  /// Commits all edits of one member, or none; durable when it returns.
  ///
  /// What comes back from history is brought here first where the vault is lazy: other machines may have collected it long ago,
  /// and then nobody would have what the record names.
  ///
  /// - Throws: What a commit throws; the first failure of an edit that cannot be applied; `away` of what cannot be had
  ///   now; `gone` of what nobody has.
  package func commit(_ edits: RecordEdit..., to member: Member) throws(VaultError) {
    try commit(edits, to: member)
  }

  package func commit(_ edits: [RecordEdit], to member: Member) throws(VaultError) {
    try member.fetchWhatComesBack(edits)
    try member.commitAll(edits)
  }
}
