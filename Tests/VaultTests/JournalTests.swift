import BlobStore
import MachineState
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

@testable import Vault

/// What everyone with access reads of what others did to a member, and who does not read it.
@Suite struct JournalTests {
  private let adults: Adults
  private var anna: Adults.Adult { adults.anna }
  private var ben: Adults.Adult { adults.ben }
  private var carla: Adults.Adult { adults.carla }

  /// Anna's Emma, with Ben as an editor; Carla has no access.
  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .editor)
  }

  private func emma(_ adult: Adults.Adult) throws -> Member { try #require(adult.emma) }

  /// What somebody else did, as an adult reads it: the action, and what it was done to.
  private func journal(
    _ reader: Adults.Adult, of writer: Adults.Adult
  ) throws -> [String] {
    let (events, problems) = try reader.vault.journal(of: emma(reader))
    #expect(problems.filter { $0.severity > .note } == [])
    return events.filter { $0.person == writer.id }.map { "\($0.event.action) \($0.event.detail)" }
  }

  private func note(
    _ action: AuditAction, _ detail: String, by adult: Adults.Adult, _ record: RecordID? = nil
  ) throws {
    adult.vault.audit.note(
      action, member: try emma(adult).id, record: record ?? .root, detail: detail)
  }

  /// Writes something, and so a segment.
  private func publish(_ adult: Adults.Adult) throws {
    try adult.write("something")
    try adult.vault.audit.flush()
  }

  /// Ben notes something, and his program writes the segment in which that stands anew, into Anna's folder.
  ///
  /// - Returns: Where it is.
  @discardableResult
  private func rewriteSegment(
    _ change: (inout AuditSegmentBody, _ path: String) throws -> Void
  ) throws -> BlobPath {
    try note(.export, "wrist", by: ben)
    try publish(ben)
    try adults.meet()
    let path = try #require(segments(of: ben, in: ben).last)
    let parsed = try #require(VaultPath(parsing: path.string))
    var body = try AuditSegmentBody(
      decoding: SignedFile(decoding: #require(ben.store.blobs[path])).body)
    try change(&body, path.string)
    let bytes = ben.vault.context.signedFiles.sign(
      body.encoded(), .audit, parsed, with: ben.vault.context.device)
    try anna.store.replace(path, bytes, durably: true)
    return path
  }

  private func segments(of adult: Adults.Adult, in folder: Adults.Adult) -> [BlobPath] {
    folder.store.blobs.keys
      .filter { $0.string.hasPrefix("audit/\(adult.vault.device.hex)/") }
      .sorted {
        UInt64($0.string.split(separator: "/")[2])! < UInt64($1.string.split(separator: "/")[2])!
      }
  }

  // MARK: Who reads what

  @Test func everyoneWithAccessReadsWhatOthersDid() throws {
    try note(.export, "wrist", by: ben)
    try note(.delete, "visit", by: ben)
    try note(.read, "note", by: ben)
    try publish(ben)
    try adults.meet()
    #expect(try journal(anna, of: ben) == ["export wrist", "delete visit"])
    // What was noted and is in no segment yet only its writer reads.
    try note(.restore, "visit", by: ben)
    try ben.vault.audit.flush()
    try adults.meet()
    #expect(try journal(anna, of: ben) == ["export wrist", "delete visit"])
    #expect(try journal(ben, of: ben) == ["export wrist", "delete visit", "restore visit"])
  }

  @Test func whoHasNoAccessReadsNothingOfIt() throws {
    try note(.export, "wrist", by: ben)
    try publish(ben)
    try adults.meet()
    _ = try carla.vault.addMember(named: #require(FileName("Own")))
    let own = try #require(carla.vault.members.first)
    #expect(try !carla.vault.journal(of: own).events.contains { $0.person == ben.id })
    // The slots are there, and look as those that hold nothing.
    for path in segments(of: ben, in: carla) {
      let file = try SignedFile(decoding: #require(carla.store.blobs[path]))
      let body = try AuditSegmentBody(decoding: file.body)
      #expect(body.slots.count == 4)
      #expect(Set(body.slots.map(\.tag)).count == 4)
      #expect(Set(body.slots.map(\.sealed.ciphertext.count)) == [1024 + 16])
      for key in own.journalKeys {
        for slot in 0..<4 {
          #expect(
            key.tag(of: slot, in: ben.vault.device, first: body.first) != body.slots[slot].tag)
        }
      }
    }
  }

  /// The links say it, so it is there though no program has noted anything.
  @Test func whoGaveAndTookAccessCannotBeLeftOut() throws {
    try adults.share(with: carla, .viewer)
    try anna.vault.beginEpoch(of: emma(anna), without: [ben.id], keepsHistory: true)
    try adults.meet()
    let (events, _) = try carla.vault.journal(of: emma(carla))
    let access = events.filter { $0.event.action == "share" || $0.event.action == "revoke" }
    #expect(access.allSatisfy { $0.person == anna.id && $0.device == anna.vault.device })
    let told = access.map { "\($0.event.action) \($0.event.detail)" }
    #expect(told == ["share editor", "share viewer", "revoke ", "revoke new keys"])
    #expect(access.map(\.event.person) == [ben.id, carla.id, ben.id, nil])
  }

  /// Whoever only reads writes no heads: their journal comes once a day.
  @Test func whatAViewerDidIsReadWithinTheDay() throws {
    try adults.share(with: carla, .viewer)
    try carla.reopen()
    try carla.vault.audit.flush()
    let first = segments(of: carla, in: carla).count
    try note(.export, "wrist", by: carla)
    try carla.vault.audit.flush()
    #expect(segments(of: carla, in: carla).count == first)
    carla.clock.advance(days: 1)
    try carla.reopen()
    try carla.vault.audit.flush()
    #expect(segments(of: carla, in: carla).count == first + 1)
    try adults.meet()
    #expect(try journal(anna, of: carla) == ["export wrist"])
    // The next day the same, though nothing was done.
    carla.clock.advance(days: 1)
    try carla.reopen()
    try carla.vault.audit.flush()
    #expect(segments(of: carla, in: carla).count == first + 2)
  }

  /// An editor may read and export for years, and write nothing.
  @Test func whoWritesNothingIsReadWithinTheDay() throws {
    try publish(ben)
    ben.clock.advance(days: 1)
    try ben.reopen()
    try note(.export, "wrist", by: ben)
    try ben.vault.audit.flush()
    try note(.export, "visit", by: ben)
    try ben.vault.audit.flush()
    try adults.meet()
    #expect(try journal(anna, of: ben) == ["export wrist"])
  }

  @Test func whoWasLetOutReadsNothingThatCameLater() throws {
    try adults.share(with: carla, .editor)
    try note(.export, "before", by: carla)
    try publish(carla)
    try adults.meet()
    let keys = try emma(ben).journalKeys
    try anna.vault.beginEpoch(of: emma(anna), without: [ben.id], keepsHistory: true)
    try adults.meet()
    try note(.export, "after", by: carla)
    try publish(carla)
    try adults.meet()
    #expect(try journal(anna, of: carla) == ["export before", "export after"])
    // With the keys that he kept, and all files.
    var opened: [String] = []
    for path in segments(of: carla, in: ben) {
      let body = try AuditSegmentBody(
        decoding: SignedFile(decoding: #require(ben.store.blobs[path])).body)
      opened += try body.events(of: emma(anna).id, keys: keys).map(\.detail)
    }
    #expect(opened == ["before"])
  }

  /// As they read what stands in the member; so does a new device, which gets no keys of before either.
  @Test func whoIsGivenAccessReadsTheJournalFromItsBeginning() throws {
    try note(.export, "first epoch", by: ben)
    try publish(ben)
    try adults.meet()
    for _ in 0..<2 {
      try anna.vault.beginEpoch(of: emma(anna), without: [], keepsHistory: true)
      try adults.meet()
      try publish(ben)
      try adults.meet()
    }
    try note(.export, "third epoch", by: ben)
    try publish(ben)
    try adults.meet()
    let emma = try emma(anna)
    #expect(emma.register.keys.others.count == 2)
    let head = try emma.heads.withLock { try #require($0.loaded[anna.vault.device]) }
    #expect(head.head.journals.count == 2)
    try adults.share(with: carla, .viewer)
    let member = try self.emma(carla)
    // What heads say is enough, without any key of before.
    let past = member.heads.withLock { $0.loaded.values.flatMap(member.pastJournals) }
    let keys = [member.register.keys.current.journalKey] + past
    let found = try segments(of: ben, in: carla).flatMap { path in
      try AuditSegmentBody(
        decoding: SignedFile(decoding: #require(carla.store.blobs[path])).body
      ).events(of: member.id, keys: keys)
    }
    #expect(Set(found.map(\.detail)) == ["first epoch", "third epoch"])
    #expect(try journal(carla, of: ben) == ["export first epoch", "export third epoch"])
  }

  // MARK: Readings

  @Test func readingsAreNotedFromWhenOneWasToldSo() throws {
    let record = try ben.write("Wrist")
    try adults.meet()
    #expect(try ben.vault.takeReadsNews() == [])
    try anna.vault.noteReads(true, of: emma(anna))
    #expect(try anna.vault.takeReadsNews() == [], "who said so knows it")
    try note(.read, "before", by: ben, record)
    try ben.vault.audit.flush()
    try adults.meet()
    try note(.read, "not told yet", by: ben, record)
    try publish(ben)
    try adults.meet()
    #expect(try journal(anna, of: ben) == [])
    ben.clock.advance(days: 1)
    let news = try ben.vault.takeReadsNews()
    #expect(news.map(\.person) == [anna.id] && news.map(\.areNoted) == [true])
    #expect(try ben.vault.takeReadsNews() == [])
    try note(.read, "told", by: ben, record)
    try publish(ben)
    try adults.meet()
    #expect(try journal(anna, of: ben) == ["read told"])
    // Anna's own are read by Ben.
    anna.clock.advance(days: 2)
    try note(.read, "hers", by: anna, record)
    try publish(anna)
    try adults.meet()
    #expect(try journal(ben, of: anna).contains("read hers"))
  }

  /// Who only looks is told all the same, and once more when there is room.
  @Test func newsOfReadingsAreToldOnAFullDisk() throws {
    try anna.vault.noteReads(true, of: emma(anna))
    try adults.meet()
    ben.stateStore.limit(toBytes: 0)
    #expect(try ben.vault.takeReadsNews().map(\.areNoted) == [true])
    ben.stateStore.limit(toBytes: nil)
    #expect(try ben.vault.takeReadsNews().map(\.areNoted) == [true])
    #expect(try ben.vault.takeReadsNews() == [])
  }

  @Test func readingsAreNotedNoMoreWhenAnOwnerSaysSo() throws {
    try anna.vault.noteReads(true, of: emma(anna))
    try adults.meet()
    _ = try ben.vault.takeReadsNews()
    ben.clock.advance(days: 1)
    anna.clock.advance(days: 1)
    try anna.vault.noteReads(false, of: emma(anna))
    try adults.meet()
    // Before he was told anything.
    try note(.read, "after", by: ben)
    try publish(ben)
    try adults.meet()
    #expect(try journal(anna, of: ben) == [])
    #expect(try ben.vault.takeReadsNews().map(\.areNoted) == [false])
    #expect(ben.vault.readsAreNoted == [])
  }

  @Test func onlyOwnersHaveReadingsNoted() throws {
    #expect(throws: VaultError.self) { try ben.vault.noteReads(true, of: emma(ben)) }
    // A changed program says it all the same.
    let member = try emma(ben)
    try member.withWriter { (writer, _) throws(VaultError) in
      try writer.writeLearned {
        $0.reads = Head.Reads(areNoted: true, time: 1 << 40, person: anna.id)
      }
    }
    try adults.meet()
    #expect(anna.vault.readsAreNoted == [] && ben.vault.readsAreNoted == [])
    #expect(try anna.vault.takeReadsNews() == [])
  }

  @Test func theSettingOutlivesWhoMadeIt() throws {
    try adults.share(with: carla, .owner)
    try carla.vault.noteReads(true, of: emma(carla))
    try adults.meet()
    try publish(anna)
    try adults.meet()
    try anna.vault.beginEpoch(of: emma(anna), without: [carla.id], keepsHistory: true)
    try adults.meet()
    #expect(ben.vault.readsAreNoted.map(\.person) == [carla.id])
  }

  // MARK: The adversary

  /// Ben's program says that somebody else did it.
  @Test func whoSignedASegmentIsItsAuthor() throws {
    var forged = AuditEvent(
      time: 5, action: "export", member: try emma(ben).id, record: .root, detail: "forged",
      count: 1,
      place: "Emma", device: anna.vault.profile.deviceName, person: anna.id, about: "Anna")
    forged.unknown = .none
    try ben.vault.context.state.withLock("audit-lock") { () throws(VaultError) in
      try ben.vault.audit.waiting.keep([forged], keys: ben.vault.context.keys)
    }
    try publish(ben)
    try adults.meet()
    let (events, _) = try read(anna)
    let found = try #require(events.first { $0.event.detail == "forged" })
    #expect(found.person == ben.id && found.device == ben.vault.device)
    #expect(found.event.person == nil && found.event.about.isEmpty)
  }

  /// Ben's program writes into its slot that it has taken Anna's access, and given it to Carla.
  @Test func whoHasAccessNoSlotSays() throws {
    let made = [AuditAction.revoke, .share, .create, .export].enumerated().map { number, action in
      AuditEvent(time: UInt64(number + 5), action: action.rawValue, detail: "made up")
    }
    let padded = try #require(
      AuditEvents(events: made).padded(to: SegmentPacking.slotByteCount))
    try rewriteSegment { body, path in
      let key = try #require(emma(ben).journalKeys.first)
      body.slots[0] = JournalSlot(
        tag: key.tag(of: 0, in: ben.vault.device, first: body.first),
        sealed: key.seal(padded.encoded(), path: path, first: body.first))
    }
    let madeUp = try read(anna).0.filter { $0.event.detail == "made up" }
    #expect(madeUp.map(\.event.action) == ["export"])
  }

  private func read(_ adult: Adults.Adult) throws -> ([LoggedEvent], [Problem]) {
    try adult.vault.journal(of: emma(adult))
  }

  @Test func aSegmentUnderAnotherDevicesNameIsRefused() throws {
    try note(.export, "wrist", by: ben)
    try publish(ben)
    try adults.meet()
    let path = try #require(segments(of: ben, in: anna).last)
    let number = path.string.split(separator: "/")[2]
    let other = BlobPath("audit/\(anna.vault.device.hex)/\(number)9999")
    try anna.store.replace(other, #require(anna.store.blobs[path]), durably: true)
    let (events, problems) = try read(anna)
    #expect(events.count { $0.event.detail == "wrist" } == 1)
    #expect(problems.contains { $0.path == other.string && $0.kind == .damaged })
  }

  /// Of all segments of Ben's device each is taken away once, by whoever keeps the copy that Anna syncs with.
  @Test func whatIsTakenAwayShows() throws {
    for number in 0..<3 {
      try note(.export, "\(number)", by: ben)
      try publish(ben)
    }
    try adults.meet()
    let paths = segments(of: ben, in: anna)
    #expect(try journal(anna, of: ben).count == 3)
    for path in paths {
      let bytes = try #require(anna.store.blobs[path])
      try anna.store.remove(path)
      let (_, problems) = try read(anna)
      let folder = "audit/\(ben.vault.device.hex)"
      #expect(problems.contains { $0.path.hasPrefix(folder) && $0.kind == .missing }, "\(path)")
      let found = try anna.vault.check(readsData: false).problems
      #expect(found.contains { $0.path.hasPrefix(folder) && $0.kind == .missing })
      try anna.store.replace(path, bytes, durably: true)
    }
    #expect(try journal(anna, of: ben).count == 3)
  }

  /// The end is taken away together with the register that names it.
  @Test func anEndThatIsCutWithItsRegisterShows() throws {
    try note(.export, "first", by: ben)
    try publish(ben)
    try adults.meet()
    let register = BlobPath(VaultPath.device(ben.id, ben.vault.device).string)
    let before = try #require(anna.store.blobs[register])
    try note(.export, "second", by: ben)
    try publish(ben)
    try adults.meet()
    // Whoever reads the journal, or syncs, keeps how far the register had come.
    #expect(try journal(anna, of: ben) == ["export first", "export second"])
    try anna.store.remove(#require(segments(of: ben, in: anna).last))
    try anna.store.replace(register, before, durably: true)
    let (_, problems) = try read(anna)
    #expect(problems.contains { $0.path == register.string && $0.kind == .rollback })
  }

  @Test func eventsOfWhoHasNoAccessAnyMoreAreMarked() throws {
    try note(.export, "wrist", by: ben)
    try publish(ben)
    try adults.meet()
    try anna.vault.beginEpoch(of: emma(anna), without: [ben.id], keepsHistory: true)
    try adults.meet()
    let (events, _) = try read(anna)
    #expect(events.first { $0.event.detail == "wrist" }?.standing == .noAccess)
    #expect(events.first { $0.person == anna.id }?.standing == .counts)
  }

  @Test func aSlotThatDoesNotOpenIsTold() throws {
    let path = try rewriteSegment { body, _ in body.slots[0].sealed.ciphertext[5] ^= 1 }
    let (_, problems) = try read(anna)
    #expect(problems.contains { $0.path == path.string && $0.kind == .damaged })
  }

  /// Any editor can write into a head what opens nothing, and as much of it as there is room for.
  @Test func madeUpKeysCrowdNobodysOut() throws {
    try note(.export, "first epoch", by: ben)
    try publish(ben)
    try adults.meet()
    try anna.vault.beginEpoch(of: emma(anna), without: [], keepsHistory: true)
    try adults.meet()
    let member = try emma(ben)
    let junk = (0..<Limits.headJournals).map { number in
      Head.PastJournal(wrapped: [UInt8](repeating: UInt8(number), count: 40))
    }
    try member.withWriter { (writer, _) throws(VaultError) in
      try writer.writeLearned { $0.journals = junk }
    }
    try adults.meet()
    try publish(anna)
    try adults.meet()
    let head = try emma(anna).heads.withLock { try #require($0.loaded[anna.vault.device]) }
    #expect(head.head.journals.count == Limits.headJournals)
    #expect(try !emma(anna).pastJournals(in: head).isEmpty)
    #expect(try journal(anna, of: ben) == ["export first epoch"])
  }

  /// Who was let in later has the old keys from heads alone, and somebody who may write has a device that comes before all others.
  @Test func norOfWhomHeadsAloneHaveTold() throws {
    try note(.export, "first epoch", by: ben)
    try publish(ben)
    try adults.meet()
    try anna.vault.beginEpoch(of: emma(anna), without: [], keepsHistory: true)
    try adults.meet()
    try publish(ben)
    try adults.meet()
    try adults.share(with: carla, .editor)
    let member = try emma(carla)
    // What somebody was given with their access, or has said themself, nothing could crowd out.
    #expect(member.register.keys.pastJournals.isEmpty)
    try member.heads.withLock { heads in
      var crowded = heads
      crowded.loaded[carla.vault.device] = nil
      let bens = try #require(heads.loaded[ben.vault.device])
      let real = try #require(heads.loaded[anna.vault.device]).head.journals.map(\.wrapped)
      #expect(real.count == 1)
      var head = bens.head
      head.journals = (0..<Limits.headJournals).map { number in
        Head.PastJournal(wrapped: [UInt8](repeating: UInt8(number), count: 40))
      }
      crowded.loaded[.zero] = LoadedHead(
        device: .zero, counter: 1, hash: bens.hash, late: nil, head: head, body: bens.body)
      let known = member.pastJournals(crowded, atMost: Limits.headJournals)
      #expect(known.count == Limits.headJournals && Set(known).isSuperset(of: real))
    }
  }

  // MARK: What a store sees

  @Test func aSegmentHasOneSizeWhateverIsInItsSlots() throws {
    var sizes: Set<Int> = []
    for count in [0, 1, 5, 30, 200] {
      for number in 0..<count {
        try note(.export, "a document of some length, number \(number)", by: ben)
      }
      try publish(ben)
      let path = try #require(segments(of: ben, in: ben).last)
      try sizes.insert(#require(ben.store.blobs[path]).count)
    }
    #expect(try #require(sizes.max()) - #require(sizes.min()) <= 40, "\(sizes)")
  }
}

/// Steele, Lea and Flood's generator: the same numbers for one seed on every machine.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}

/// Which events go into a segment and its slots.
@Suite struct SegmentPackingTests {
  private let binding = Binding(vault: .random())

  private func journals(_ members: [MemberID]) -> Journals {
    Journals(
      members: Dictionary(
        uniqueKeysWithValues: members.map { member in
          let keys = EpochKeys(FamilyMemberKey.random(), member: member, binding: binding)
          return (member, Journals.Journal(key: keys.journalKey, isSpent: false, readsSince: 50))
        }))
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func everyEventIsPackedOrLeftAndEveryToldOneHasItsSlot(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    let members = (0..<6).map { _ in MemberID.random() }
    let journals = journals(members)
    let actions = ["export", "read", "write", "delete", "unlock", "import"]
    let events = (0..<Int.random(in: 0...120, using: &random)).map { number in
      AuditEvent(
        time: UInt64(number), action: actions.randomElement(using: &random)!,
        member: members.randomElement(using: &random), record: .random(),
        detail: String(repeating: "d", count: Int.random(in: 0...1100, using: &random) % 300),
        count: 1,
        place: String(repeating: "p", count: Int.random(in: 0...600, using: &random)),
        device: "desk")
    }
    let packing = SegmentPacking(events, journals: journals)
    #expect(packing.events + packing.rest == events, "\(seed)")
    #expect(packing.events.isEmpty == events.isEmpty)
    #expect(packing.slots.count <= SegmentPacking.slotCount)
    for slot in packing.slots {
      let padded = try #require(
        AuditEvents(events: slot.events).padded(to: SegmentPacking.slotByteCount))
      #expect(padded.encoded().count == SegmentPacking.slotByteCount)
    }
    let told = packing.events.filter { journals.destination(of: $0) != .none }
    let slotted = packing.slots.flatMap { slot in
      slot.events.map { "\(slot.member.hex) \($0.time) \($0.action)" }
    }
    #expect(Set(slotted) == Set(told.map { "\($0.member!.hex) \($0.time) \($0.action)" }))
    #expect(slotted.count == told.count)
  }

  @Test func whatCannotBeSealedNowWaits() {
    let member = MemberID.random()
    var journals = journals([member])
    journals.members[member] = Journals.Journal(
      key: journals.members[member]!.key, isSpent: true, readsSince: nil)
    let events = [
      AuditEvent(time: 1, action: "export", member: member),
      AuditEvent(time: 2, action: "read", member: member),
      AuditEvent(time: 3, action: "unlock"),
    ]
    let (held, ready) = journals.parting(events)
    #expect(held.map(\.time) == [1] && ready.map(\.time) == [2, 3])
  }

  /// A name as long as can be, and texts that others made.
  @Test func aLongEventIsShortened() throws {
    let member = MemberID.random()
    let long = String(repeating: "x", count: 2_000)
    let event = AuditEvent(
      time: 1, action: "export", member: member, record: .random(),
      name: FileName(String(repeating: "n", count: 255)), detail: long, count: 1, place: long,
      device: long)
    let packing = SegmentPacking([event], journals: journals([member]))
    let told = try #require(packing.slots.first?.events.first)
    #expect(packing.events == [event] && told.record == event.record && told.name == event.name)
  }
}
