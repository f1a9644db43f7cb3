import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// Wraps of epochs that are over go, and come back when such an epoch is in use again. Docs/Format.md, section 16.
@Suite struct WrapCollectionTests {
  /// Anna and Ben are owners, Carla is an editor; there is a record.
  private func family() throws -> Adults {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .editor)
    try adults.anna.write("Visit", "all well")
    try adults.meet()
    return adults
  }

  private func wraps(_ adult: Adults.Adult) throws -> Set<VaultPath> {
    let emma = try #require(adult.emma)
    let folder = BlobPath("members/\(emma.id.hex)/wraps")
    return Set(
      try adult.store.list(folder).compactMap {
        VaultPath(parsing: folder.appending($0.name).string)
      })
  }

  /// Those that links which count name of an epoch.
  private func wraps(of epoch: StatementID, _ adult: Adults.Adult) throws -> Set<VaultPath> {
    let emma = try #require(adult.emma)
    return Set(
      (emma.register.links.trust.epochs.wraps[epoch] ?? []).map {
        .epochWrap(emma.id, $0.file)
      })
  }

  @Test func ofAnEpochThatIsOverTheyGoAndStayAway() throws {
    let adults = try family()
    let first = try #require(adults.anna.emma).epoch
    let old = try wraps(of: first, adults.anna)
    #expect(old.count == 3)
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    try adults.meet()
    let second = try #require(adults.anna.emma).epoch
    for adult in adults.everyone {
      try adult.vault.removeOldObjects().requireNone()
      #expect(try wraps(adult) == wraps(of: second, adult))
      try adult.reopen()
      #expect(adult.vault.problems == [])
      #expect(try wraps(adult) == wraps(of: second, adult))
      #expect(try adult.vault.check(readsData: true).problems.filter { $0.severity > .note } == [])
      #expect(try adult.titles == ["Visit"])
      #expect(try adult.vault.tendEpochs().get() == [])
    }
    // Who is let in now is given the key in use, and reads everything.
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [adults.carla.id])
    try adults.meet()
    try adults.anna.vault.share(#require(adults.anna.emma), with: adults.carla.id, role: .viewer)
    try adults.meet()
    #expect(try adults.carla.titles == ["Visit"])
  }

  /// Somebody leaves who has the key in use, and no other one is there yet: the old wraps are put back by nobody, and nothing
  /// is told of them.
  @Test func whatIsOverStaysAwayWhenSomebodyLeaves() throws {
    let adults = try family()
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    try adults.meet()
    let second = try #require(adults.anna.emma).epoch
    for adult in adults.everyone { try adult.vault.removeOldObjects().requireNone() }
    try adults.carla.vault.leave(#require(adults.carla.emma))
    try Replicas.carry(from: adults.carla.store, to: adults.anna.store)
    try adults.anna.reopen()
    let emma = try #require(adults.anna.emma)
    #expect(emma.register.links.trust.epochs.current == nil && emma.epoch == second)
    #expect(adults.anna.vault.problems.filter { $0.kind == .rollback } == [])
    #expect(try wraps(adults.anna) == wraps(of: second, adults.anna))
  }

  /// What somebody wrote who has no access any more stands in its place for ever, and keeps nothing.
  @Test func theHeadOfWhoeverWasLetOutKeepsNone() throws {
    let adults = try family()
    let first = try #require(adults.anna.emma).epoch
    let old = try wraps(of: first, adults.anna)
    try adults.carla.write("Before")
    try adults.meet()
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [adults.carla.id])
    try adults.meet()
    for adult in [adults.anna, adults.ben] {
      try adult.vault.removeOldObjects().requireNone()
      #expect(try wraps(adult).isDisjoint(with: old))
      #expect(try adult.titles == ["Visit", "Before"])
    }
  }

  @Test func aHeadThatIsToBeTakenOverKeepsThem() throws {
    let adults = try family()
    let first = try #require(adults.anna.emma).epoch
    let old = try wraps(of: first, adults.anna)
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    try adults.carla.write("Late")
    try Replicas.carry(from: adults.carla.store, to: adults.anna.store)
    _ = try #require(adults.anna.emma).refresh()
    #expect(adults.anna.emma?.hasLateHeads == true)
    try adults.anna.vault.removeOldObjects().requireNone()
    #expect(try wraps(adults.anna).isSuperset(of: old))
    _ = try #require(adults.anna.emma).joinConcurrent()
    try adults.anna.vault.removeOldObjects().requireNone()
    #expect(try adults.anna.titles == ["Visit", "Late"])
    // Whoever makes a copy now reads that head as well.
    #expect(try wraps(adults.anna).isSuperset(of: old))
    // Once its machine has written under the new keys they go.
    try adults.meet()
    for adult in adults.everyone {
      try adult.vault.removeOldObjects().requireNone()
      #expect(try wraps(adult).isDisjoint(with: old))
      #expect(try adult.titles == ["Visit", "Late"])
    }
  }

  /// Ben begins an epoch; everyone removes what was before. Then Anna, who did not know of it, lowers him: it falls.
  @Test func anEpochThatIsInUseAgainIsGivenAgain() throws {
    let adults = try family()
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    let first = try #require(anna.emma).epoch
    let lowering = try anna.vault.link(
      of: #require(anna.emma), as: #require(anna.emma).register.links.history.seats(of: anna.id)[0],
      [.limit(ben.id, .editor, until: 0)])
    try ben.vault.beginEpoch(of: #require(ben.emma), without: [])
    try adults.meet()
    for adult in adults.everyone {
      try adult.vault.removeOldObjects().requireNone()
      #expect(try wraps(adult).isDisjoint(with: wraps(of: first, adult)))
    }
    try carla.write("Under the one that falls")
    try adults.meet()
    for adult in adults.everyone { try anna.vault.forge(lowering, into: adult.store) }
    for adult in adults.everyone {
      try adult.reopen()
      let emma = try #require(adult.emma)
      #expect(emma.epoch == first && emma.register.links.trust.epochs.current == first)
      // Each machine puts back what it has opened of it.
      let mine = emma.register.links.trust.epochs.wraps[first]?.filter { $0.person == adult.id }
      #expect(try wraps(adult).isSuperset(of: (mine ?? []).map { .epochWrap(emma.id, $0.file) }))
    }
    // Others may have no such machine any more: they are given the key once more, and once only.
    #expect(try anna.vault.tendEpochs().get().map(\.givenAgain) == [[ben.id, carla.id].sorted()])
    #expect(try anna.vault.tendEpochs().get() == [])
    try adults.meet()
    for adult in adults.everyone {
      #expect(try adult.vault.tendEpochs().get() == [])
      #expect(try adult.titles == ["Visit", "Under the one that falls"])
    }
  }
}
