import BlobStore
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

@testable import Vault

/// What another device's head says of a revision is what the revision says: Docs/Format.md, "Entries".
@Suite struct EntryTests {
  private let adults: Adults
  private let note: RecordID
  private let folder: RecordID

  /// Anna, and two editors, with a note that Anna wrote and a folder beside it.
  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.share(with: adults.carla, .editor)
    note = try adults.anna.write("Allergies", Self.text("severe"))
    folder = try adults.anna.write("Old things")
    try adults.meet()
  }

  private static func text(_ words: String) -> String {
    "---\ntype: allergy\ndate: 2025-01-20\n---\nPENICILLIN: \(words)\n"
  }

  private func entry(at adult: Adults.Adult) throws -> RecordEntry {
    let emma = try #require(adult.emma)
    return try #require(emma.entry(note))
  }

  /// Has Ben's signed head say of the note what `change` makes of the truth.
  ///
  /// - Parameter edits: Whether he has written a revision of it, as he may; else it is of the one that there is.
  @discardableResult
  private func lie(
    edits: Bool = true, by liar: Adults.Adult? = nil, _ change: (inout RecordEntry) throws -> Void
  ) throws -> ContentDigest {
    let liar = liar ?? adults.ben
    let member = try #require(liar.emma)
    return try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      var entry = try #require(member.entry(note))
      if edits {
        var edit = RecordEdit(record: note)
        edit.items[.record] = .note(Self.text("mild"))
        try writer.add([edit])
        entry = try #require(writer.written[note])
      } else {
        entry.version[liar.vault.device] = writer.counter
      }
      try change(&entry)
      writer.written[note] = nil
      writer.written[entry.record] = entry
      _ = try writer.finish()
      heads = writer.heads
      return entry.revision
    }
  }

  /// At the others', while they are open and when they open anew, and after they have written heads of their own.
  private func expectTruth(
    _ revision: ContentDigest, _ location: SourceLocation = #_sourceLocation
  ) throws {
    for round in 0..<3 {
      for adult in [adults.anna, adults.carla] {
        let member = try #require(adult.emma)
        let entry = try self.entry(at: adult)
        let written = try member.revision(entry.revision)
        #expect(entry.revision == revision, sourceLocation: location)
        #expect(entry.parent == written.place.parent, sourceLocation: location)
        #expect(entry.title == written.place.title, sourceLocation: location)
        #expect(!entry.isDeleted, sourceLocation: location)
        #expect(entry.version == written.version, sourceLocation: location)
        #expect(entry.time == written.time, sourceLocation: location)
        #expect(entry.device == written.device, sourceLocation: location)
        #expect(entry.type == "allergy", sourceLocation: location)
        #expect(entry.date == "2025-01-20", sourceLocation: location)
        #expect(!entry.isBare, sourceLocation: location)
        #expect(!entry.hasUnreadableFrontMatter, sourceLocation: location)
        #expect(entry.mode == written.attributes.mode, sourceLocation: location)
        #expect(member.children(of: .root).contains(entry), sourceLocation: location)
        let heads = adult.vault.problems.filter { $0.path.contains("/heads/") }
        #expect(heads == [], sourceLocation: location)
      }
      if round == 0 {
        try adults.anna.reopen()
        try adults.carla.reopen()
      } else if round == 1 {
        // Carla's head carries it on.
        try adults.carla.write("Hers")
        try adults.carry(from: adults.carla, to: adults.anna)
        try adults.anna.reopen()
      }
    }
  }

  private func title(_ text: String) throws -> FileName { try #require(FileName(text)) }

  // MARK: Well-formed lies of an editor

  @Test func aRecordShownElsewhereStaysWhereItsRevisionHasIt() throws {
    let revision = try lie { $0.parent = folder }
    try adults.meet()
    try expectTruth(revision)
  }

  @Test func aTitleThatNoRevisionHasIsNotShown() throws {
    let revision = try lie { $0.title = try title("No allergies") }
    try adults.meet()
    try expectTruth(revision)
  }

  @Test func aMadeUpTypeAndDateAreNotShown() throws {
    let revision = try lie {
      $0.type = "invoice"
      $0.date = "1999-01-01"
      $0.hasUnreadableFrontMatter = true
    }
    try adults.meet()
    try expectTruth(revision)
  }

  @Test func whatNoRevisionDeletesIsNotDeleted() throws {
    let revision = try lie { $0.isDeleted = true }
    try adults.meet()
    try expectTruth(revision)
  }

  @Test func aRecordWithANoteIsNotListedAsEmpty() throws {
    let revision = try lie {
      $0.isBare = true
      $0.mode = 0
      $0.modified = .zero
    }
    try adults.meet()
    try expectTruth(revision)
  }

  @Test func anothersDeviceIsNotTakenForItsAuthor() throws {
    let revision = try lie { $0.device = adults.anna.vault.device }
    try adults.meet()
    try expectTruth(revision)
  }

  @Test func aTimeInTheYear9998IsNotItsTime() throws {
    let revision = try lie { $0.time = HybridTime(milliseconds: 253_339_228_800_000) }
    try adults.meet()
    try expectTruth(revision)
  }

  /// Anna's own revision under Ben's counter: nothing is newer about it.
  @Test func anOldRevisionIsNotMadeNewByAnEntry() throws {
    let before = try entry(at: adults.anna)
    try lie(edits: false) { $0.title = try title("No allergies") }
    try adults.meet()
    #expect(try entry(at: adults.anna) == before)
    try expectTruth(before.revision)
  }

  @Test func anotherRecordsRevisionDoesNotStandForThisOne() throws {
    let member = try #require(adults.ben.emma)
    let other = try #require(member.entry(folder))
    let before = try entry(at: adults.anna)
    try lie(edits: false) { $0.revision = other.revision }
    try adults.meet()
    try expectTruth(before.revision)
    let emma = try #require(adults.anna.emma)
    #expect(emma.entry(folder)?.revision == other.revision)
  }

  /// A lie that hides another one: of the two entries of the record the greater is of an old revision.
  @Test func whatAGreaterEntryHidesIsComparedToo() throws {
    let old = try entry(at: adults.ben)
    let member = try #require(adults.ben.emma)
    let revision = try lie { $0.title = try title("No allergies") }
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      var entry = old
      entry.version[adults.ben.vault.device] = writer.counter
      // Beside the segment with the lie, not in its place.
      try writer.writeHead(.append, changes: [entry])
      heads = writer.heads
    }
    try adults.meet()
    try expectTruth(revision)
  }

  /// Whoever has not looked goes on with the lie in good faith.
  @Test func aLieThatAnHonestHeadCarriesOnIsNotTakenEither() throws {
    let revision = try lie { $0.title = try title("No allergies") }
    let carla = try #require(adults.carla.emma)
    // As a program that believes entries would have written it.
    try Replicas.carry(from: adults.ben.store, to: adults.carla.store)
    try carla.heads.withLock { heads in
      let head = try carla.register.load(adults.ben.vault.device)
      for segment in try carla.loadSegments(of: head.head) {
        heads.learned.formUnion(carla.apply(segment.entries, of: head, &heads))
      }
      heads.loaded[head.device] = head
      var writer = CommitWriter(member: carla, heads: heads)
      _ = try writer.finish(writesLearned: true)
      heads = writer.heads
    }
    #expect(try entry(at: adults.carla).title.string == "No allergies")
    try adults.carry(from: adults.carla, to: adults.anna)
    let emma = try #require(adults.anna.emma)
    #expect(try entry(at: adults.anna).revision == revision)
    #expect(try entry(at: adults.anna).title.string == "Allergies")
    #expect(emma.children(of: .root).allSatisfy { $0.title.string != "No allergies" })
    try adults.anna.reopen()
    #expect(try entry(at: adults.anna).title.string == "Allergies")
  }

  /// A head that goes on from the liar's segments would say the same.
  @Test func segmentsThatLieAreNotGoneOnFrom() throws {
    let revision = try lie { $0.title = try title("No allergies") }
    let ben = try #require(adults.ben.emma)
    try ben.commitCheckpoint()
    try adults.meet()
    let member = try #require(adults.anna.emma)
    try member.commitCheckpoint()
    try adults.anna.write("Another")
    let lying = try #require(member.openedHeads.first { $0.device == adults.ben.vault.device })
    let own = try #require(member.openedHeads.first { $0.device == adults.anna.vault.device })
    #expect(Set(own.segments).isDisjoint(with: lying.segments))
    try adults.meet()
    try expectTruth(revision)
  }

  // MARK: Counters that never were

  /// It would hide what Anna writes next: her counter goes on from what she has written.
  @Test func aCounterThatADeviceHasNotReachedHidesNothingOfIt() throws {
    let before = try entry(at: adults.anna)
    let benDevice = adults.ben.vault.device
    let member = try #require(adults.ben.emma)
    // Signed by Ben: the revision itself says so.
    let revision = try forgeRevision { $0.version[adults.anna.vault.device] = 1_000 }
    try adults.carry(from: adults.ben, to: adults.anna)
    try adults.carry(from: adults.ben, to: adults.carla)
    for adult in [adults.anna, adults.carla] {
      #expect(try entry(at: adult) == before)
      let told = try adult.vault.check(readsData: false).problems.filter {
        $0.kind == .waiting && $0.path.contains("/objects/")
      }
      #expect(told.count == 1)
      try adult.reopen()
      #expect(try entry(at: adult) == before)
      #expect(adult.vault.problems.contains { $0.kind == .waiting })
    }
    try adults.anna.edit(note, Self.text("severe; nuts"))
    try adults.carry(from: adults.anna, to: adults.carla)
    let emma = try #require(adults.carla.emma)
    let text = try #require(try emma.bytes(of: "record.md", in: note))
    #expect(String(decoding: text, as: UTF8.self) == Self.text("severe; nuts"))
    // Ben's other work is taken all the same.
    try adults.ben.write("Of Ben")
    try adults.carry(from: adults.ben, to: adults.anna)
    #expect(try adults.anna.titles.contains("Of Ben"))
    #expect(try entry(at: adults.anna).revision != revision)
    let counters = try #require(adults.anna.emma).knownCounters
    #expect(counters[benDevice] != nil)
    #expect(member.entry(note)?.revision == revision)
  }

  /// Ben guesses with which counter Anna will write next: his signed revision says that it has seen what she writes then.
  ///
  /// - Parameter distance: How far above her counter he is.
  @Test(arguments: [UInt64(1), 2]) func aGuessedCounterHidesNothingOfItsDevice(
    distance: UInt64
  ) throws {
    let anna = adults.anna.vault.device
    let emma = try #require(adults.anna.emma)
    let next = try #require(emma.knownCounters[anna]) + distance
    _ = try forgeRevision { $0.version[anna] = next }
    // What is ahead of her waits; what is not she meets when she has written.
    if distance > 1 { try adults.carry(from: adults.ben, to: adults.anna) }
    let text = Self.text("severe; nuts")
    try adults.anna.edit(note, text)
    if distance > 1 { try adults.anna.write("Another") }
    #expect(emma.knownCounters[anna] == next)
    for round in 0..<2 {
      try adults.carry(from: adults.ben, to: adults.anna)
      _ = try emma.joinConcurrent()
      try adults.meet()
      for adult in [adults.anna, adults.ben, adults.carla] {
        let member = try #require(adult.emma)
        let shown = try #require(try member.bytes(of: "record.md", in: note))
        #expect(String(decoding: shown, as: UTF8.self) == text, "round \(round)")
      }
    }
    // And nothing more comes of it.
    let counter = emma.knownCounters[anna]
    _ = try emma.joinConcurrent()
    try adults.anna.reopen()
    let reopened = try #require(adults.anna.emma)
    _ = try reopened.joinConcurrent()
    #expect(reopened.knownCounters[anna] == counter)
  }

  /// What may be read before one's own head.
  enum ReadFirst: CaseIterable {
    /// The head of an epoch that has come meanwhile: one's own is late.
    case newEpoch
    /// One that says it has taken over a line, whoever's.
    case branch
  }

  /// Ben's head is read before Anna's own, which brings what his guess hides.
  @Test(arguments: ReadFirst.allCases) func aGuessedCounterReadBeforeOnesOwnHeadHidesNothing(
    first: ReadFirst
  ) throws {
    if first == .newEpoch {
      try adults.share(with: adults.carla, .owner)
      try adults.carla.vault.beginEpoch(of: #require(adults.carla.emma), without: [])
      try adults.carry(from: adults.carla, to: adults.ben)
    }
    let anna = adults.anna.vault.device
    let old = try #require(adults.anna.emma)
    let next = try #require(old.knownCounters[anna]) + 1
    let nobody = try #require(DeviceID([UInt8](repeating: 9, count: DeviceID.byteCount)))
    try forgeRevision(
      naming: nil, branches: first == .branch ? [Head.Branch(device: nobody, above: 0)] : []
    ) { revision, _ in revision.version[anna] = next }
    let text = Self.text("severe; nuts")
    let bytes = [UInt8](repeating: 7, count: 10_000)
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note(text)
    let leaflet = try Item.file("leaflet.pdf", bytes, in: old)
    edit.items[leaflet.name] = leaflet
    _ = try old.commit([edit])
    #expect(old.knownCounters[anna] == next)
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    try adults.anna.reopen()
    let emma = try #require(adults.anna.emma)
    #expect(emma.hasHiddenVersions)
    _ = try emma.joinConcurrent()
    #expect(!emma.hasHiddenVersions)
    guard case .chunks(let chunks) = leaflet.content else { throw UnexpectedContent() }
    for case let chunk? in chunks { #expect(try emma.objects.isPresentNow(chunk)) }
    for round in 0..<2 {
      try adults.meet()
      for adult in adults.everyone {
        let member = try #require(adult.emma)
        let shown = try #require(try member.bytes(of: "record.md", in: note))
        #expect(String(decoding: shown, as: UTF8.self) == text, "round \(round)")
        #expect(try member.bytes(of: "leaflet.pdf", in: note) == bytes, "round \(round)")
      }
    }
    // And nothing more comes of it.
    let counter = emma.knownCounters[anna]
    try adults.anna.reopen()
    let reopened = try #require(adults.anna.emma)
    #expect(!reopened.hasHiddenVersions)
    _ = try reopened.joinConcurrent()
    #expect(reopened.knownCounters[anna] == counter)
  }

  private struct UnexpectedContent: Error {}

  /// Whoever took Anna's late head over, and goes on from what it brought, has seen that: nothing of it comes back after
  /// new keys.
  @Test(arguments: [false, true]) func whatGoesOnFromALateVersionIsNotWrittenAgain(
    isFresh: Bool
  ) throws {
    try adults.share(with: adults.carla, .owner)
    try adults.carla.vault.beginEpoch(of: #require(adults.carla.emma), without: [])
    try adults.anna.edit(note, Self.text("severe; nuts"))
    try adults.carry(from: adults.anna, to: adults.ben)
    try adults.carry(from: adults.carla, to: adults.ben)
    for words in ["one", "two", "three"] { try adults.ben.edit(note, Self.text(words)) }
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    if isFresh {
      try adults.anna.reopen()
    } else {
      _ = try adults.anna.vault.refreshMembers()
      _ = try #require(adults.anna.emma).refresh()
    }
    let emma = try #require(adults.anna.emma)
    #expect(emma.hasLateHeads)
    #expect(!emma.hasHiddenVersions)
    try adults.meet()
    for adult in adults.everyone {
      let member = try #require(adult.emma)
      let shown = try #require(try member.bytes(of: "record.md", in: note))
      #expect(String(decoding: shown, as: UTF8.self) == Self.text("three"))
      #expect(member.entry(ConflictCopy.folder(of: member.id)) == nil)
    }
  }

  /// What a guessed counter hides is named by nothing until it is written once more: till then nothing is removed.
  @Test func nothingOfWhatIsHiddenIsRemoved() throws {
    let anna = adults.anna.vault.device
    let emma = try #require(adults.anna.emma)
    let next = try #require(emma.knownCounters[anna]) + 1
    _ = try forgeRevision { $0.version[anna] = next }
    let text = Self.text("severe; nuts")
    try adults.anna.edit(note, text)
    let mine = try #require(emma.entry(note)).revision
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    _ = try emma.refresh()
    #expect(emma.hasHiddenVersions)
    #expect(try emma.unneeded(emma.objects.names(of: mine)) == nil)
    #expect(emma.unneeded([mine]) == nil)
    #expect(try !emma.knowsWhatIsNeeded)
    _ = try adults.anna.vault.collect(keepDays: 0, isDryRun: false)
    _ = try emma.joinConcurrent()
    #expect(!emma.hasHiddenVersions)
    try adults.meet()
    for adult in [adults.anna, adults.ben, adults.carla] {
      let member = try #require(adult.emma)
      let shown = try #require(try member.bytes(of: "record.md", in: note))
      #expect(String(decoding: shown, as: UTF8.self) == text)
    }
  }

  /// Who has seen a version and goes on from it may replace it, over as many steps as they like.
  @Test func whatGoesOnFromAVersionIsNotWrittenAgain() throws {
    let anna = adults.anna.vault.device
    try adults.anna.edit(note, Self.text("severe; nuts"))
    try adults.meet()
    for words in ["one", "two", "three"] { try adults.ben.edit(note, Self.text(words)) }
    let emma = try #require(adults.anna.emma)
    let counter = emma.knownCounters[anna]
    try adults.meet()
    #expect(!emma.hasConcurrentVersions)
    _ = try emma.joinConcurrent()
    #expect(emma.knownCounters[anna] == counter)
    #expect(try entry(at: adults.anna).device == adults.ben.vault.device)
  }

  /// Nobody has such a device.
  @Test func aCounterOfNobodysDeviceIsNotTaken() throws {
    let before = try entry(at: adults.anna)
    _ = try forgeRevision { $0.version[.random()] = 3 }
    try adults.meet()
    #expect(try entry(at: adults.anna) == before)
    // A head may name it: nobody has certified it.
    _ = try forgeRevision(naming: .random()) { revision, device in revision.version[device] = 3 }
    try adults.meet()
    #expect(try entry(at: adults.anna) == before)
  }

  /// An editor says in `reached` how far others have come: of a device of which a head counts nobody asks him, nor of one
  /// that nobody has certified.
  @Test func whatAnEditorSaysWasReachedHidesNothingOfWhoIsHere() throws {
    let before = try entry(at: adults.anna)
    for device in [adults.anna.vault.device, adults.carla.vault.device, .random()] {
      _ = try forgeRevision(naming: nil, reached: [device: 1_000]) { revision, _ in
        revision.version[device] = 1_000
      }
    }
    try adults.anna.write("So that Carla has a head as well")
    try adults.carla.write("Of Carla")
    try adults.carry(from: adults.carla, to: adults.anna)
    try adults.carry(from: adults.ben, to: adults.anna)
    try adults.carry(from: adults.ben, to: adults.carla)
    #expect(try entry(at: adults.anna) == before)
    #expect(try entry(at: adults.carla) == before)
    for (adult, other) in [(adults.anna, adults.carla), (adults.carla, adults.anna)] {
      try adult.edit(note, Self.text("severe; \(adult.id.shortHex)"))
      try adults.carry(from: adult, to: other)
      let emma = try #require(other.emma)
      let text = try #require(try emma.bytes(of: "record.md", in: note))
      #expect(String(decoding: text, as: UTF8.self) == Self.text("severe; \(adult.id.shortHex)"))
    }
  }

  /// Ben says that his device has taken over what Anna wrote: no entry is right that has it in the place of hers.
  @Test func anEditorTakesOverNothingThatSomebodyElseWrote() throws {
    try adults.ben.write("Of Ben")
    try adults.meet()
    let emma = try #require(adults.anna.emma)
    let (anna, ben) = (adults.anna.vault.device, adults.ben.vault.device)
    let opened = try #require(emma.openedHeads.first { $0.device == ben })
    var said = opened.head
    said.branches = [Head.Branch(device: anna, above: 0)]
    let head = OpenedHead(
      device: ben, counter: opened.counter, hash: opened.hash, isLate: opened.isLate,
      epoch: opened.epoch, follows: opened.follows, head: said)
    let known = try entry(at: adults.anna)
    var claimed = known
    claimed.version = known.version.renaming(anna, above: 0, to: ben)
    claimed.device = ben
    let revision = try emma.revision(known.revision)
    let right = emma.entry(of: revision, claimedAs: claimed, by: head)
    #expect(right.version == known.version)
    #expect(right.device == anna)
  }

  private func forgeRevision(
    _ change: (inout RecordRevision) -> Void
  ) throws -> ContentDigest {
    try forgeRevision(naming: nil) { revision, _ in change(&revision) }
  }

  /// A revision of the note that Ben signs and his head names, whatever it says.
  ///
  /// - Parameters:
  ///   - device: One of which his head says that it has seen a head.
  ///   - reached: How far his head says that devices have come.
  ///   - branches: Lines that his head says it has taken over.
  @discardableResult
  private func forgeRevision(
    naming device: DeviceID?, reached: [DeviceID: UInt64] = [:], branches: [Head.Branch] = [],
    _ change: (inout RecordRevision, DeviceID) -> Void
  ) throws -> ContentDigest {
    let member = try #require(adults.ben.emma)
    let context = adults.ben.vault.context
    let certificate = try context.ownCertificate().id
    return try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      let base = try #require(member.entry(note))
      var revision = try member.revision(base.revision)
      revision.version[adults.ben.vault.device] = writer.counter
      revision.time = writer.time
      revision.device = adults.ben.vault.device
      revision.previous = [base.revision]
      change(&revision, device ?? adults.ben.vault.device)
      let bytes = revision.encodeSigned(by: certificate) { unsigned in
        context.device.signingKey.sign(
          context.binding.vault.signedMessage(ofRevision: unsigned, in: member.id))
      } storingPages: { _ in
        .zero
      }
      let digest = try member.objects.write(.record, bytes, under: member.register.keys.current)
      var entry = base
      entry.revision = digest
      entry.version = revision.version
      entry.time = revision.time
      entry.device = revision.device
      member.state.withLock { _ = $0.take([entry]) }
      try writer.writeHead(.append, changes: [entry]) { head in
        if let device {
          head.cover.append(Head.Cover(device: device, counter: 9, headHash: .random()))
        }
        head.branches += branches
        head.reached = reached.sorted { $0.key < $1.key }.map {
          Head.Reached(device: $0.key, counter: $0.value)
        }
      }
      heads = writer.heads
      return digest
    }
  }

  /// Carla's head has not come: what Ben wrote over her change waits for it, or for a head that names it.
  @Test func whatWasWrittenOverWhatHasNotComeIsTakenWithAHeadThatNamesIt() throws {
    try adults.carla.edit(note, Self.text("severe; eggs"))
    try adults.carry(from: adults.carla, to: adults.ben)
    try adults.ben.edit(note, Self.text("severe; eggs; nuts"))
    // Anna has an older head of Carla's.
    let head = BlobPath(
      VaultPath.head(try #require(adults.anna.emma).id, adults.carla.vault.device).string)
    let before = try? adults.anna.store.read(head, limit: 1 << 20)
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    if let before {
      try adults.anna.store.replace(head, before, durably: false)
    } else {
      try adults.anna.store.remove(head)
    }
    let emma = try #require(adults.anna.emma)
    _ = try emma.refresh()
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    _ = try emma.refresh()
    let text = try #require(try emma.bytes(of: "record.md", in: note))
    #expect(String(decoding: text, as: UTF8.self) == Self.text("severe; eggs; nuts"))
    let problems = try adults.anna.vault.check(readsData: false).problems
    #expect(problems.filter { [.untrusted, .waiting].contains($0.kind) } == [])
  }

  /// Whoever was taken out has no head that counts any more; what they wrote stays, for newcomers as well.
  @Test func whatSomebodyTakenOutHasWrittenIsTakenByNewcomers() throws {
    let all = try Adults()
    try all.share(with: all.ben, .editor)
    let note = try all.ben.write("Of Ben", Self.text("severe"))
    try all.meet()
    try all.anna.edit(note, Self.text("mild"))
    try all.meet()
    try all.anna.vault.beginEpoch(of: #require(all.anna.emma), without: [all.ben.id])
    try all.anna.write("Later")
    try all.share(with: all.carla, .editor)
    try all.carla.reopen()
    for adult in [all.anna, all.carla] {
      let member = try #require(adult.emma)
      let text = try #require(try member.bytes(of: "record.md", in: note))
      #expect(String(decoding: text, as: UTF8.self) == Self.text("mild"))
      #expect(try adult.titles == ["Of Ben", "Later"])
      #expect(adult.vault.problems.filter { [.untrusted, .waiting].contains($0.kind) } == [])
    }
    // Also from Carla's head alone.
    try all.carla.write("Of Carla")
    try all.carry(from: all.carla, to: all.anna)
    let head = VaultPath.head(try #require(all.anna.emma).id, all.anna.vault.device)
    try all.carla.store.remove(BlobPath(head.string))
    try all.carla.reopen()
    #expect(try all.carla.titles == ["Of Ben", "Later", "Of Carla"])
  }

  // MARK: Cost

  /// Only what is news is read, and once.
  @Test func laterOpeningsReadNoRevision() throws {
    for number in 0..<40 { try adults.anna.write("Record \(number)") }
    try adults.meet()
    try expectNoRevisionIsRead(by: adults.carla)
  }

  /// Whoever may only read has no head of their own that has the newest of everything: of two heads one replaces what the other
  /// one says.
  @Test func laterOpeningsOfViewersReadNoRevision() throws {
    let all = try Adults()
    try all.share(with: all.ben, .editor)
    try all.share(with: all.carla, .viewer)
    let records = try (0..<10).map { try all.anna.write("Record \($0)") }
    try all.meet()
    for record in records { try all.ben.edit(record, "of Ben") }
    try all.carry(from: all.ben, to: all.carla)
    try expectNoRevisionIsRead(by: all.carla)
  }

  /// By another process, once one that was opened has compared everything.
  private func expectNoRevisionIsRead(by adult: Adults.Adult) throws {
    try adult.reopen()
    let recording = RecordingStore(adult.store.imageAfterKill())
    _ = try adult.open(on: recording)
    let read = recording.calls(.read).map(\.path)
    let emma = try #require(adult.emma)
    let revisions = Set(emma.allEntries().map(\.revision))
    let paths = Set(revisions.map { emma.objects.path(of: $0) })
    #expect(read.filter(paths.contains) == [])
  }
}
