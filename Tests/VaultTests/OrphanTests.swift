import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

/// What becomes of a member whose owner has lost every device.
struct OrphanTests {
  @Test func otherOwnersGoOn() throws {
    let adults = try Adults()
    try adults.anna.write("Visit")
    try adults.share(with: adults.ben, .owner)
    // Anna's machines are gone from here on. Ben shares, and begins new keys; Anna, who was there before him, he cannot
    // take out.
    let emma = try #require(adults.ben.emma)
    try adults.ben.vault.share(emma, with: adults.carla.id, role: .editor)
    try adults.carry(from: adults.ben, to: adults.carla)
    do throws(VaultError) {
      try adults.ben.vault.beginEpoch(of: emma, without: [adults.anna.id])
      Issue.record("an owner took out one who was there before")
    } catch {
      guard case .moreSenior(adults.anna.id, _) = error else { throw error }
    }
    try adults.ben.vault.beginEpoch(of: emma, without: [])
    try adults.carry(from: adults.ben, to: adults.carla)
    try adults.carla.write("Vaccine")
    try adults.carry(from: adults.carla, to: adults.ben)
    #expect(try adults.ben.titles == ["Visit", "Vaccine"])
    #expect(try #require(adults.carla.emma).accesses().count == 3)
  }

  @Test func theWordsAloneMakeAnOwnersMachine() throws {
    let adults = try Adults()
    try adults.anna.write("Visit")
    try adults.share(with: adults.ben, .editor)
    // A new machine, a copy of what Ben has, and Anna's paper.
    let (store, state) = (adults.ben.store.imageAfterKill(), StateFolder(store: MemoryStore()))
    let words = try RecoveryWords(parsing: adults.anna.words.joined(separator: " "))
    let key = try Vault.recover(
      VaultCopy(id: adults.anna.vault.id, store: store, state: state, clock: .system), words: words,
      device: Adults.newDevice(of: "Anna"), password: Adults.password)
    let vault = try Vault.open(
      VaultCopy(id: adults.anna.vault.id, store: store, state: state, clock: .system), key: key,
      options: OpenOptions())
    let emma = try #require(vault.members.first)
    #expect(emma.role == .owner)
    try vault.share(emma, with: adults.carla.id, role: .owner)
    #expect(try emma.accesses().count == 3)
  }

  @Test func withoutWordsEditorsGoOnAndCanBeginANewMember() throws {
    let adults = try Adults()
    let visit = try adults.anna.write("Visit", "all well")
    try adults.share(with: adults.ben, .editor)
    // Nobody can share Emma any more, nor take access away; Ben reads and writes as before.
    let emma = try #require(adults.ben.emma)
    for attempt in [
      { try adults.ben.vault.share(emma, with: adults.carla.id, role: .viewer) },
      { try adults.ben.vault.beginEpoch(of: emma, without: [adults.anna.id]) },
      { try adults.ben.vault.offerPlace(in: emma, to: adults.carla.id) },
    ] {
      do {
        try attempt()
        Issue.record("an editor did what owners do")
      } catch let error as VaultError {
        guard case .ownersOnly = error else { throw error }
      }
    }
    try adults.ben.write("Vaccine")
    #expect(try emma.bytes(of: "record.md", in: visit) == Array("all well".utf8))
    // What he reads he can keep in a member of his own, which he shares.
    let own = try adults.ben.vault.addMember(named: #require(FileName("Emma (Ben)")))
    _ = try own.commit([.newRecord("Visit", note: "all well")])
    try adults.ben.vault.share(own, with: adults.carla.id, role: .editor)
    try adults.carry(from: adults.ben, to: adults.carla)
    #expect(adults.carla.vault.members.map(\.name.string) == ["Emma (Ben)"])
    // Then he can leave the other one; nobody is there to carry it out, and his devices go by it.
    try adults.ben.vault.leave(emma)
    try adults.ben.reopen()
    #expect(adults.ben.vault.members.map(\.id) == [own.id])
  }
}
