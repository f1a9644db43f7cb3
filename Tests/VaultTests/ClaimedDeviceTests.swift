import BlobStore
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// Number 3 of the review: somebody says of another person's device that it is theirs, and that they have removed it.
@Suite struct ClaimedDeviceTests {
  private func put(_ path: VaultPath, _ bytes: [UInt8], _ adult: Adults.Adult) throws {
    try adult.store.replace(BlobPath(path.string), bytes, durably: true)
  }

  @Test func nobodyDisablesAnothersDevice() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let victim = adults.ben.vault
    let claimant = try adults.carla.vault.context.ownPerson()
    let binding = victim.context.binding
    let words = try RecoveryWords(parsing: adults.carla.words.joined(separator: " "))
    let key = words.rootSigningKey(binding: binding)
    let generation = try #require(claimant.generation)
    let device = victim.context.device
    let own = try victim.context.ownCertificate()
    // With Ben's consent to be Ben's, which everybody can read, and with Carla's own signature.
    for consent in [
      own.certificate.consent,
      adults.carla.vault.context.device.signingKey.sign(
        binding.vault.signedMessage(.device, claimant.id.bytes + device.id.bytes)),
    ] {
      let certificate = Certificate(
        person: claimant.id, generation: generation, signingKey: own.certificate.signingKey,
        agreementKey: own.certificate.agreementKey, consent: consent)
      let body = certificate.encoded()
      let id = binding.vault.statementID(.certificate, body: body)
      try put(
        .certificate(claimant.id, id),
        victim.context.signedFiles.statement(.certificate, body) { key.sign($0) }, adults.ben)
    }
    // Carla's words leave it out, and everybody else.
    let closing = Closing(
      person: claimant.id, follows: [generation],
      rootKey: try #require(VerifyingKey(key.publicKey)),
      agreementKey: MasterKey.random().agreementKey(binding: binding).publicKey, time: 9)
    let body = closing.encoded()
    try put(
      .closing(claimant.id, binding.vault.statementID(.closing, body: body)),
      victim.context.signedFiles.statement(.closing, body) { key.sign($0) }, adults.ben)
    try adults.ben.reopen()
    let vault = adults.ben.vault
    #expect(vault.context.people[claimant.id]?.devices.isEmpty == true)
    #expect(vault.context.removal == nil)
    #expect(try vault.context.ownCertificate().id == own.id)
    let tree = try SignedTree.load(vault: vault.id, store: adults.ben.store)
    #expect(!tree.people.isFormer(vault.device))
    #expect(tree.removal(of: vault.device, from: vault.person) == nil)
    // He goes on, and nothing of what he wrote is lost.
    try adults.ben.write("Visit")
    try adults.ben.reopen()
    try adults.ben.write("Another")
    try adults.ben.reopen()
    #expect(try adults.ben.titles == ["Visit", "Another"])
    #expect(
      try vault.check(readsData: true).problems.allSatisfy {
        $0.severity < .damage
          || $0.path.hasPrefix("people/\(claimant.id.hex)/")
      })
  }
}
