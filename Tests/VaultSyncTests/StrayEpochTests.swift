import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Ben, who may write, signs a link that begins an epoch and does not count, as he has no place among the owners; and then
/// one that follows it, and counts. Docs/Format.md, "Which epoch is written under".
@Suite struct StrayEpochTests {
  private let usb = MemoryStore()
  private let anna: SyncingAdult
  private let ben: SyncingAdult

  init() throws {
    (anna, ben) = try SyncingAdult.annaAndBen(at: usb, as: .editor)
  }

  /// Puts a link of Ben's on the remote.
  private func put(
    as place: Place?, follows: [StatementID], _ change: Change, epoch: FileHash? = nil
  ) throws -> StatementID {
    let (path, id, bytes) = try ben.signedLink(
      of: #require(anna.emma).id, as: place, follows: follows, change, epoch: epoch)
    try usb.put(path, bytes)
    return id
  }

  @Test func whatFollowsAnEpochThatDoesNotCountIsTaken() throws {
    let links = try #require(anna.emma).register.links
    let root = Place(link: links.member.root, person: anna.vault.person)
    let stray = try put(
      as: root, follows: links.history.tips, .give(ben.vault.person, .owner, until: 0),
      epoch: .random())
    let leaving = try put(
      as: nil, follows: [stray], .limit(ben.vault.person, nil, until: 0))
    for _ in 0..<2 { try anna.sync(usb) }
    let history = try #require(anna.emma).register.links.history
    #expect(history.verdict(on: stray) == .noPlace)
    #expect(history.verdict(on: leaving) == .counts)
    #expect(history.access.owners == [anna.vault.person])
    #expect(!history.access.includes(ben.vault.person))
  }

  /// Whoever knows what the leaving follows brings it to where it is missing, or everybody else goes on without the leaving.
  @Test func whatALeavingFollowsIsCarriedWithIt() throws {
    let links = try #require(anna.emma).register.links
    let root = Place(link: links.member.root, person: anna.vault.person)
    let stray = try put(
      as: root, follows: links.history.tips, .give(ben.vault.person, .owner, until: 0))
    let leaving = try put(as: nil, follows: [stray], .limit(ben.vault.person, nil, until: 0))
    for _ in 0..<2 { try anna.sync(usb) }
    let other = MemoryStore()
    try anna.sync(other, as: "disk")
    let member = try #require(anna.emma).id
    for link in [stray, leaving] {
      #expect(other.blobs[BlobPath(VaultPath.link(member, link).string)] != nil)
    }
  }
}
