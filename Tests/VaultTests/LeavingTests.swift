import BlobStore
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// People who give up what they may do with a member, and those who forge or replay that.
struct LeavingTests {
  /// What `accesses` says, by person.
  private func roles(_ adult: Adults.Adult) throws -> [PersonID: Role] {
    Dictionary(
      uniqueKeysWithValues: try #require(adult.emma).accesses().map { ($0.person, $0.role) })
  }

  /// The owner's part of a sync.
  @discardableResult
  private func tend(_ adults: Adults, _ owner: Adults.Adult) throws -> [Revocation] {
    let done = try owner.vault.tendEpochs().get()
    try adults.meet()
    return done
  }

  @Test func whoLeavesSeesTheMemberNoMoreAndIsTakenOutByAnOwner() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.ben.write("Ben's last note")
    let member = try #require(adults.ben.emma)
    try adults.ben.vault.leave(member)
    #expect(adults.ben.emma == nil)
    try adults.ben.reopen()
    #expect(adults.ben.emma == nil)
    #expect(adults.ben.vault.problems.map(\.kind) == [.accessEnded])
    try adults.meet()
    // He has the key until an owner's device changes it.
    let accesses = try #require(adults.anna.emma).accesses()
    #expect(accesses.first { $0.person == adults.ben.id }?.isLeaving == true)
    let done = try tend(adults, adults.anna)
    #expect(done.map(\.left) == [[adults.ben.id]])
    #expect(try roles(adults.anna) == [adults.anna.id: .owner])
    #expect(try adults.anna.titles == ["Ben's last note"])
    #expect(try adults.anna.vault.tendEpochs().get().isEmpty)
    // He has no key of what is written from now on.
    let emma = try #require(adults.anna.emma)
    #expect(emma.register.links.holders(of: emma.epoch) == [adults.anna.id])
    try adults.ben.reopen()
    #expect(adults.ben.emma == nil)
  }

  @Test func whatTheOneWhoLeavesHadWrittenCountsWheneverItComes() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.ben.write("Last words")
    try adults.ben.vault.leave(#require(adults.ben.emma))
    // The link arrives before the head, and an owner carries it out.
    for (path, bytes) in adults.ben.store.blobs where path.string.contains("/links/") {
      try adults.anna.store.replace(path, bytes, durably: true)
    }
    #expect(try adults.anna.vault.tendEpochs().get().map(\.left) == [[adults.ben.id]])
    #expect(try adults.anna.titles == [])
    try adults.meet()
    try adults.anna.reopen()
    #expect(try adults.anna.titles == ["Last words"])
    #expect(adults.anna.vault.problems.filter { $0.severity > .note } == [])
  }

  /// Their own leaving bounds what a program of theirs that was changed can still write.
  @Test func whatIsWrittenAfterLeavingDoesNotCount() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.ben.write("Before")
    try adults.meet()
    let member = try #require(adults.ben.emma)
    try adults.ben.vault.leave(member)
    let links = adults.ben.store.blobs.filter { $0.key.string.contains("/links/") }
    try write("After", in: member)
    for (path, bytes) in links { try adults.anna.store.replace(path, bytes, durably: true) }
    try adults.meet()
    try adults.anna.reopen()
    #expect(try !adults.anna.titles.contains("After"))
  }

  /// Up to which counter their heads go on counting is their own word, and a program that was changed names any. An owner ends
  /// that, though there is no access left to take.
  @Test func whoLeavesWithoutAnEndWritesNoMoreOnceAnOwnerTakesThemOut() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.ben.write("Before")
    try adults.meet()
    let member = try #require(adults.ben.emma)
    var link = try adults.ben.vault.link(
      of: member, as: nil, [.limit(adults.ben.id, nil, until: 0)])
    link.heads = [LastHead(device: adults.ben.vault.device, counter: Limits.number)]
    try adults.ben.vault.forge(link, into: adults.anna.store)
    try adults.anna.reopen()
    #expect(try adults.anna.vault.tendEpochs().get().map(\.left) == [[adults.ben.id]])

    try write("After", in: member)
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    try adults.anna.reopen()
    #expect(try adults.anna.titles == ["Before", "After"])
    let emma = try #require(adults.anna.emma)
    #expect(try roles(adults.anna) == [adults.anna.id: .owner])
    #expect(emma.followsHeads(afterLeaving: adults.ben.id))
    try adults.anna.vault.beginEpoch(of: emma, without: [adults.ben.id])
    #expect(!emma.followsHeads(afterLeaving: adults.ben.id))

    try write("Later", in: member)
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    try adults.anna.reopen()
    #expect(try !adults.anna.titles.contains("Later"))
    #expect(try adults.anna.titles.contains("Before"))
  }

  /// What a program does that was changed so that it writes on.
  private func write(_ title: String, in member: Member) throws {
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.add([RecordEdit.newRecord(title, note: "forged")])
      _ = try writer.finish()
      heads = writer.heads
    }
  }

  @Test func theOnlyOwnerCannotLeave() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let emma = try #require(adults.anna.emma)
    #expect(try adults.anna.vault.membersOwnedAlone().map(\.id) == [emma.id])
    do {
      try adults.anna.vault.leave(emma)
      Issue.record("a member was left without an owner")
    } catch {
      guard case .lastOwner = error else { throw error }
    }
    #expect(adults.anna.emma != nil)
    try adults.share(with: adults.carla, .owner)
    #expect(try adults.anna.vault.membersOwnedAlone().isEmpty)
    try adults.anna.vault.leave(emma)
    #expect(adults.anna.emma == nil)
    try adults.meet()
    try tend(adults, adults.carla)
    #expect(try roles(adults.carla) == [adults.carla.id: .owner, adults.ben.id: .editor])
    try adults.ben.write("It goes on")
    try adults.meet()
    #expect(try adults.carla.titles == ["It goes on"])
  }

  @Test func ofOwnersWhoAllLeaveAtOnceTheMostSeniorOneStays() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.anna.vault.leave(#require(adults.anna.emma))
    try adults.ben.vault.leave(#require(adults.ben.emma))
    try adults.meet()
    // Anna has made Emma: she is an owner still, and can hand over.
    #expect(adults.anna.emma?.role == .owner)
    #expect(adults.ben.emma == nil)
    try tend(adults, adults.anna)
    #expect(try roles(adults.anna) == [adults.anna.id: .owner])
  }

  /// Their next change of keys says that they stayed, whatever becomes of how the others left.
  @Test func whoStaysSaysSoWithTheirNextKeys() throws {
    let adults = try Adults()
    let anna = adults.anna
    try adults.share(with: adults.ben, .owner)
    try anna.vault.leave(#require(anna.emma))
    try adults.ben.vault.leave(#require(adults.ben.emma))
    try adults.meet()
    try tend(adults, anna)
    let stayed = try #require(anna.emma).register.links.history.stayed(by: anna.id)
    #expect(stayed.count == 1)
    try anna.vault.beginGeneration(
      removing: [], words: RecoveryWords(parsing: anna.words.joined(separator: " ")))
    let history = try anna.vault.context.ownPerson().history
    let newest = try #require(history.tips.first)
    #expect(history.valid[newest].map { Set($0.retracted) } == stayed)
    #expect(anna.emma?.role == .owner)
  }

  @Test func anOldStatementDoesNotTakeOutWhoWasGrantedAgain() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    let member = try #require(adults.ben.emma)
    try adults.ben.vault.leave(member)
    let old = adults.ben.store.blobs.filter { $0.key.string.contains("/links/") }
    try adults.meet()
    try tend(adults, adults.anna)
    #expect(try roles(adults.anna)[adults.ben.id] == nil)
    try adults.share(with: adults.ben, .viewer)
    #expect(adults.ben.emma?.role == .viewer)
    for adult in adults.everyone {
      for (path, bytes) in old { try adult.store.replace(path, bytes, durably: true) }
      try adult.reopen()
    }
    #expect(adults.ben.emma?.role == .viewer)
    #expect(try adults.anna.vault.tendEpochs().get().isEmpty)
    #expect(try roles(adults.anna)[adults.ben.id] == .viewer)
    // He can leave again.
    try adults.ben.vault.leave(#require(adults.ben.emma))
    try adults.meet()
    #expect(try tend(adults, adults.anna).count == 1)
  }

  @Test func aForgedLeavingDoesNothing() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .editor)
    let (member, vault) = (try #require(adults.carla.emma), adults.carla.vault)
    // Signed by Carla, for Ben: as hers, as his, and with his certificate.
    var link = try vault.link(of: member, as: nil, [.limit(adults.ben.id, nil, until: 0)])
    for (person, certificate) in [
      (adults.carla.id, link.certificate), (adults.ben.id, link.certificate),
      (adults.ben.id, try adults.ben.vault.context.ownCertificate().id),
    ] {
      (link.person, link.certificate) = (person, certificate)
      for adult in adults.everyone { try vault.forge(link, into: adult.store) }
    }
    for adult in adults.everyone {
      try adult.reopen()
      #expect(try roles(adult)[adults.ben.id] == .owner)
    }
    #expect(adults.ben.emma?.role == .owner)
    #expect(try adults.anna.vault.tendEpochs().get().isEmpty)
    #expect(try roles(adults.anna).count == 3)
  }

  @Test func aLeavingOfAnotherMemberDoesNothing() throws {
    let adults = try Adults()
    let liam = try adults.anna.vault.addMember(named: #require(FileName("Liam")))
    try adults.anna.vault.share(liam, with: adults.ben.id, role: .viewer)
    try adults.share(with: adults.ben, .viewer)
    let emma = try #require(adults.ben.emma)
    let theirs = try #require(adults.ben.vault.member(liam.id))
    let known = Set(adults.ben.store.blobs.keys)
    try adults.ben.vault.leave(theirs)
    let new = adults.ben.store.blobs.filter {
      !known.contains($0.key) && $0.key.string.contains("/links/")
    }
    try #require(new.count == 1)
    for (path, bytes) in new {
      let moved = BlobPath("members/\(emma.id.hex)/links/\(path.name)")
      try adults.anna.store.replace(moved, bytes, durably: true)
      try adults.anna.reopen()
      let problems = adults.anna.vault.problems.filter { $0.path == moved.string }
      #expect(problems.map(\.kind) == [.damaged])
    }
    #expect(try roles(adults.anna)[adults.ben.id] == .viewer)
    #expect(try adults.anna.vault.tendEpochs().get().isEmpty)
  }
}
