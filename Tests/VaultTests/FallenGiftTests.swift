import Testing
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// Somebody is let write by an owner whom another one takes out at the same time. What they wrote in good faith counts for nobody
/// until they may write; it is no damage, and is not lost. Docs/Format.md, section 17, "Settling".
@Suite struct FallenGiftTests {
  @Test(arguments: [Role.editor, .owner])
  func whatWasWrittenByItComesAlongLater(role: Role) throws {
    let adults = try Adults()
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    try adults.share(with: carla, .owner)
    try adults.share(with: ben, .viewer)
    try carla.vault.share(#require(carla.emma), with: ben.id, role: role)
    try adults.carry(from: carla, to: ben)
    try ben.write("Meanwhile")
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [carla.id])
    try adults.carry(from: anna, to: ben)
    try ben.reopen()
    #expect(try ben.vault.check(readsData: true).problems.filter { $0.severity == .damage } == [])
    #expect(ben.vault.problems.contains { $0.kind == .heldBack })
    try adults.meet()
    #expect(try anna.titles.isEmpty)
    #expect(try anna.vault.check(readsData: true).problems.filter { $0.severity == .damage } == [])
    try adults.share(with: ben, .editor)
    #expect(try anna.titles == ["Meanwhile"])
    #expect(try ben.titles == ["Meanwhile"])
  }

  /// Also under keys that nobody else can open, of an epoch that they began as the owner for whom they took themselves.
  @Test func whatWasWrittenInAnEpochThatFellComesAlongLater() throws {
    let adults = try Adults()
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    try adults.share(with: carla, .owner)
    try adults.share(with: ben, .viewer)
    try carla.vault.share(#require(carla.emma), with: ben.id, role: .owner)
    try adults.carry(from: carla, to: ben)
    try ben.vault.beginEpoch(of: #require(ben.emma), without: [])
    try ben.write("Meanwhile")
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [carla.id])
    try adults.carry(from: anna, to: ben)
    try ben.reopen()
    #expect(ben.vault.problems.contains { $0.kind == .heldBack })
    _ = try ben.vault.collect(keepDays: 0, isDryRun: false)
    try ben.reopen()
    try adults.meet()
    try adults.share(with: ben, .editor)
    #expect(try anna.titles == ["Meanwhile"])
    #expect(try anna.vault.check(readsData: true).problems.filter { $0.severity == .damage } == [])
  }

  /// Who had nothing but that gift is told that it was taken, and not that something is missing.
  @Test func whoHadNothingElseIsToldThatItIsOver() throws {
    let adults = try Adults()
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    try adults.share(with: carla, .owner)
    try carla.vault.share(#require(carla.emma), with: ben.id, role: .editor)
    try adults.carry(from: carla, to: ben)
    try ben.write("Meanwhile")
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [carla.id])
    try adults.carry(from: anna, to: ben)
    try ben.reopen()
    #expect(try ben.vault.check(readsData: true).problems.filter { $0.severity == .damage } == [])
    #expect(ben.vault.problems.contains { $0.kind == .accessEnded })
    try adults.share(with: ben, .editor)
    #expect(try anna.titles == ["Meanwhile"])
  }

  /// Who never was an owner lets nobody write, themselves included.
  @Test func aLinkOfNoOwnerExcusesNobody() throws {
    let adults = try Adults()
    let (anna, ben) = (adults.anna, adults.ben)
    try adults.share(with: ben, .viewer)
    let emma = try #require(ben.emma)
    let link = try ben.vault.link(
      of: emma, as: Place(link: emma.id.root, person: adults.anna.id),
      [.give(ben.id, .editor, until: 0)])
    try ben.vault.forge(link, into: ben.store)
    try emma.reloadLinks()
    try ben.writeRegardlessOfRole("Forged")
    try adults.meet()
    try anna.reopen()
    let path = VaultPath.head(emma.id, ben.vault.device)
    #expect(anna.problems(at: path).map(\.kind) == [.damaged])
  }
}
