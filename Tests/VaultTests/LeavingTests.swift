import BlobStore
import Testing
import VaultCrypto
import VaultModel

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
    let done = try owner.vault.tendEpochs()
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
    // Until an owner's device has carried it out everyone else goes by the grant.
    let accesses = try #require(adults.anna.emma).accesses()
    #expect(accesses.first { $0.person == adults.ben.id }?.givenUp == .init(keeps: nil))
    let done = try tend(adults, adults.anna)
    #expect(done.map(\.left) == [[adults.ben.id]])
    #expect(try roles(adults.anna) == [adults.anna.id: .owner])
    #expect(try adults.anna.titles == ["Ben's last note"])
    #expect(try adults.anna.vault.tendEpochs().isEmpty)
    // He has no key of what is written from now on.
    let emma = try #require(adults.anna.emma)
    #expect(emma.epoch.number > 1)
    #expect(emma.register.grants.valid[emma.epoch]?[adults.ben.id] == nil)
    try adults.ben.reopen()
    #expect(adults.ben.emma == nil)
  }

  @Test func anOwnerWaitsForWhatTheOneWhoLeavesHadWritten() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.ben.vault.leave(#require(adults.ben.emma))
    let member = try #require(adults.anna.emma)
    // The statement arrives before the head.
    let path = VaultPath.leaving(adults.ben.id, member.id, member.epoch)
    let bytes = try adults.ben.store.read(BlobPath(path.string), limit: 1 << 20)
    try adults.anna.store.replace(BlobPath(path.string), bytes, durably: true)
    try member.reloadGrants()
    #expect(member.register.grants.leavings.counting[adults.ben.id] != nil)
    #expect(try adults.anna.vault.tendEpochs().isEmpty)
    try adults.meet()
    #expect(try tend(adults, adults.anna).count == 1)
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

  @Test func anOldStatementDoesNotTakeOutWhoWasGrantedAgain() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    let member = try #require(adults.ben.emma)
    let path = VaultPath.leaving(adults.ben.id, member.id, member.epoch)
    try adults.ben.vault.leave(member)
    let old = try adults.ben.store.read(BlobPath(path.string), limit: 1 << 20)
    try adults.meet()
    try tend(adults, adults.anna)
    #expect(try roles(adults.anna)[adults.ben.id] == nil)
    // By a clock that goes behind, and in the same millisecond, it is another grant all the same.
    try adults.share(with: adults.ben, .viewer)
    #expect(adults.ben.emma?.role == .viewer)
    for adult in adults.everyone {
      try adult.store.replace(BlobPath(path.string), old, durably: true)
      try adult.reopen()
    }
    #expect(adults.ben.emma?.role == .viewer)
    #expect(try adults.anna.vault.tendEpochs().isEmpty)
    #expect(try roles(adults.anna)[adults.ben.id] == .viewer)
    // He can leave again.
    try adults.ben.vault.leave(#require(adults.ben.emma))
    try adults.meet()
    #expect(try tend(adults, adults.anna).count == 1)
  }

  @Test func aForgedStatementDoesNothing() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .editor)
    let member = try #require(adults.carla.emma)
    let grants = member.register.grants
    let time = try #require(grants.valid[member.epoch]?[adults.ben.id]).time
    let forged = LeavingBody(
      person: adults.ben.id, member: member.id, epoch: member.epoch,
      certificate: try adults.carla.vault.context.ownCertificate().id, grantTime: time, keeps: nil,
      device: adults.carla.vault.device, headCounter: 0, time: 1)
    let context = adults.carla.vault.context
    let path = VaultPath.leaving(adults.ben.id, member.id, member.epoch)
    // Signed by Carla, for Ben.
    let bytes = context.signedFiles.sign(forged.encoded(), .leaving, path, with: context.device)
    for adult in adults.everyone {
      try adult.store.replace(BlobPath(path.string), bytes, durably: true)
      try adult.reopen()
      #expect(try roles(adult)[adults.ben.id] == .owner)
      #expect(adult.problems(at: path).map(\.kind) == [.damaged])
    }
    #expect(adults.ben.emma?.role == .owner)
    #expect(try adults.anna.vault.tendEpochs().isEmpty)
    // Carla's own, put where Ben's would stand.
    var own = forged
    own.person = adults.carla.id
    let mine = VaultPath.leaving(adults.carla.id, member.id, member.epoch)
    let moved = context.signedFiles.sign(own.encoded(), .leaving, mine, with: context.device)
    try adults.anna.store.replace(BlobPath(path.string), moved, durably: true)
    try adults.anna.reopen()
    #expect(try adults.anna.vault.tendEpochs().isEmpty)
    #expect(try roles(adults.anna).count == 3)
  }

  @Test func aStatementOfAnotherMemberDoesNothing() throws {
    let adults = try Adults()
    let liam = try adults.anna.vault.addMember(named: #require(FileName("Liam")))
    try adults.anna.vault.share(liam, with: adults.ben.id, role: .viewer)
    try adults.share(with: adults.ben, .viewer)
    let emma = try #require(adults.ben.emma)
    let theirs = try #require(adults.ben.vault.member(liam.id))
    try adults.ben.vault.leave(theirs)
    let from = VaultPath.leaving(adults.ben.id, liam.id, liam.epoch)
    let to = VaultPath.leaving(adults.ben.id, emma.id, emma.epoch)
    let bytes = try adults.ben.store.read(BlobPath(from.string), limit: 1 << 20)
    try adults.anna.store.replace(BlobPath(to.string), bytes, durably: true)
    try adults.anna.reopen()
    #expect(try roles(adults.anna)[adults.ben.id] == .viewer)
    #expect(try adults.anna.vault.tendEpochs().isEmpty)
  }

  @Test func handingOverMakesAnotherTheOwner() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    try adults.share(with: adults.carla, .viewer)
    try adults.anna.vault.handOver(#require(adults.anna.emma), to: adults.ben.id, keeping: .editor)
    // Here at once.
    #expect(adults.anna.emma?.role == .editor)
    do {
      try adults.anna.vault.share(#require(adults.anna.emma), with: adults.carla.id, role: .editor)
      Issue.record("shared after handing over")
    } catch let error as VaultError {
      guard case .ownersOnly = error else { throw error }
    }
    try adults.anna.write("Still writing")
    try adults.meet()
    #expect(adults.ben.emma?.role == .owner)
    let done = try tend(adults, adults.ben)
    #expect(done.map(\.lowered) == [[adults.anna.id: .editor]])
    for adult in adults.everyone {
      try adult.reopen()
      #expect(
        try roles(adult)
          == [adults.anna.id: .editor, adults.ben.id: .owner, adults.carla.id: .viewer])
      #expect(try adult.titles == ["Still writing"])
    }
    #expect(try adults.ben.vault.tendEpochs().isEmpty)
    try adults.anna.write("And on")
    try adults.meet()
    #expect(try adults.carla.titles == ["Still writing", "And on"])
    // Ben can hand it back.
    try adults.ben.vault.handOver(#require(adults.ben.emma), to: adults.anna.id, keeping: nil)
    #expect(adults.ben.emma == nil)
    try adults.meet()
    #expect(adults.anna.emma?.role == .owner)
    try tend(adults, adults.anna)
    #expect(try roles(adults.anna) == [adults.anna.id: .owner, adults.carla.id: .viewer])
  }

  @Test func whoComesBackGoesOnFromWhatTheOthersHave() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.anna.write("Anna's")
    try adults.ben.write("Ben's")
    try adults.meet()
    try adults.anna.vault.handOver(#require(adults.anna.emma), to: adults.ben.id, keeping: .viewer)
    try adults.meet()
    try tend(adults, adults.ben)
    // The objects that her head of before names are gone; then she becomes an owner again.
    try adults.ben.vault.removeOldObjects()
    for adult in adults.everyone {
      for path in adult.store.blobs.keys
      where path.string.contains("/objects/") && adults.ben.store.blobs[path] == nil {
        try adult.store.remove(path)
      }
    }
    try adults.ben.vault.handOver(#require(adults.ben.emma), to: adults.anna.id, keeping: .editor)
    try adults.meet()
    for adult in [adults.anna, adults.ben] {
      try adult.reopen()
      #expect(adult.vault.problems == [])
      #expect(try adult.titles == ["Anna's", "Ben's"])
    }
    try tend(adults, adults.anna)
    try adults.anna.write("After")
    try adults.meet()
    #expect(try adults.ben.titles == ["Anna's", "Ben's", "After"])
    #expect(try roles(adults.ben) == [adults.anna.id: .owner, adults.ben.id: .editor])
    for adult in [adults.anna, adults.ben] {
      let problems = try adult.vault.check(readsData: true).problems
      #expect(problems.filter { $0.severity > .note } == [])
    }
  }

  @Test func handingOverIsWholeOrCanBeDoneAgainWhereverItIsCut() throws {
    let whole = try Adults()
    let calls = whole.anna.store.mutatingCallCount
    try whole.anna.vault.handOver(#require(whole.anna.emma), to: whole.ben.id, keeping: .viewer)
    let count = whole.anna.store.mutatingCallCount - calls
    try #require(count > 4)
    for call in 1...count {
      let adults = try Adults()
      adults.anna.store.cut(after: call)
      let emma = try #require(adults.anna.emma)
      #expect(throws: VaultError.self) {
        try adults.anna.vault.handOver(emma, to: adults.ben.id, keeping: .viewer)
      }
      try adults.anna.reopen()
      let again = try #require(adults.anna.emma)
      if again.role == .owner {
        try adults.anna.vault.handOver(again, to: adults.ben.id, keeping: .viewer)
      }
      try adults.meet()
      try tend(adults, adults.ben)
      #expect(try roles(adults.ben) == [adults.anna.id: .viewer, adults.ben.id: .owner])
    }
  }

  @Test func handingOverWhileAnotherOwnerTakesTheNewOneOut() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    // Anna hands over to Carla while Ben takes Anna out.
    try adults.anna.vault.handOver(#require(adults.anna.emma), to: adults.carla.id, keeping: nil)
    try adults.ben.vault.beginEpoch(of: #require(adults.ben.emma), without: [adults.anna.id])
    try adults.meet()
    for adult in [adults.ben, adults.carla] { try tend(adults, adult) }
    try adults.meet()
    #expect(adults.ben.emma?.role == .owner)
    #expect(adults.anna.emma == nil)
    #expect(try roles(adults.ben)[adults.anna.id] == nil)
  }

  @Test func oneStatementIsReplacedByTheOneThatKeepsLess() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.anna.vault.handOver(#require(adults.anna.emma), to: adults.ben.id, keeping: .viewer)
    let member = try #require(adults.anna.emma)
    let path = VaultPath.leaving(adults.anna.id, member.id, member.epoch)
    let first = try adults.anna.store.read(BlobPath(path.string), limit: 1 << 20)
    try adults.anna.vault.leave(member)
    let second = try adults.anna.store.read(BlobPath(path.string), limit: 1 << 20)
    let tree = try SignedTree(vault: adults.anna.vault.id, store: adults.anna.store)
    let (one, other) = (try tree.verify(path, first), try tree.verify(path, second))
    #expect(other.outranks(one) && !one.outranks(other))
    try adults.meet()
    try tend(adults, adults.ben)
    #expect(try roles(adults.ben) == [adults.ben.id: .owner])
  }
}
