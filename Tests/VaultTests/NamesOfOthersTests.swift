import BlobStore
import MachineState
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultModel

@testable import Vault

/// Who is spoken of, and whose word a name is.
@Suite struct NamesOfOthersTests {
  private let adults: Adults

  init() throws {
    adults = try Adults()
  }

  private func known(_ other: Adults.Adult, by adult: Adults.Adult) throws -> KnownPerson {
    try #require(try adult.vault.knownPeople().first { $0.id == other.id })
  }

  @Test func anOwnersHeadSaysWhoTheOthersAre() throws {
    #expect(try known(adults.ben, by: adults.carla).toldName == nil)
    #expect(try !known(adults.ben, by: adults.carla).isSpokenOf)
    try adults.share(with: adults.ben, .editor)
    // Who has no access does not hear of those who have.
    #expect(try !known(adults.ben, by: adults.carla).isSpokenOf)
    try adults.share(with: adults.carla, .viewer)
    let told = try known(adults.ben, by: adults.carla)
    #expect(told.toldName == .init(name: "Ben", teller: adults.anna.id))
    #expect(told.name.isEmpty && told.isSpokenOf)
    #expect(try known(adults.carla, by: adults.ben).toldName?.name == "Carla")
    #expect(try known(adults.ben, by: adults.anna).toldName == nil)
    // A name of one's own goes before what others say.
    try adults.carla.vault.noteComparedWords(with: adults.ben.id, name: "Benjamin")
    #expect(try known(adults.ben, by: adults.carla).name == "Benjamin")
    #expect(try known(adults.ben, by: adults.carla).toldName == nil)
  }

  @Test func theNamesStayWithWhatIsWrittenAndWithANewEpoch() throws {
    try adults.share(with: adults.ben, .editor)
    try adults.share(with: adults.carla, .editor)
    try adults.anna.reopen()
    try adults.anna.write("later")
    try adults.meet()
    #expect(try known(adults.ben, by: adults.carla).toldName?.name == "Ben")
    try adults.anna.vault.beginEpoch(
      of: #require(adults.anna.emma), without: [adults.ben.id], keepsHistory: true)
    try adults.meet()
    try adults.carla.write("in the new epoch")
    try adults.meet()
    let head = try #require(adults.anna.emma).heads.withLock { heads in
      try #require(heads.loaded[adults.anna.vault.device]).head
    }
    #expect(head.names == [Head.Name(person: adults.carla.id, name: "Carla")])
    #expect(try known(adults.ben, by: adults.carla).toldName == nil)
    // He was here, so he is no stranger.
    #expect(try known(adults.ben, by: adults.carla).isSpokenOf)
  }

  /// An editor says that somebody else is the grandmother.
  @Test func whatAnEditorCallsOthersIsNotShown() throws {
    try adults.share(with: adults.ben, .editor)
    try adults.share(with: adults.carla, .editor)
    let member = try #require(adults.ben.emma)
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { head in
        head.names = [
          Head.Name(person: adults.anna.id, name: "Nobody"),
          Head.Name(person: adults.carla.id, name: "Grandmother"),
        ]
      }
      heads = writer.heads
    }
    try adults.meet()
    for adult in adults.everyone {
      let names = try adult.vault.knownPeople().compactMap(\.toldName?.name)
      #expect(!names.contains("Nobody") && !names.contains("Grandmother"))
    }
  }

  /// A store makes up people: they are no line in a list, and are carried.
  @Test func strangersAreCargo() throws {
    let (store, state) = (MemoryStore(), MemoryStore())
    let invitation = Invitation(
      vault: adults.anna.vault.id, inviter: adults.carla.id, inviterName: "Carla", remote: "",
      secret: [UInt8](repeating: 7, count: 16))
    let stranger = try Vault.join(
      invitation,
      in: VaultCopy(
        id: invitation.vault, store: store, state: StateFolder(store: state), clock: .system),
      device: Adults.newDevice(of: "Anna"), password: Adults.password, words: .random())
    try Replicas.carry(from: store, to: adults.anna.store)
    let made = try #require(
      try adults.anna.vault.knownPeople().first { !adults.everyone.map(\.id).contains($0.id) })
    #expect(!made.isSpokenOf && made.name.isEmpty && made.toldName == nil)
    withExtendedLifetime(stranger) {}
  }
}
