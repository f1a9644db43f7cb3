import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// An owner, or whoever has a machine of theirs, signs more links than the one that takes them out has room to confirm.
@Suite struct CrowdedLinkTests {
  private let adults: Adults

  /// Anna, and an owner who came after her.
  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .owner)
  }

  /// Puts a link of Ben's before Anna.
  private func forge(
    follows: [StatementID], _ changes: [Change] = [], time: UInt64 = 1,
    confirmed: [StatementID] = []
  ) throws -> StatementID {
    let ben = adults.ben
    let emma = try #require(ben.emma)
    let seat = try #require(emma.register.links.history.seats(of: ben.id).first)
    var link = try ben.vault.link(of: emma, as: seat, changes)
    (link.follows, link.time, link.confirmed) = (follows.sorted(), time, confirmed)
    guard case .link(_, let id) = try ben.vault.forge(link, into: adults.anna.store) else {
      throw VaultError.notFound(what: "a link")
    }
    return id
  }

  /// He has made owners of as many people as there may be. Another one would be none, which is said.
  @Test func oneOwnerMoreThanThereMayBeIsRefused() throws {
    let anna = adults.anna
    let tips = try #require(adults.ben.emma).register.links.history.tips
    for number in 0..<16 {
      let gifts = (0..<Link.changeLimit).map { _ in Change.give(.random(), .owner, until: 0) }
      _ = try forge(follows: tips, gifts, time: UInt64(number))
    }
    try anna.reopen()
    let emma = try #require(anna.emma)
    try #require(emma.register.links.history.placeCount == MemberHistory.placeLimit)
    let refusal = #expect(throws: VaultError.self) {
      try anna.vault.share(emma, with: adults.carla.id, role: .owner)
    }
    guard case .limit(_, let found, let limit)? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(found == limit + 1)
    try anna.vault.share(emma, with: adults.carla.id, role: .editor)
    #expect(emma.register.links.access.includes(adults.carla.id))
  }

  /// He takes Carla's access more often than one link has room to follow. What Anna gives her again comes after all of it.
  @Test func whatWasTakenAnyNumberOfTimesIsGivenAgain() throws {
    let (anna, carla) = (adults.anna, adults.carla)
    try adults.share(with: carla, .viewer)
    let tips = try #require(adults.ben.emma).register.links.history.tips
    for number in 0..<1_100 {
      _ = try forge(
        follows: tips, [.limit(carla.id, nil, until: 0)], time: UInt64(number))
    }
    try anna.reopen()
    let member = try #require(anna.emma)
    try #require(member.register.links.history.tips.count > 1_024)
    try #require(!member.register.links.access.includes(carla.id))
    try anna.vault.share(member, with: carla.id, role: .viewer)
    #expect(member.register.links.access.includes(carla.id))
    try anna.reopen()
    #expect(try #require(anna.emma).register.links.access.includes(carla.id))
  }

  /// They stand as near to the beginning as they can, and before what Ben gave in earnest. Once he is out, his own words could
  /// leave out of what he signed whatever they like, and whom he gave access would lose it.
  @Test func whatIsTakenOutIsConfirmedHoweverMuchItIs() throws {
    let (anna, ben) = (adults.anna, adults.ben)
    let seat = try #require(
      ben.emma.flatMap { $0.register.links.history.seats(of: ben.id).first })
    let links = try (0..<(Link.confirmLimit + 10)).map { number in
      try forge(follows: [seat.link], time: UInt64(number))
    }
    let joins = try stride(from: 0, to: links.count, by: 1_024).map { start in
      try forge(follows: Array(links[start..<min(start + 1_024, links.count)]))
    }
    let gift = try forge(follows: joins, [.give(adults.carla.id, .viewer, until: 0)])
    try anna.reopen()
    let before = try #require(anna.emma).register.links
    try #require(before.history.verdict(on: gift) == .counts)
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.id])
    try anna.reopen()
    let after = try #require(anna.emma).register.links
    #expect(!after.access.includes(ben.id) && after.access.includes(adults.carla.id))
    #expect(after.history.verdict(on: gift) == .counts)
    #expect(try after.history.unconfirmed(by: [ben.id], as: annasSeat()) == [])
    #expect(anna.vault.problems.filter { $0.severity == .damage } == [])
  }

  private func annasSeat() throws -> Place {
    try #require(adults.anna.emma?.register.links.history.seats(of: adults.anna.id).first)
  }

  /// He has named it as confirmed himself, which confirms nothing, and his words leave it out later: it is still given.
  @Test func whatTheirOwnLinkConfirmsIsConfirmedAllTheSame() throws {
    let (anna, ben) = (adults.anna, adults.ben)
    let seat = try #require(
      ben.emma.flatMap { $0.register.links.history.seats(of: ben.id).first })
    let gift = try forge(follows: [seat.link], [.give(adults.carla.id, .viewer, until: 0)])
    _ = try forge(follows: [gift], confirmed: [gift])
    try anna.reopen()
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.id])
    try anna.reopen()
    let history = try #require(anna.emma).register.links.history
    let confirmed = history.counting.compactMap(history.link).filter { $0.person == anna.id }
      .flatMap(\.confirmed)
    #expect(confirmed.contains(gift))
    #expect(try history.unconfirmed(by: [ben.id], as: annasSeat()) == [])
  }
}
