import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

@testable import Vault

/// How a person comes into a vault, and who is taken for them.
struct JoiningTests {
  /// The vault of one person, who invites.
  private struct Host {
    let memory: MemoryVault
    let vault: Vault

    init() throws {
      memory = try MemoryVault()
      vault = try memory.open()
    }

    /// Someone joins on a folder of their own, whose files are brought here.
    @discardableResult
    func join(_ invitation: Invitation, as name: String) throws -> PersonID {
      let store = MemoryStore()
      let created = try Vault.join(
        invitation,
        in: VaultCopy(
          id: invitation.vault, store: store, state: StateFolder(store: MemoryStore()),
          clock: memory.clock.wallClock), device: Adults.newDevice(of: name),
        password: Adults.password, words: .random())
      try Replicas.carry(from: store, to: memory.store)
      return PersonID(
        rootPublicKey: created.words.rootSigningKey(binding: Binding(vault: memory.id)).publicKey)
    }

    func known(_ person: PersonID) throws -> KnownPerson? {
      try vault.knownPeople().first { $0.id == person }
    }
  }

  @Test func bothKnowEachOtherAsInvitedInPerson() throws {
    let adults = try Adults()
    let fromAnna = try adults.anna.vault.knownPeople()
    #expect(fromAnna.map(\.name) == ["Adult A", "Ben", "Carla"])
    #expect(fromAnna.dropFirst().allSatisfy { $0.verification == .invitedInPerson })
    #expect(fromAnna[0].isSelf)
    let fromBen = try adults.ben.vault.knownPeople()
    #expect(fromBen.first { $0.id == adults.anna.id }?.name == "Adult A")
    #expect(fromBen.first { $0.id == adults.anna.id }?.verification == .invitedInPerson)
    // Of someone who came by another way only the folder speaks.
    #expect(fromBen.first { $0.id == adults.carla.id }?.verification == .trustedOnFirstUse)
    #expect(fromBen.first { $0.id == adults.carla.id }?.name == "")
  }

  @Test func aPersonsOtherDeviceKnowsWhoWasInvited() throws {
    let host = try Host()
    let ben = try host.join(try host.vault.invite(), as: "Ben")
    let state = StateFolder(store: MemoryStore())
    let key = try Vault.recover(
      VaultCopy(
        id: host.memory.id, store: host.memory.store, state: state,
        clock: host.memory.clock.wallClock), words: host.memory.created.words,
      device: MemoryVault.newDevice, password: Adults.password)
    let other = try Vault.open(
      VaultCopy(
        id: host.memory.id, store: host.memory.store, state: state,
        clock: host.memory.clock.wallClock), key: key, options: OpenOptions())
    // The invitation was made on the one device, and its answer is taken in by the other.
    #expect(try other.acceptIntroductions() == [ben])
    #expect(try host.known(ben)?.verification == .invitedInPerson)
    #expect(try host.vault.acceptIntroductions() == [])
  }

  @Test func anAnswerWithoutTheSecretIsNotTakenIn() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    // A forger saw everything in the folder, the id of the invitation too, but not the secret.
    let forged = Invitation(
      vault: invitation.vault, inviter: invitation.inviter, inviterName: "", remote: "",
      secret: randomBytes(16))
    let forger = try host.join(forged, as: "Ben")
    let path = VaultPath.introduction(forger)
    let files = host.vault.context.signedFiles
    var body = try files.load(path).decode(IntroductionBody.init(decoding:))
    body.invitation = InvitationSecret(invitation.secret).id(binding: files.binding)
    try files.store(
      SignedFile(body: body.encoded(), signature: randomBytes(64)).encoded(), at: path,
      in: host.memory.store)
    #expect(try host.vault.acceptIntroductions() == [])
    #expect(try host.known(forger)?.verification == .trustedOnFirstUse)
    // The real one is not hindered.
    let ben = try host.join(invitation, as: "Ben")
    #expect(try host.vault.acceptIntroductions() == [ben])
  }

  @Test func anotherPersonsAnswerCannotBeTakenOver() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    let ben = try host.join(invitation, as: "Ben")
    let thief = try host.join(try host.vault.invite(), as: "Thief")
    // The sealed part is bound to the path of the one who wrote it.
    let files = host.vault.context.signedFiles
    let stolen = try host.memory.store.read(
      BlobPath(VaultPath.introduction(ben).string), limit: 1 << 20)
    try host.memory.store.replace(
      BlobPath(VaultPath.introduction(thief).string), stolen, durably: true)
    #expect(throws: VaultError.self) {
      _ = try IntroductionBody.load(thief, files: files, people: host.vault.context.people)
    }
    #expect(try host.vault.acceptIntroductions() == [ben])
  }

  @Test func aSecretIsGoodOnce() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    let ben = try host.join(invitation, as: "Ben")
    #expect(try host.vault.acceptIntroductions() == [ben])
    let late = try host.join(invitation, as: "Ben")
    #expect(try host.vault.acceptIntroductions() == [])
    #expect(try host.known(late)?.verification == .trustedOnFirstUse)
  }

  /// Number 20 of the review: a thief answers before the one who was invited, and is taken in.
  @Test func aStolenInvitationThatIsAnsweredFirstIsTold() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    let thief = try host.join(invitation, as: "Ben")
    #expect(try host.vault.acceptIntroductions() == [thief])
    #expect(try host.vault.contestedInvitations().isEmpty)
    let ben = try host.join(invitation, as: "Ben")
    #expect(try host.vault.acceptIntroductions() == [])
    let contested = try host.vault.contestedInvitations()
    #expect(contested.map(\.taken) == [thief])
    #expect(contested.map { Set($0.answers.map(\.person)) } == [[thief, ben]])
    // Words settle it, whichever of the two it is; who was taken by mistake is nobody's guest any more.
    try host.vault.noteComparedWords(with: ben, name: nil)
    #expect(try host.vault.contestedInvitations().isEmpty)
    #expect(try host.vault.acceptIntroductions() == [ben])
    #expect(try host.known(ben)?.verification == .wordsCompared)
    #expect(try host.known(thief)?.verification == .trustedOnFirstUse)
    #expect(try host.vault.acceptIntroductions() == [])
  }

  /// Somebody finds an old invitation: the one who was taken in stays who they are.
  @Test func wordsWithTheFirstOneSettleALaterAnswer() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    let ben = try host.join(invitation, as: "Ben")
    #expect(try host.vault.acceptIntroductions() == [ben])
    let late = try host.join(invitation, as: "Ben")
    #expect(try host.vault.acceptIntroductions() == [])
    #expect(try host.known(ben)?.verification == .invitedInPerson)
    #expect(try host.vault.contestedInvitations().count == 1)
    try host.vault.noteComparedWords(with: ben, name: nil)
    #expect(try host.vault.contestedInvitations().isEmpty)
    #expect(try host.vault.acceptIntroductions() == [])
    #expect(try host.known(late)?.verification == .trustedOnFirstUse)
    // Nor is anybody told of one who comes after its two weeks.
    let other = try host.vault.invite()
    let carla = try host.join(other, as: "Carla")
    #expect(try host.vault.acceptIntroductions() == [carla])
    host.memory.clock.advance(days: 15)
    try host.join(other, as: "Carla")
    #expect(try host.vault.contestedInvitations().isEmpty)
  }

  /// Whoever has not the secret says in the open that they answer an invitation that was used.
  @Test func nobodyRaisesAnAlarmWithoutTheSecret() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    let ben = try host.join(invitation, as: "Ben")
    #expect(try host.vault.acceptIntroductions() == [ben])
    let forger = try host.join(try host.vault.invite(), as: "Forger")
    let path = VaultPath.introduction(forger)
    let files = host.vault.context.signedFiles
    var body = try files.load(path).decode(IntroductionBody.init(decoding:))
    body.invitation = InvitationSecret(invitation.secret).id(binding: files.binding)
    try files.store(
      SignedFile(body: body.encoded(), signature: randomBytes(64)).encoded(), at: path,
      in: host.memory.store)
    #expect(try host.vault.contestedInvitations().isEmpty)
  }

  @Test func ofTwoWhoKnowOneSecretNeitherIsTakenIn() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    let both = [try host.join(invitation, as: "Ben"), try host.join(invitation, as: "Ben")]
    #expect(try host.vault.acceptIntroductions() == [])
    let paths = Set(both.map { VaultPath.introduction($0).string })
    #expect(Set(host.vault.problems.filter { $0.kind == .untrusted }.map(\.path)) == paths)
    let contested = try host.vault.contestedInvitations()
    #expect(contested.map { Set($0.answers.map(\.person)) } == [Set(both)])
    #expect(contested[0].answers.map(\.name) == ["Ben", "Ben"])
  }

  @Test func comparedWordsSettleWhoseAnInvitationWas() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    let both = [try host.join(invitation, as: "Ben"), try host.join(invitation, as: "Ben")]
    #expect(try host.vault.acceptIntroductions() == [])
    try host.vault.noteComparedWords(with: both[1], name: nil)
    #expect(try host.vault.contestedInvitations().isEmpty)
    #expect(try host.vault.acceptIntroductions() == [both[1]])
    #expect(try host.known(both[1])?.verification == .wordsCompared)
    #expect(try host.known(both[0])?.verification == .trustedOnFirstUse)
  }

  @Test func anInvitationEndsAfterTwoWeeks() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    try host.join(invitation, as: "Ben")
    host.memory.clock.advance(days: 15)
    #expect(try host.vault.acceptIntroductions() == [])
  }

  @Test func comparedWordsAreTheSameOnBothSidesAndRemembered() throws {
    let adults = try Adults()
    let words = try adults.ben.vault.comparisonWords(with: adults.carla.id)
    #expect(try adults.carla.vault.comparisonWords(with: adults.ben.id) == words)
    #expect(try adults.anna.vault.comparisonWords(with: adults.ben.id) != words)
    try adults.ben.vault.noteComparedWords(with: adults.carla.id, name: "Carla")
    try adults.ben.reopen()
    let known = try adults.ben.vault.knownPeople().first { $0.id == adults.carla.id }
    #expect(known?.verification == .wordsCompared)
    #expect(known?.name == "Carla")
    #expect(throws: VaultError.self) { try adults.ben.vault.comparisonWords(with: .random()) }
  }

  @Test func aJoinThatIsCutLeavesNoVaultOrOneThatOpens() throws {
    let host = try Host()
    let invitation = try host.vault.invite()
    let count = try join(invitation, cutAt: nil).store.mutatingCallCount
    try #require(count > 3)
    for call in 1...count {
      let (store, state) = try join(invitation, cutAt: call)
      let image = store.imageAfterKill()
      guard try image.size(of: "vault.json") != nil else { continue }
      let key = try UnlockSlots(vault: invitation.vault, state: StateFolder(store: state))
        .open(password: Adults.password).takeKey()
      _ = try Vault.open(
        VaultCopy(
          id: invitation.vault, store: image, state: StateFolder(store: state), clock: .system),
        key: key, options: OpenOptions())
    }
  }

  private func join(
    _ invitation: Invitation, cutAt call: Int?
  ) throws -> (store: MemoryStore, state: MemoryStore) {
    let (store, state) = (MemoryStore(), MemoryStore())
    if let call { store.cut(after: call) }
    do {
      _ = try Vault.join(
        invitation,
        in: VaultCopy(
          id: invitation.vault, store: store, state: StateFolder(store: state), clock: .system),
        device: Adults.newDevice(of: "Ben"), password: Adults.password, words: .random())
    } catch {
      guard call != nil else { throw error }
    }
    return (store, state)
  }
}

/// The line that one person hands to another.
struct InvitationTests {
  private let invitation = Invitation(
    vault: .random(), inviter: .random(), inviterName: "Anna Müller", remote: "/media/stick",
    secret: randomBytes(16))

  @Test func isReadAsItIsTypedOrPasted() throws {
    let text = invitation.text
    #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
    let spellings = [
      text, text.lowercased(), "\n \(text) \n", text.replacing("-", with: ""),
      text.replacing("-", with: " "),
    ]
    for spelling in spellings {
      let read = try Invitation(parsing: spelling)
      #expect(read.vault == invitation.vault)
      #expect(read.inviter == invitation.inviter)
      #expect(read.inviterName == "Anna Müller")
      #expect(read.remote == "/media/stick")
      #expect(read.secret == invitation.secret)
    }
  }

  @Test func aSingleWrongCharacterIsNoticed() {
    let characters = Array(invitation.text)
    for position in characters.indices where characters[position] != "-" {
      var wrong = characters
      wrong[position] = wrong[position] == "A" ? "B" : "A"
      #expect(throws: VaultError.self) { _ = try Invitation(parsing: String(wrong)) }
    }
  }

  @Test func partsAndNonsenseAreRefused() {
    let text = invitation.text
    for count in 0..<text.count {
      #expect(throws: VaultError.self) { _ = try Invitation(parsing: String(text.prefix(count))) }
    }
    for nonsense in ["KIN-0189", "KIN-ÄÖÜ", String(repeating: "KIN", count: 5_000)] {
      #expect(throws: VaultError.self) { _ = try Invitation(parsing: nonsense) }
    }
  }
}
