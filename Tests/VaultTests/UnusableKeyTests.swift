import BlobStore
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// Somebody who has access closes their keys with a new one that nothing can be wrapped for: well formed, and no key.
@Suite struct UnusableKeyTests {
  /// Coefficients that are not of ML-KEM's field; and a right key of ML-KEM beside a point of X25519 of which everybody knows
  /// what it agrees on.
  private static func keys() -> [[UInt8]] {
    let right = AgreementKey.random().publicKey
    return [
      [UInt8](repeating: 0xFF, count: 1216), right.dropLast(32) + [UInt8](repeating: 0, count: 32),
    ]
  }

  /// Ben's closing, which leaves his device in, in every folder.
  private func close(_ adults: Adults, with agreementKey: [UInt8], follows: [StatementID]) throws {
    let ben = adults.ben
    let own = try ben.vault.context.ownPerson()
    let binding = ben.vault.context.binding
    let words = try RecoveryWords(parsing: ben.words.joined(separator: " "))
    let key = words.rootSigningKey(binding: binding)
    let first = try #require(own.history.valid.first { $0.value.follows.isEmpty })
    let closing = Closing(
      person: own.id, follows: follows, rootKey: try #require(VerifyingKey(key.publicKey)),
      agreementKey: agreementKey, recovery: first.value.recovery,
      stay: [try ben.vault.context.ownCertificate().id],
      past: follows.map { _ in [UInt8](repeating: 0, count: 40) }, time: 9)
    let body = closing.encoded()
    let path = VaultPath.closing(own.id, binding.vault.statementID(.closing, body: body))
    let bytes = ben.vault.context.signedFiles.statement(.closing, body) { key.sign($0) }
    for adult in [adults.anna, adults.carla] {
      try adult.store.replace(BlobPath(path.string), bytes, durably: true)
      try adult.reopen()
    }
  }

  /// A stolen device has approved another one, whose key is none: the words that are to let the first out work all the same.
  @Test(arguments: [0, 1])
  func nobodyIsKeptFromNewKeys(which: Int) throws {
    let adults = try Adults()
    let anna = adults.anna
    let vault = anna.vault
    let (own, binding) = (try vault.context.ownPerson(), vault.context.binding)
    let key = SigningKey(seed: SecretBytes(randomCount: 32))
    var ghost = Certificate(
      person: own.id, generation: try #require(own.generation),
      signingKey: try #require(VerifyingKey(key.publicKey)), agreementKey: Self.keys()[which],
      approver: try vault.context.ownCertificate().id, time: 9)
    ghost.consent = key.sign(binding.vault.signedMessage(.device, ghost.consentBody))
    let body = ghost.encoded()
    let id = binding.vault.statementID(.certificate, body: body)
    let device = vault.context.device
    let bytes = vault.context.signedFiles.statement(.certificate, body) {
      device.signingKey.sign($0)
    }
    try anna.store.replace(
      BlobPath(VaultPath.certificate(own.id, id).string), bytes, durably: true)
    try anna.reopen()
    #expect(try anna.vault.context.ownPerson().devices[ghost.device] != nil)
    let words = try RecoveryWords(parsing: anna.words.joined(separator: " "))
    try anna.vault.beginGeneration(removing: [], words: words)
    try anna.reopen()
    try anna.write("Goes on")
    try anna.vault.beginGeneration(removing: [ghost.device], words: words)
    try anna.reopen()
    #expect(try anna.titles == ["Goes on"])
  }

  /// It keeps no owner from taking somebody's access away, nor from writing; who has it gets no key, and everybody else does.
  @Test(arguments: [0, 1])
  func nobodyIsKeptFromTakingAccessAway(which: Int) throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    try adults.share(with: adults.carla, .viewer)
    let generation = try #require(adults.ben.vault.context.ownPerson().generation)
    try close(adults, with: Self.keys()[which], follows: [generation])
    let (anna, carla) = (adults.anna, adults.carla)
    let before = try #require(anna.emma).epoch
    // His keys have changed, so it is due by itself.
    let done = try anna.vault.tendEpochs().get()
    #expect(done.map(\.isBegun) == [true] && done.allSatisfy { $0.givenAgain.isEmpty })
    #expect(try #require(anna.emma).epoch != before)
    #expect(try anna.vault.tendEpochs().get() == [])
    try adults.carry(from: anna, to: carla)
    try anna.write("For Carla")
    try adults.carry(from: anna, to: carla)
    #expect(try carla.titles.contains("For Carla"))

    try anna.vault.beginEpoch(of: #require(anna.emma), without: [carla.id])
    try anna.write("Without Carla")
    try adults.carry(from: anna, to: carla)
    #expect(try carla.emma == nil || !carla.titles.contains("Without Carla"))
    #expect(try anna.vault.tendEpochs().get() == [])
    #expect(try anna.vault.check(readsData: true).problems.allSatisfy { $0.severity < .damage })
    // A share to him says why it cannot be.
    do {
      try anna.vault.share(#require(anna.emma), with: adults.ben.id, role: .editor)
      Issue.record("it was wrapped")
    } catch VaultError.keysDivided(let person) {
      #expect(person == adults.ben.id)
    }
  }
}
