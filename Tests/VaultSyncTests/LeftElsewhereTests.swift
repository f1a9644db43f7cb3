import BlobStore
import TestSupport
import Testing
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// A member that its person has left on another machine, in a process that has it open.
@Suite struct LeftElsewhereTests {
  private let anna: SyncingAdult
  private let ben: SyncingAdult

  init() throws { (anna, ben) = try SyncingAdult.annaAndBen(at: MemoryStore(), as: .editor) }

  /// A program that copies the folder writes files in place: the leaving is seen when it is whole.
  @Test func aLeavingThatIsStillBeingCopiedCountsOnceItIsWhole() throws {
    let emma = try #require(ben.emma)
    let (path, _, bytes) = try ben.signedLink(
      of: emma.id, as: nil, follows: emma.register.links.history.tips,
      .limit(ben.vault.person, nil, until: 0))
    try ben.store.put(path, Array(bytes.prefix(bytes.count / 2)))
    for _ in 0..<2 { _ = try ben.vault.refreshMembers() }
    #expect(ben.emma != nil)
    try ben.store.replace(path, bytes, durably: true)
    #expect(try ben.vault.refreshMembers())
    #expect(ben.emma == nil)
  }
}
