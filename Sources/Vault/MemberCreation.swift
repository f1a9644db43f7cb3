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
    let grant = try grant(of: member)
    try files.store(rootBytes, at: .memberRoot(member), in: context.store)
    try files.store(
      files.sign(
        grant.encoded(), .grant, .grant(member, grant.epoch, context.person), with: signingKey.key),
      at: .grant(member, grant.epoch, context.person), in: context.store)
    return member
  }

  private func grant(of member: MemberID) throws(VaultError) -> GrantBody {
    let epoch = EpochID(number: 1, owner: context.person)
    let key = FamilyMemberKey.random()
    let wrapped: [UInt8]
    do {
      wrapped = try key.wrap(
        giver: agreementKey.key, taker: identity.agreementPublicKey,
        grant: GrantContext(
          member: member, epoch: epoch, giver: context.person, taker: context.person),
        binding: context.binding)
    } catch {
      throw .crypto(error)
    }
    return GrantBody(
      member: member, epoch: epoch, person: context.person,
      personGeneration: identity.generation, giver: context.person,
      giverGeneration: identity.generation, role: .owner, wrappedKey: wrapped,
      time: context.clock.milliseconds(), until: 0)
  }
}
