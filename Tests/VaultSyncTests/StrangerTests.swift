import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

@testable import Vault
@testable import VaultSync

/// What people bring to a remote for whom nobody vouches whom this person knows: so much of it is taken, and no more;
/// and everything of those for whom somebody does.
@Suite struct StrangerTests {
  private let anna: SyncingAdult
  private let usb = MemoryStore()
  private var made: MadeUp { MadeUp(vault: anna.vault.id, store: usb) }

  init() throws {
    let family = try Family(count: 1)
    try family[0].write("Visit", "all well")
    anna = SyncingAdult(family[0])
    try anna.sync(usb)
    try anna.sync(usb)
  }

  /// Somebody joins with an invitation of an adult's, and both sync.
  private func joining(_ name: String, invitedBy adult: SyncingAdult) throws -> SyncingAdult {
    let new = try SyncingAdult(joining: adult.vault.invite(), as: name)
    try new.sync(usb)
    try adult.sync(usb)
    _ = try adult.vault.acceptIntroductions()
    try adult.sync(usb)
    try new.sync(usb)
    return new
  }

  /// So many people that there is room for nobody else, where no more than this is taken.
  private static let little = CargoWeight(fileCount: 40, byteCount: 64 << 20)

  @discardableResult
  private func fillQuota() throws -> [PersonID] {
    try (0..<Self.little.fileCount / 2 + 10).map { _ in try made.person().id }
  }

  /// Anna, with room for little.
  private var carefulAnna: SyncingAdult {
    var anna = anna
    anna.strangersLimit = Self.little
    return anna
  }

  private func told(_ report: SyncReport) -> [SyncProblem] {
    report.problems.filter { $0.kind == .strangers }
  }

  private func has(_ adult: SyncingAdult, _ member: MemberID) -> Bool {
    adult.store.weight(of: "members/\(member.hex)").fileCount > 0
  }

  private func weightOfStrangers(_ members: [MemberID], _ people: [PersonID]) -> CargoWeight {
    anna.store.weight(
      of: Set(members.map { .member($0) } + people.map { .person($0) }))
  }

  // MARK: What is left

  @Test func whatFitsOfAStrangersMemberIsTakenWhole() throws {
    let mallory = try made.person()
    let member = try made.member(of: mallory, objectCount: 2)
    #expect(try anna.sync(usb).problems == [])
    #expect(
      anna.store.weight(of: "members/\(member.hex)") == usb.weight(of: "members/\(member.hex)"))
    #expect(try anna.sync(usb).pulled.isEmpty)
  }

  /// Whoever can write to the folder puts something there of a member that has not come yet.
  @Test func whatStandsInTheFolderOfAMemberKeepsItFromNobody() throws {
    let mallory = try made.person()
    let member = try made.member(of: mallory, objectCount: 2)
    let stray = BlobPath(VaultPath.link(member, .random()).string)
    try anna.store.put(stray, [UInt8](repeating: 7, count: 900))
    for _ in 0..<2 { try anna.sync(usb) }
    for path in usb.blobs.keys where path.string.hasPrefix("members/\(member.hex)/") {
      #expect(anna.store.blobs[path] != nil, "\(path.string)")
    }
  }

  @Test func noMoreOfStrangersIsTakenThanTheQuota() throws {
    let mallory = try made.person()
    let members = try (0..<4).map { _ in try made.member(of: mallory, objectCount: 20) }
    let report = try anna.sync(usb)
    #expect(report.problems.map(\.kind) == [.strangers])
    #expect(report.problems.allSatisfy { $0.severity == .note })
    #expect(report.isComplete)
    let weight = weightOfStrangers(members, [mallory.id])
    #expect(weight.fits(CargoQuota.limit))
    #expect(members.count { has(anna, $0) } == 3)
    // A member is there whole, or not at all.
    for member in members where has(anna, member) {
      #expect(
        anna.store.weight(of: "members/\(member.hex)") == usb.weight(of: "members/\(member.hex)"))
    }
  }

  @Test func whatWasLeftIsToldOnceAndNotReadAgain() throws {
    let mallory = try made.person()
    for _ in 0..<5 { try made.member(of: mallory, objectCount: 20) }
    #expect(try told(anna.sync(usb)).count == 1)
    let again = try anna.sync(usb)
    #expect(again.problems == [] && again.pulled.isEmpty && again.pushed.isEmpty)
    #expect(again.traffic.readCount == 1)
    // One more is told.
    try made.member(of: mallory, objectCount: 20)
    #expect(try told(anna.sync(usb)).count == 1)
    #expect(try told(anna.sync(usb)) == [])
  }

  @Test func allTakesThemAllTheSame() throws {
    let mallory = try made.person()
    let members = try (0..<4).map { _ in try made.member(of: mallory, objectCount: 20) }
    let text = try #require(told(anna.sync(usb)).first).text
    #expect(text.contains("kinvault sync usb --all"))
    let report = try anna.sync(usb, takesStrangers: true)
    #expect(report.problems == [])
    #expect(members.allSatisfy { has(anna, $0) })
    // Nothing that is here goes, and nothing new comes.
    let more = try made.member(of: mallory, objectCount: 1)
    #expect(try told(anna.sync(usb)).count == 1)
    #expect(members.allSatisfy { has(anna, $0) } && !has(anna, more))
    #expect(try anna.sync(usb).problems == [])
    // What is here is carried on all the same.
    let other = MemoryStore()
    try anna.sync(other, as: "other")
    #expect(
      members.allSatisfy {
        other.weight(of: "members/\($0.hex)") == usb.weight(of: "members/\($0.hex)")
      })
  }

  @Test func madeUpPeopleFillNoFolder() throws {
    let anna = carefulAnna
    let people = try fillQuota()
    #expect(try told(anna.sync(usb)).count == 1)
    let weight = weightOfStrangers([], people)
    #expect(weight.fits(Self.little) && weight.fileCount == 40)
    #expect(try anna.sync(usb).problems == [])
  }

  @Test func closingsOfNobodyAreNotEvenRead() throws {
    let person = PersonID.random()
    for _ in 0..<70 {
      try usb.put(
        BlobPath(VaultPath.closing(person, .random()).string),
        [UInt8](repeating: 7, count: 1 << 20))
    }
    let report = try anna.sync(usb)
    #expect(report.problems.map(\.kind) == [.strangers])
    #expect(report.traffic.readCount <= 2)
    #expect(anna.store.weight(of: "people/\(person.hex)").fileCount == 0)
  }

  /// A stranger says that the family's people are owners of what they made up.
  @Test func nobodyIsMadeToVouch() throws {
    let ben = try joining("Ben", invitedBy: anna)
    let mallory = try made.person()
    for taker in [anna.vault.person, ben.vault.person, mallory.id] {
      let members = try (0..<4).map { _ in
        try made.member(of: mallory, objectCount: 20, givenTo: taker)
      }
      #expect(try told(anna.sync(usb)).count == 1)
      #expect(members.contains { !has(anna, $0) })
      #expect(weightOfStrangers(members, [mallory.id]).fits(CargoQuota.limit))
    }
  }

  /// A member that fits by what the remote lists, and has more when it is asked for.
  @Test func aRemoteThatGivesMoreThanItLists() throws {
    let mallory = try made.person()
    let member = try made.member(of: mallory, objectCount: 70)
    let hostile = ListingStore(usb) { folder, entries in
      guard folder.string.hasPrefix("members/\(member.hex)/objects") else { return entries }
      return entries.map {
        BlobEntry(
          name: $0.name, kind: $0.kind, size: $0.isFolder ? 0 : 10, fingerprint: $0.fingerprint)
      }
    }
    let report = try anna.sync(hostile)
    #expect(report.problems.contains { $0.kind == .damagedThere })
    #expect(weightOfStrangers([member], [mallory.id]).byteCount < 1 << 20)
  }

  /// Also in the folder of somebody known, where anybody can put files as well.
  @Test func whatDoesNotHoldIsReadOnceAndToldEachTime() throws {
    let mallory = try made.person()
    let member = try made.member(of: mallory, objectCount: 1)
    try anna.sync(usb)
    let emma = try #require(anna.emma).id
    let paths: [VaultPath] = [
      .closing(anna.vault.person, .random()), .closing(mallory.id, .random()),
      .certificate(anna.vault.person, .random()), .link(emma, .random()),
      .link(member, .random()), .head(emma, .random()), .head(member, .random()),
    ]
    for path in paths { try usb.put(BlobPath(path.string), [UInt8](repeating: 7, count: 9_000)) }
    let first = try anna.sync(usb)
    #expect(first.traffic.readByteCount > 60_000)
    let told = first.problems.filter { $0.kind == .damagedThere }
    #expect(told.count == paths.count)
    try anna.sync(usb)
    let again = try anna.sync(usb)
    #expect(again.traffic.readByteCount < 1_000)
    #expect(again.problems.filter { $0.kind == .damagedThere } == told)
    // What is another file by now is read.
    try usb.put(BlobPath(paths[0].string), [UInt8](repeating: 8, count: 9_000))
    #expect(try (9_000..<18_000).contains(anna.sync(usb).traffic.readByteCount))
  }

  /// What came before that on which it builds.
  @Test func whatDoesNotHoldYetIsReadAgainWhenWhatItNeedsComes() throws {
    let ben = try joining("Ben", invitedBy: anna)
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .editor)
    try anna.sync(usb)
    try ben.sync(usb)
    for offer in ben.vault.offeredMembers { try ben.vault.accept(offer.member.id) }
    try ben.write("From Ben")
    let copy = MemoryStore()
    for (path, bytes) in usb.blobs { try copy.put(path, bytes) }
    try ben.sync(copy, as: "copy")
    // Everything of Ben's but his certificates, then these.
    let isLate = { (path: BlobPath) in path.string.contains("/certificates/") }
    let behind = try SyncingAdult(Family(count: 1)[0])
    let late = copy.blobs.filter { isLate($0.key) }
    for path in late.keys { try copy.remove(path) }
    for _ in 0..<3 { _ = try behind.sync(copy, as: "copy") }
    for (path, bytes) in late { try copy.put(path, bytes) }
    for _ in 0..<2 { try behind.sync(copy, as: "copy") }
    #expect(try behind.titles.contains("From Ben"))
  }

  @Test func aFirstSyncWhileLockedTakesNothingOfStrangers() throws {
    let device = try Family()[1]
    let mallory = try made.person()
    for _ in 0..<4 { try made.member(of: mallory, objectCount: 20) }
    let report = try device.syncLocked(usb)
    #expect(report.problems.map(\.kind) == [.strangers])
    #expect(report.pulled.objectByteCount < 1 << 20)
    #expect(try device.sync(usb).problems.filter { $0.kind != .strangers } == [])
  }

  @Test func whoSyncsWhileLockedTakesNoMore() throws {
    let family = try Family(count: 1)
    let device = family[0]
    try device.sync(usb)
    let made = MadeUp(vault: device.vault.id, store: usb)
    let mallory = try made.person()
    for _ in 0..<4 { try made.member(of: mallory, objectCount: 20) }
    #expect(try device.syncLocked(usb).problems.map(\.kind) == [.strangers])
    let incoming = device.stateStore.blobs.filter { $0.key.string.hasPrefix("incoming/") }
    #expect(incoming.isEmpty)
    #expect(try device.sync(usb).problems == [])
    _ = try device.sync(usb)
    #expect(try device.quickSync(usb)?.problems == [])
  }

  @Test func aCloneTakesNoMorePeopleThanTheQuota() throws {
    let people = try fillQuota()
    let store = MemoryStore()
    let order = CloneOrder(known: [anna.vault.person], strangersLimit: Self.little)
    let beginning = try VaultClone.begin(from: usb, into: store, called: "Family", order)
    #expect(beginning.problems.map(\.kind) == [.strangers])
    #expect(store.weight(of: "people/\(anna.vault.person.hex)").fileCount > 0)
    let weight = store.weight(of: Set(people.map { .person($0) }))
    #expect(weight.fits(Self.little) && weight.fileCount > 30)
    // Given again, it brings no more.
    let again = try VaultClone.begin(from: usb, into: store, called: "Family", order)
    #expect(again.problems == beginning.problems)
    let whole = MemoryStore()
    #expect(
      try VaultClone.begin(
        from: usb, into: whole, called: "Family", CloneOrder(takesStrangers: true)
      ).problems == [])
    #expect(whole.weight(of: "people") == usb.weight(of: "people"))
  }

  // MARK: What they delay

  /// A record that was deleted, and one that was changed, are collected; whoever can write to the folder has made up people
  /// with devices, who may name nothing.
  @Test(arguments: [0, 30])
  func madeUpPeopleKeepNothingFromBeingCollected(keepDays: Int) throws {
    var reports: [CollectReport] = []
    for strangers in [0, 3] {
      let device = try Family(count: 1)[0]
      device.store.keepTimes(device.clock.wallClock.milliseconds)
      let made = MadeUp(vault: device.vault.id, store: device.store)
      for _ in 0..<strangers { _ = try made.person() }
      let record = try device.write("Visit", "then")
      try device.edit(record, "now")
      try device.delete(record)
      try device.emma.commitCheckpoint()
      reports.append(try device.vault.collect(keepDays: keepDays, isDryRun: false))
    }
    #expect(reports[0].objectCount > 0)
    #expect(reports[1].objectCount == reports[0].objectCount)
    #expect(reports[0].forgottenRecordCount == (keepDays == 0 ? 1 : 0))
    #expect(reports[1].forgottenRecordCount == reports[0].forgottenRecordCount)
    #expect(reports[1].skippedMembers == [] && reports[1].waitingMembers == [])
  }

  /// Segments that nobody else has seen go while one machine writes by itself, whoever else is made up.
  @Test func madeUpPeopleKeepNoSegments() throws {
    var counts: [Int] = []
    for strangers in [0, 3] {
      let device = try Family(count: 1)[0]
      let made = MadeUp(vault: device.vault.id, store: device.store)
      for _ in 0..<strangers { _ = try made.person() }
      for number in 0..<60 { try device.write("Visit \(number)", "all well") }
      try device.thin()
      counts.append(try device.vault.check(readsData: false).unusedCount)
    }
    #expect(counts[0] <= 4 && counts[1] == counts[0], "\(counts)")
  }

  /// Whoever has a device that was removed certifies another one, in a generation that never comes: that one waits for ever,
  /// and what nothing names waits for a head of it, which is a day.
  @Test func aDeviceThatWaitsForEverDelaysCollectingByADay() throws {
    let family = try Family(count: 2)
    try family.meet(at: MemoryStore())
    let (device, thief) = (family[0], family[1].vault.context)
    let approver = try thief.ownCertificate().id
    try device.vault.beginGeneration(removing: [thief.device.id], words: Family.words.words)
    device.store.keepTimes(device.clock.wallClock.milliseconds)
    let made = MadeUp(vault: device.vault.id, store: device.store)
    try made.waitingDevice(of: device.vault.person, approvedBy: approver) {
      thief.device.signingKey.sign($0)
    }
    let scan = try #require(FileName("scan"))
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    edit.items[scan] = try .photo("scan", byteCount: 300_000, seed: 1, in: device.emma)
    try device.commit(edit)
    let photo = try #require(device.store.blobs.first { $0.value.count > 300_000 }).key
    var second = RecordEdit(record: edit.record)
    second.items[scan] = try .photo("scan", byteCount: 300_000, seed: 2, in: device.emma)
    try device.commit(second)
    _ = try device.vault.collect(keepDays: 0, isDryRun: false)
    #expect(try #require(device.vault.context.people[device.vault.person]).waiting.count == 1)
    #expect(device.store.blobs[photo] != nil)
    device.clock.turn(bySeconds: 86_400 + 60)
    let report = try device.vault.collect(keepDays: 0, isDryRun: false)
    #expect(report.skippedMembers == [] && report.waitingMembers == [])
    #expect(device.store.blobs[photo] == nil)
  }

  // MARK: What is not

  /// Ben's own members, of which Anna has no key, come whole whatever they weigh.
  @Test func aMemberOfSomebodyKnownIsCarriedWhole() throws {
    let ben = try joining("Ben", invitedBy: anna)
    let liam = try ben.vault.addMember(named: #require(FileName("Liam")))
    try fill(liam, byteCount: 70 << 20)
    try ben.sync(usb)
    #expect(try anna.sync(usb).problems == [])
    #expect(
      anna.store.weight(of: "members/\(liam.id.hex)/objects")
        == usb.weight(of: "members/\(liam.id.hex)/objects"))
  }

  /// Who joins is let in though the quota is full: they know the secret.
  @Test func whoAnswersAnInvitationIsTaken() throws {
    let anna = carefulAnna
    try fillQuota()
    try anna.sync(usb)
    let ben = try joining("Ben", invitedBy: anna)
    #expect(try anna.vault.knownPeople().contains { $0.id == ben.vault.person && $0.isSpokenOf })
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .editor)
    try anna.sync(usb)
    #expect(try ben.sync(usb).problems.filter { $0.kind != .strangers } == [])
    #expect(ben.emma != nil)
  }

  /// Carla, whom Ben invited, makes members; Anna knows her by a member that Ben shares with both.
  @Test func whoIsKnownThroughAnotherOwnerIsCarriedWhole() throws {
    let ben = try joining("Ben", invitedBy: anna)
    let carla = try joining("Carla", invitedBy: ben)
    let liam = try ben.vault.addMember(named: #require(FileName("Liam")))
    try ben.vault.share(liam, with: anna.vault.person, role: .viewer)
    try ben.vault.share(liam, with: carla.vault.person, role: .editor)
    try ben.sync(usb)
    try anna.sync(usb)
    try carla.sync(usb)
    let own = try carla.vault.addMember(named: #require(FileName("Mia")))
    try fill(own, byteCount: 70 << 20)
    try carla.sync(usb)
    #expect(try anna.sync(usb).problems == [])
    #expect(
      anna.store.weight(of: "members/\(own.id.hex)/objects")
        == usb.weight(of: "members/\(own.id.hex)/objects"))
  }

  /// Carla, of whom Anna has not heard, edits Ben's member, of which Anna has no key: her heads are carried, and what
  /// they need to hold.
  @Test func whoWritesInACarriedMemberIsCarriedWithIt() throws {
    let anna = carefulAnna
    let ben = try joining("Ben", invitedBy: anna)
    try fillQuota()
    try anna.sync(usb)
    let carla = try joining("Carla", invitedBy: ben)
    let emma = try ben.vault.addMember(named: #require(FileName("Emma")))
    try ben.vault.share(emma, with: carla.vault.person, role: .editor)
    try ben.sync(usb)
    try carla.sync(usb)
    try carla.write("Visit of Carla")
    try carla.sync(usb)
    let report = try anna.sync(usb)
    #expect(report.problems.filter { $0.kind != .strangers } == [])
    let head = BlobPath(VaultPath.head(emma.id, carla.vault.device).string)
    #expect(anna.store.blobs[head] == usb.blobs[head])
    // Whoever has only Anna's copy finds it.
    let other = MemoryStore()
    try anna.sync(other, as: "other")
    #expect(other.blobs[head] == usb.blobs[head])
    #expect(try ben.sync(other, as: "other").problems.filter { $0.severity > .note } == [])
  }

  /// What was left of somebody comes once they are known.
  @Test func whoIsLetInLaterIsTaken() throws {
    let anna = carefulAnna
    let ben = try joining("Ben", invitedBy: anna)
    let mallory = try made.person()
    for _ in 0..<4 { try made.member(of: mallory, objectCount: 20) }
    try fillQuota()
    try anna.sync(usb)
    let carla = try joining("Carla", invitedBy: ben)
    let own = try carla.vault.addMember(named: #require(FileName("Mia")))
    try carla.sync(usb)
    try anna.sync(usb)
    #expect(!has(anna, own.id))
    let liam = try ben.vault.addMember(named: #require(FileName("Liam")))
    try ben.vault.share(liam, with: carla.vault.person, role: .editor)
    try ben.vault.share(liam, with: anna.vault.person, role: .viewer)
    try ben.sync(usb)
    for _ in 0..<3 { try anna.sync(usb) }
    #expect(has(anna, own.id))
    #expect(try anna.sync(usb).problems == [])
  }

  private func fill(_ member: Member, byteCount: Int) throws {
    for part in 0..<(byteCount / (10 << 20)) {
      var edit = RecordEdit.newRecord("Scans \(part)")
      edit.items[try #require(FileName("scan.tif"))] = try .photo(
        "scan.tif", byteCount: 10 << 20, seed: UInt64(part), in: member)
      let commit = try member.commit([edit])
      if let failure = commit.failures.values.first { throw failure }
    }
  }
}
