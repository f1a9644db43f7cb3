import BlobStore
import Notes
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

/// Somebody who may write makes up so much that what an honest device has to say of it would be more than anybody reads. What is
/// saved is saved all the same, and no head takes the place of one that can be read but another such.
@Suite struct CrowdedHeadTests {
  private let adults: Adults

  /// Anna, an owner who came after her, and an editor.
  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .editor)
  }

  @Test func whatNobodyCouldReadTakesThePlaceOfNoHead() throws {
    let anna = adults.anna
    try anna.write("Before")
    let member = try #require(anna.emma)
    let path = BlobPath(VaultPath.head(member.id, anna.vault.device).string)
    let before = anna.store.blobs[path]
    let cover = Head.Cover(device: .random(), counter: 1, headHash: .random())
    #expect(throws: VaultError.self) {
      try member.heads.withLock { heads in
        var writer = CommitWriter(member: member, heads: heads)
        try writer.writeHead(.checkpoint) { head in
          head.cover = Array(repeating: cover, count: Limits.headDevices + 1)
        }
        heads = writer.heads
      }
    }
    #expect(anna.store.blobs[path] == before)
    try anna.reopen()
    #expect(try anna.titles == ["Before"])
  }

  /// Ben writes links that change nothing, none of which knows of another one.
  private func writeLinksBesideOneAnother(count: Int) throws {
    let ben = adults.ben
    let emma = try #require(ben.emma)
    let seat = try #require(emma.register.links.history.seats(of: ben.id).first)
    var link = try ben.vault.link(of: emma, as: seat, [])
    for number in 0..<count {
      link.time = UInt64(number) + 1
      for adult in adults.everyone { try ben.vault.forge(link, into: adult.store) }
    }
    for adult in adults.everyone { try adult.reopen() }
  }

  @Test func moreLinksThanAHeadNamesKeepNobodyFromSaving() throws {
    try writeLinksBesideOneAnother(count: 1_050)
    let history = try #require(adults.anna.emma).register.links.history
    try #require(history.tips.count > 1_024)
    for (adult, title) in [(adults.anna, "Of Anna"), (adults.carla, "Of Carla")] {
      try adult.write(title)
      try adult.reopen()
      #expect(try adult.titles.contains(title))
      #expect(adult.vault.problems.filter { $0.severity == .damage } == [])
    }
    try adults.carry(from: adults.carla, to: adults.anna)
    try adults.carry(from: adults.anna, to: adults.carla)
    for adult in [adults.anna, adults.carla] {
      #expect(try adult.titles.isSuperset(of: ["Of Anna", "Of Carla"]))
    }
  }

  @Test func norAnOwnerFromTakingThemOut() throws {
    try writeLinksBesideOneAnother(count: 1_050)
    let anna = adults.anna
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [adults.ben.id])
    try anna.reopen()
    let links = try #require(anna.emma).register.links
    #expect(!links.access.includes(adults.ben.id))
    #expect(links.access.includes(adults.carla.id))
    try anna.write("Without Ben")
    try adults.carry(from: anna, to: adults.carla)
    #expect(try adults.carla.titles.contains("Without Ben"))
  }

  /// Ben has given access until a day that is over to more people than a link can say of that it has ended.
  @Test func norByPeopleWhoseAccessHasEnded() throws {
    let (anna, ben) = (adults.anna, adults.ben)
    let emma = try #require(ben.emma)
    let seat = try #require(emma.register.links.history.seats(of: ben.id).first)
    for _ in 0..<4 {
      let gifts = (0..<40).map { _ in Change.give(.random(), .viewer, until: 1) }
      let link = try ben.vault.link(of: emma, as: seat, gifts)
      for adult in adults.everyone { try ben.vault.forge(link, into: adult.store) }
    }
    try anna.reopen()
    let before = try #require(anna.emma).register.links.access
    try #require(before.entitlements.count > 160)
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.id])
    let links = try #require(anna.emma).register.links
    #expect(Set(links.access.entitlements.keys) == [anna.id, adults.carla.id])
    #expect(try anna.vault.tendEpochs().get() == [])
  }

  // MARK: Very many devices

  /// Somebody has so many that a head could name them alone, all of which come before those of others.
  @Test func nobodyCrowdsOutTheDevicesOfOthers() throws {
    let (one, other) = (PersonID.random(), PersonID.random())
    let devices = (0..<50).map { _ in DeviceID.random() }.sorted()
    var persons = Dictionary(devices.map { ($0, one) }) { first, _ in first }
    persons[devices[48]] = other
    persons[devices[49]] = nil
    let room = HeadRoom(persons: persons)
    let named = room.shares(of: devices.reversed(), atMost: 10) { $0 }
    #expect(named == Array(devices.prefix(8)) + devices.suffix(2))
  }

  /// Somebody's closings name as many lists as a head names, all of which come before those of others, and which the last head
  /// has named.
  @Test func nobodyCrowdsOutTheListsOfOthers() throws {
    let lists = (0..<50).map { _ in ContentDigest.random() }.sorted()
    let crowd = Array(lists.prefix(48))
    // Who says of another one's list that it is theirs as well takes it from nobody.
    let turns = HeadRoom.inTurn([[], crowd + [lists[48]], [lists[48]], [lists[49]]])
    #expect(turns.prefix(3) == [lists[0], lists[48], lists[49]])
    #expect(turns.count == 50 && Set(turns) == Set(lists))
  }

  /// Carla changes her keys with words of her own, and names lists that she has made up: as many as a head names. Ben's is named
  /// by Anna all the same, also once she has named Carla's.
  @Test func whatClosingsOfOneListLeavesRoomForAnother() throws {
    let (anna, carla, ben) = (adults.anna, adults.carla, adults.ben)
    try carla.write("Note")
    let emma = try #require(carla.emma)
    let made = try (0...Limits.headLists).map { _ -> ContentDigest in
      let bytes = AuthoredList(revisions: [.random()]).encoded()
      return try emma.objects.write(.authored, bytes, under: emma.register.keys.current)
    }.sorted()
    try close(carla, naming: Array(made.dropLast()))
    try emma.withWriter { (writer, _) throws(VaultError) in
      try writer.writeLearned { $0.authored = Array(made.dropLast()) }
    }
    try adults.carry(from: carla, to: anna)
    try anna.write("One")
    try adults.carry(from: carla, to: ben)
    let other = try #require(ben.emma)
    try close(ben, naming: [made[Limits.headLists]])
    try other.withWriter { (writer, _) throws(VaultError) in
      try writer.writeLearned { $0.authored = [made[Limits.headLists]] }
    }
    try adults.carry(from: ben, to: anna)
    try anna.write("Two")
    let heads = try #require(anna.emma).openedHeads
    let own = try #require(heads.first { $0.device == anna.vault.device })
    #expect(own.head.authored.count == Limits.headLists)
    #expect(own.head.authored.contains(made[Limits.headLists]))
  }

  private func close(_ adult: Adults.Adult, naming lists: [ContentDigest]) throws {
    let context = adult.vault.context
    let words = try RecoveryWords(parsing: adult.words.joined(separator: " "))
    let writer = try ClosingWriter(
      context.signedFiles, in: context.store, clock: context.clock, person: context.ownPerson(),
      device: context.device, memory: context.state.loadPeopleMemory())
    _ = try writer.run(
      ClosingWriter.Content(authored: lists), signedWith: words, endorsedBy: words
    ) { (path, bytes) throws(VaultError) in
      try context.signedFiles.store(bytes, at: path, in: context.store)
    }
    try context.reloadPeople()
  }

  /// People are made up as easily as devices.
  @Test func whoCouldNeverWriteTakesNoShareOfThoseWhoCould() throws {
    let adults = try Adults()
    let others = [adults.ben, adults.carla].sorted { $0.vault.device < $1.vault.device }
    let (stranger, writer) = (others[0], others[1])
    try adults.share(with: writer, .editor)
    let register = try #require(adults.anna.emma).register
    let room = HeadRoom(register.context.people, register.links)
    let devices = [DeviceID.zero, stranger.vault.device, writer.vault.device]
    let named = room.shares(of: devices, atMost: 2) { $0 }
    #expect(named == [.zero, writer.vault.device])
  }

  /// Somebody forks the lines of as many devices as a head names strays of, all of which come before Ben's, who was copied.
  @Test func nobodyCrowdsOutTheStraysOfOthers() throws {
    let (anna, ben) = (adults.anna, adults.ben)
    try ben.write("By Ben")
    try adults.meet()
    let member = try #require(anna.emma)
    let named = try member.heads.withLock { heads in
      var crowded = heads
      let bens = try #require(heads.loaded[ben.vault.device])
      for number in 0..<(Limits.headHeard + 1) {
        let bytes = [0, 0, 0, UInt8(number >> 8), UInt8(number & 0xff)]
        let device = try #require(DeviceID(bytes + [UInt8](repeating: 1, count: 27)))
        crowded.loaded[device] = LoadedHead(
          device: device, counter: 1, hash: bens.hash, late: nil, head: bens.head, body: bens.body)
      }
      for (device, head) in crowded.loaded {
        crowded.lines.strays[device] = [
          Head.Stray(device: device, counter: head.counter + 1, headHash: .random(), above: 0)
        ]
      }
      return member.openStrays(crowded)
    }
    #expect(named.count == Limits.headHeard)
    #expect(named.contains { $0.device == ben.vault.device })
  }

  /// More late heads than a head names are no reason to write one after the other for their names alone.
  @Test(arguments: [1, Limits.headDevices])
  func aHeadIsNotWrittenForWhatItHasNoRoomFor(coverCount: Int) throws {
    let anna = adults.anna
    try anna.write("Note")
    let member = try #require(anna.emma)
    var heads = member.heads.withLock { $0 }
    let own = try #require(heads.loaded[anna.vault.device])
    let cover = (0..<coverCount).map { _ in
      Head.Cover(device: .random(), counter: 1, headHash: .random())
    }
    heads.loaded[own.device] = LoadedHead(
      device: own.device, counter: own.counter, hash: own.hash, late: nil, head: Head(cover: cover),
      body: own.body)
    let ben = adults.ben.vault.device
    heads.loaded[ben] = LoadedHead(
      device: ben, counter: 1, hash: .random(), late: .random(), head: Head(), body: own.body)
    let writer = CommitWriter(member: member, heads: heads)
    #expect(writer.hasLateHeads == (coverCount < Limits.headDevices))
  }

  // MARK: Very large words

  /// Ben says of Carla's device as much as his head holds, in a field that nobody knows. What Anna says of it has none of that:
  /// two of that size were more than a head may have.
  @Test func whatNobodyKnowsIsNotSaidOn() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    let (anna, ben) = (adults.anna, adults.ben)
    let said = Head.Cover(device: adults.carla.vault.device, counter: 1, headHash: .random())
    // Field 15, of 700,000 bytes.
    let field: [UInt8] = [0x7A, 0xE0, 0xDC, 0x2A] + [UInt8](repeating: 0, count: 700_000)
    let crowded = try Head.Cover(decoding: said.encoded() + field)
    try #require(crowded.unknown.bytes.count == field.count)
    let emma = try #require(ben.emma)
    try emma.heads.withLock { heads in
      var writer = CommitWriter(member: emma, heads: heads)
      try writer.writeHead(.checkpoint) { $0.heard = [crowded] }
      heads = writer.heads
    }
    try adults.carry(from: ben, to: anna)
    try anna.write("Note")
    let heads = try #require(anna.emma).openedHeads
    let own = try #require(heads.first { $0.device == anna.vault.device })
    #expect(own.head.heard == [said])
  }

  // MARK: Very large entries

  @Test func entriesThatOneSegmentCannotHoldStandInSeveral() throws {
    let anna = adults.anna
    for number in 0..<20 { try anna.write("Record \(number)") }
    let entries = try #require(anna.emma).allEntries()
    let lineage = SegmentLineage(
      device: anna.vault.device, marks: [HeadMark(counter: 1, hash: .random())])
    let whole = CommitWriter.segments(entries, lineage)
    #expect(whole.map(\.segment) == [Segment(entries: entries, lineage: lineage)])
    let parts = CommitWriter.segments(entries, lineage, atMost: 700)
    #expect(parts.count > 2)
    #expect(parts.allSatisfy { $0.bytes.count <= 700 && $0.bytes == $0.segment.encoded() })
    #expect(parts.flatMap(\.segment.entries) == entries)
    #expect(parts.compactMap(\.segment.lineage) == [lineage])
  }

  /// An entry that was as large as a segment, and is a little larger since, goes without what may be so large.
  @Test func anEntryThatNoSegmentHoldsIsListedAllTheSame() throws {
    try adults.anna.write("Record")
    let entry = try #require(adults.anna.emma?.allEntries().first)
    var large = entry
    large.type = String(repeating: "x", count: 700)
    let parts = CommitWriter.segments([large], nil, atMost: 700)
    #expect(parts.map(\.segment.entries) == [[entry]])
    #expect(parts.allSatisfy { $0.bytes.count <= 700 && $0.bytes == $0.segment.encoded() })
  }

  /// It is no reason to end the program.
  @Test func whatNoObjectHoldsIsRefused() throws {
    let objects = try #require(adults.anna.emma).objects
    let bytes = [UInt8](repeating: 0, count: Limits.contentBytes(of: .segment) + 1)
    #expect(throws: VaultError.self) { _ = try objects.stage(.segment, bytes) }
    let keys = try #require(adults.anna.emma).register.keys.current
    #expect(throws: VaultError.self) { _ = try objects.write(.segment, bytes, under: keys) }
  }
}
