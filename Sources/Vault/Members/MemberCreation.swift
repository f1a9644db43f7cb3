import BlobStore
import VaultCrypto
import VaultModel
import VaultTrust

/// Writes the statements of a new member: its root and the creator's own grant of epoch 1.
struct MemberCreation {
  let context: VaultContext
  /// Gives in the creator's name.
  let issuer: (MemberID) -> GrantIssuer

  /// - Returns: The member's name, the id of its root.
  func run() throws(VaultError) -> MemberID {
    let files = context.signedFiles
    let own = try context.ownPerson()
    let root = MemberRoot(
      person: context.person, certificate: try context.ownCertificate().id,
      random: FileHash.random(), time: context.clock.milliseconds())
    let body = root.encoded()
    let member = MemberID(root: files.binding.vault.statementID(.root, body: body))
    let device = context.device
    try files.store(
      files.statement(.root, body) { device.signingKey.sign($0) }, at: .memberRoot(member),
      in: context.store)
    try issuer(member).give(
      .random(), of: EpochID(number: 1, owner: context.person), to: own, as: .owner, until: 0)
    return member
  }
}
