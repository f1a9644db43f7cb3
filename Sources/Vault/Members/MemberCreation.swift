import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Writes the statements of a new member: its root, and the link with which its creator begins the first epoch.
struct MemberCreation {
  let context: VaultContext
  /// The member that the new one takes the place of.
  var renews: MemberID?

  /// - Returns: The member's name, the id of its root.
  /// - Throws: `keysDivided` while this person has no open generation.
  func run() throws(VaultError) -> MemberID {
    let files = context.signedFiles
    let own = try context.ownPerson()
    try context.requireRead([own.id])
    let root = MemberRoot(
      person: context.person, certificate: try context.ownCertificate().id,
      random: FileHash.random(), time: context.clock.milliseconds(), renews: renews)
    let body = root.encoded()
    let member = MemberID(root: files.binding.vault.statementID(.root, body: body))
    let device = context.device
    try files.store(
      files.statement(.root, body) { device.signingKey.sign($0) }, at: .memberRoot(member),
      in: context.store)
    let writer = try LinkWriter.begin(try context.opening(of: member).loadLinks(), context)
    let key = FamilyMemberKey.random()
    guard let wrap = try writer.wrap(key, of: nil, for: own) else {
      throw .keysDivided(person: own.id)
    }
    try writer.write(
      epoch: key.commitment(member: member, binding: context.binding), wraps: [wrap])
    return member
  }
}
