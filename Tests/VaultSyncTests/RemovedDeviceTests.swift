import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Whoever has a device that its person removed has its keys for ever, and writes what is well-formed with them.
@Suite struct RemovedDeviceTests {
  private let family: Family
  /// What the thief has: the vault as the removed device still has it open.
  private let thief: Vault
  private let stolen: StatementID

  init() throws {
    let usb = MemoryStore()
    family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    thief = family[2].vault
    stolen = try thief.context.ownCertificate().id
    try family[0].vault.beginGeneration(
      removing: [thief.device], words: Family.words.words)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
  }

  private var owner: Vault { family[0].vault }

  private func put(_ path: VaultPath, _ bytes: [UInt8]) throws {
    try family[0].store.replace(BlobPath(path.string), bytes, durably: true)
  }

  /// A device that the stolen one certifies, in the generation that it was of or in the one without it.
  private func certify(in generation: StatementID) throws -> (device: ThisDevice, id: StatementID) {
    let device = ThisDevice(
      signingSeed: SecretBytes(randomCount: 32), agreementPrivateKey: SecretBytes(randomCount: 32))
    let new = PublicDevice(device, of: owner.person, binding: owner.context.binding)
    let certificate = Certificate(
      person: owner.person, generation: generation,
      signingKey: try #require(VerifyingKey(new.signingPublicKey)),
      agreementKey: new.agreementPublicKey, consent: new.consent, approver: stolen, time: 9)
    let body = certificate.encoded()
    let id = owner.id.statementID(.certificate, body: body)
    let signer = thief.context.device
    try put(
      .certificate(owner.person, id),
      owner.context.signedFiles.statement(.certificate, body) { signer.signingKey.sign($0) })
    return (device, id)
  }

  /// Number 2 of the review.
  @Test func aRemovedDeviceCertifiesNobody() throws {
    let open = try #require(try owner.context.ownPerson().generation)
    let forged = [try certify(in: thief.context.keys.generation), try certify(in: open)]
    try family[0].reopen()
    // Nor is one of them let in when the words are used again.
    try owner.beginGeneration(removing: [], words: Family.words.words)
    let own = try owner.context.ownPerson()
    #expect(Set(own.devices.keys) == [family[0].vault.device, family[1].vault.device])
    let after = try #require(own.generation)
    for (device, id) in forged {
      #expect(owner.context.people.trust.device(id) != .counts)
      #expect(
        family[0].store.blobs[BlobPath(VaultPath.wrap(own.id, after, device.id).string)] == nil)
      // What it writes counts for nothing.
      let emma = try family[0].emma
      let path = VaultPath.head(emma.id, device.id)
      let body = HeadBody(
        member: emma.id, device: device.id, counter: 9, person: own.id, certificate: id,
        generation: after, keyID: .zero,
        sealed: Sealed(
          nonce: [UInt8](repeating: 0, count: 12), ciphertext: [UInt8](repeating: 0, count: 32)))
      try put(
        path, owner.context.signedFiles.sign(body.encoded(), .head, path, with: device))
      #expect(throws: VaultError.self) {
        try HeadBody.load(
          emma.id, device.id, files: owner.context.signedFiles, people: owner.context.people,
          grants: emma.register.grants)
      }
    }
  }

  /// Number 1 of the review, as far as it is about devices: a gift by one that was removed is not given again.
  @Test func aRemovedDeviceGivesNothingAndBeginsNothing() throws {
    let emma = try family[0].emma
    let stranger = try PersonCreation(
      vault: owner.id, store: family[0].store, files: owner.context.signedFiles,
      state: StateFolder(store: MemoryStore()), clock: .system
    ).run(
      Family.newDevice, password: SecretBytes(copying: Array("pw".utf8)), words: .random())
    try owner.context.reloadPeople()
    let current = try #require(emma.register.grants.current)
    let theirs = try #require(owner.context.people[stranger.person]?.generation)
    for epoch in [EpochID(number: 1, owner: owner.person), current] {
      let grant = GrantBody(
        member: emma.id, epoch: epoch, person: stranger.person, personGeneration: theirs,
        giver: owner.person, giverGeneration: thief.context.keys.generation, certificate: stolen,
        role: .owner, wrappedKey: [UInt8](repeating: 1, count: 40), time: 99)
      let path = VaultPath.grant(emma.id, epoch, stranger.person)
      try put(
        path,
        owner.context.signedFiles.sign(grant.encoded(), .grant, path, with: thief.context.device))
    }
    let longer = EpochID(number: current.number + 1, owner: owner.person)
    let first = GrantBody(
      member: emma.id, epoch: longer, person: owner.person,
      personGeneration: thief.context.keys.generation, giver: owner.person,
      giverGeneration: thief.context.keys.generation, certificate: stolen, role: .owner,
      wrappedKey: [UInt8](repeating: 1, count: 40), time: 99, follows: [current])
    let path = VaultPath.grant(emma.id, longer, owner.person)
    try put(
      path,
      owner.context.signedFiles.sign(first.encoded(), .grant, path, with: thief.context.device))
    try family[0].reopen()
    let again = try family[0].emma
    #expect(again.register.grants.current == current)
    #expect(again.register.grants.valid.values.allSatisfy { $0[stranger.person] == nil })
    #expect(try owner.tendEpochs() == [])
    #expect(try again.accesses().map(\.person) == [owner.person])
  }

  /// Number 8 of the review: a folder that a copier puts back, which leaves no watermark.
  @Test(arguments: [false, true])
  func aFolderPutBackReadmitsNoDevice(readOnly: Bool) throws {
    let own = try owner.context.ownPerson()
    let tip = VaultPath.closing(own.id, try #require(own.generation))
    try family[0].store.remove(BlobPath(tip.string))
    try family[0].reopen(OpenOptions(readOnly: readOnly))
    let now = try owner.context.ownPerson()
    #expect(now.generation == own.generation)
    #expect(now.removal(of: thief.device) != nil)
    #expect(owner.problems.contains { $0.kind == .rollback && $0.path == tip.string })
    #expect((family[0].store.blobs[BlobPath(tip.string)] == nil) == readOnly)
    if readOnly { return }
    // Told once, for it is there again; and to a sync that knows no keys it is the same.
    try family[0].reopen()
    #expect(!owner.problems.contains { $0.kind == .rollback })
  }

  /// Number 16 of the review.
  @Test func recoverTakesNothingThatARemovedDeviceSays() throws {
    let path = VaultPath.device(owner.person, thief.device)
    let keys = thief.context.keys
    let profile = DeviceProfile(
      deviceName: "phone", deviceKind: "phone",
      profile: PersonalProfile(
        name: "Mallory", time: HybridTime(milliseconds: 9_999_999_999_999, counter: 0),
        people: []), created: 1)
    let files = owner.context.signedFiles
    let body = DeviceBody(
      person: owner.person, device: thief.device, counter: 99, previous: nil,
      generation: keys.generation,
      sealed: files.seal(profile.encoded(), with: keys.profileKey, .device, path, counter: 99))
    try put(path, files.sign(body.encoded(), .device, path, with: thief.context.device))
    let (store, state) = (family[0].store.imageAfterKill(), MemoryStore())
    let key = try Vault.recover(
      id: owner.id, store: store, state: StateFolder(store: state), words: Family.words.words,
      device: Family.newDevice, password: SecretBytes(copying: Array("pw".utf8)), clock: .system)
    let vault = try Vault.open(
      id: owner.id, store: store, folder: nil, state: StateFolder(store: state), key: key,
      options: OpenOptions(), clock: .system)
    #expect(try vault.personalProfile().name == "Adult A")
  }
}
