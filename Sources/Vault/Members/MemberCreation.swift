import BlobStore
import VaultCrypto
import VaultModel

/// Writes the statements of a new member: its root and the creator's own grant of epoch 1.
struct MemberCreation {
  let context: VaultContext
  let identity: IdentityBody
  let agreementKey: IdentityKeys.Shared
  let signingKey: IdentityKeys.SharedSigning

  /// - Returns: The member's name, the hash of its root.
  func run() throws(VaultError) -> MemberID {
    let files = context.signedFiles
    let root = MemberRootBody(
      creator: context.person, generation: identity.generation, random: randomBytes(32),
      time: context.clock.milliseconds())
    // The path that is signed does not contain the name, which is the hash of what is signed.
    let anyMember = MemberID.random()
    let rootBytes = files.sign(
      root.encoded(), .root, .memberRoot(anyMember), with: signingKey.key)
    let member = MemberID(rootFile: rootBytes)
    try files.store(rootBytes, at: .memberRoot(member), in: context.store)
    let issuer = GrantIssuer(
      member: member, context: context, generation: identity.generation,
      agreementKey: agreementKey, signingKey: signingKey)
    try issuer.give(
      .random(), of: EpochID(number: 1, owner: context.person), to: identity, as: .owner, until: 0)
    return member
  }
}
