import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// People whom anybody can put into a folder, and whom nobody knows. Docs/Format.md, "Who is vouched for".
@Suite struct StrangerTests {
  /// Two copies of one machine of the stranger's have replaced the words.
  @Test func nothingIsToldOfAStrangersKeys() throws {
    let anna = try Adults().anna
    func copy(_ store: MemoryStore, _ state: MemoryStore) -> VaultCopy {
      VaultCopy(
        id: anna.vault.id, store: store, state: StateFolder(store: state),
        clock: anna.clock.wallClock)
    }
    let forged = Invitation(
      vault: anna.vault.id, inviter: anna.id, inviterName: "", remote: "",
      secret: [UInt8](repeating: 7, count: 16))
    let (store, state) = (MemoryStore(), MemoryStore())
    let made = try Vault.join(
      forged, in: copy(store, state), device: Adults.newDevice(of: "Mallory"),
      password: Adults.password, words: .random())
    for _ in 0..<2 {
      let folder = store.imageAfterKill()
      let vault = try Vault.open(copy(folder, state.imageAfterKill()), key: made.unlockKey)
      let new = RecoveryWords.random()
      try vault.replaceWords(made.words, with: new)
      try Replicas.carry(from: folder, to: anna.store)
    }
    try anna.reopen()
    let people = anna.vault.context.people.persons.values
    let stranger = try #require(people.first { $0.history.isContested })
    #expect(stranger.problems.map(\.kind) == [.dividedKeys])
    let checked = try anna.vault.check(readsData: false).problems
    #expect(!(anna.vault.problems + checked).contains { $0.kind == .dividedKeys })
    // Of whom she knows it is.
    try anna.vault.changePersonalProfile {
      $0.note(
        Acquaintance(person: stranger.id, name: "Mia", verification: .wordsCompared, time: 1))
    }
    try anna.reopen()
    #expect(anna.vault.problems.contains { $0.kind == .dividedKeys })
  }

  /// Ben, whom Carla does not know, gives her a member in which somebody has written who may not.
  @Test func nothingIsToldOfAMemberThatNobodyHasAccepted() throws {
    let adults = try Adults()
    let (ben, carla) = (adults.ben, adults.carla)
    let zoe = try ben.vault.addMember(named: #require(FileName("Zoe")))
    try ben.vault.share(zoe, with: carla.id, role: .viewer)
    let seat = Place(link: zoe.id.root, person: adults.anna.id)
    let link = try adults.anna.vault.link(of: zoe, as: seat, [.give(carla.id, .owner, until: 0)])
    let path = try adults.anna.vault.forge(link, into: ben.store)
    try Replicas.carry(from: ben.store, to: carla.store)
    try carla.reopen()
    try #require(carla.vault.offeredMembers.map(\.member.id) == [zoe.id])
    #expect(carla.problems(at: path) == [])
    try carla.vault.accept(zoe.id)
    try carla.reopen()
    #expect(carla.problems(at: path).map(\.kind) == [.untrusted])
  }
}
