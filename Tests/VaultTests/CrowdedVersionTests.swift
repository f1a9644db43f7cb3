import BlobStore
import Notes
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultTrust

@testable import Vault

/// Somebody who may write makes up versions that name very many devices, or that cannot be read, so that nothing could be joined
/// with them, nothing added, and nothing changed any more.
@Suite struct CrowdedVersionTests {
  private let adults: Adults

  /// Anna, and an editor.
  init() throws {
    adults = try Adults()
    try adults.share(with: adults.carla, .editor)
  }

  /// One that names so many devices.
  private static func version(of count: Int) -> VersionVector {
    if count == 1 { return VersionVector(device: .random(), counter: 1) }
    return version(of: count / 2).joined(with: version(of: count - count / 2))
  }

  /// Puts what somebody has made of a record before Anna, as one of her heads would bring it: it names as many devices as a reader
  /// takes.
  ///
  /// - Parameter other: The record that the revision says it is of; the same where nil.
  private func plant(
    _ record: RecordID, in parent: RecordID, saying other: RecordID? = nil,
    deviceCount: Int = Limits.versionDevices, isDeleted: Bool = false,
    time: HybridTime = HybridTime(milliseconds: 1)
  ) throws {
    let member = try #require(adults.anna.emma)
    var revision = RecordRevision(
      record: other ?? record,
      place: RecordPlace(
        parent: parent, title: try #require(FileName("Planted")), isDeleted: isDeleted),
      placeTime: time, attributesTime: time, version: Self.version(of: deviceCount),
      time: time, device: .random())
    let bytes = revision.encode { _ in .zero }
    let digest = try member.objects.write(.record, bytes, under: member.register.keys.current)
    var entry = RecordEntry(revision, named: digest, summary: .empty)
    entry.record = record
    member.state.withLock { _ = $0.take([entry]) }
  }

  /// What is saved beside it is there when the vault is opened anew.
  private func expectSaving() throws {
    let anna = adults.anna
    try anna.write("Another")
    try anna.reopen()
    #expect(try anna.titles.contains("Another"))
    #expect(anna.vault.problems.filter { $0.severity == .damage } == [])
  }

  /// Nobody could name all of them and one more. So the joined version begins anew.
  @Test func whatWouldNameTooManyDevicesIsJoined() throws {
    let note = try adults.anna.write("Note")
    try plant(note, in: .root)
    let member = try #require(adults.anna.emma)
    try #require(member.hasConcurrentVersions)
    _ = try member.joinConcurrent()
    #expect(!member.hasConcurrentVersions)
    let joined = try #require(member.entry(note))
    #expect(joined.version.isReadable && joined.version.entries.count < 10)
    // Whoever makes it again comes to the same.
    #expect(try member.authorship(of: joined.revision) == .joined)
    try expectSaving()
    #expect(try adults.anna.titles.isSuperset(of: ["Note", "Another"]))
  }

  /// None of them is too large, and all of them together are.
  @Test func severalThatNameManyDevicesAreJoined() throws {
    let note = try adults.anna.write("Note")
    for _ in 0..<5 { try plant(note, in: .root, deviceCount: Limits.versionDevicesKept) }
    let member = try #require(adults.anna.emma)
    try #require(member.rivals(of: note).count == 6)
    _ = try member.joinConcurrent()
    #expect(!member.hasConcurrentVersions)
    let version = try #require(member.entry(note)).version
    #expect(version.entries.count { $0.device.standsForRevision } == 5)
    try adults.anna.edit(note, "edited")
    #expect(member.rivals(of: note).count == 1)
    try expectSaving()
  }

  /// Each of them would take a place in the joined version. Nothing is written in vain, and it is told.
  @Test func moreThanAVersionCanNameAreLeftAlone() throws {
    let record = RecordID.random()
    try plant(record, in: .root, deviceCount: 1)
    let member = try #require(adults.anna.emma)
    let planted = try #require(member.entry(record))
    let rivals = (0...Limits.joinedVersions).map { _ -> RecordEntry in
      var rival = planted
      rival.version = VersionVector(device: .random(), counter: 1)
      return rival
    }
    let before = try member.objects.listed().count
    let refusal = member.heads.withLock { heads -> VaultError? in
      var writer = CommitWriter(member: member, heads: heads)
      do throws(VaultError) { try writer.join(record, rivals) } catch { return error }
      return nil
    }
    guard case .limit(_, let found, Limits.joinedVersions)? = refusal, found == rivals.count else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(try member.objects.listed().count == before)
    let problem = try #require(member.tooManyVersions(rivals))
    #expect(problem.kind == .unjoined && problem.severity == .warning)
    #expect(problem.record == "Emma/Planted" && problem.reason.contains("\(rivals.count)"))
    // One fewer has room; so have any number that few devices wrote.
    #expect(member.tooManyVersions(Array(rivals.dropFirst())) == nil)
    let two = [DeviceID.random(), .random()]
    let ofTwo = rivals.indices.map { number -> RecordEntry in
      var rival = planted
      rival.version = VersionVector(device: two[0], counter: UInt64(number + 1)).joined(
        with: VersionVector(device: two[1], counter: UInt64(rivals.count - number)))
      return rival
    }
    #expect(member.tooManyVersions(ofTwo) == nil)
  }

  /// What is written over one version of those that are not joined leaves the others in the head: they may stand in no other.
  @Test func whatIsNotJoinedStaysBesideAnEdit() throws {
    let anna = adults.anna
    let note = try anna.write("Note")
    try plant(note, in: .root, deviceCount: 1)
    let member = try #require(anna.emma)
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note("edited")
    let edits = [edit]
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.add(edits)
      try writer.writeHead(.checkpoint)
      heads = writer.heads
    }
    try anna.reopen()
    let reopened = try #require(anna.emma)
    #expect(reopened.rivals(of: note).map(\.title.string) == ["Note", "Planted"])
  }

  /// One of them shows, and none of the others is out of reach.
  @Test func theHistoryHasEveryVersionThatIsNotJoined() throws {
    let note = try adults.anna.write("Note")
    try adults.anna.edit(note, "edited")
    try plant(note, in: .root, deviceCount: 1)
    let member = try #require(adults.anna.emma)
    let titles = try member.history(of: note).map(\.revision.place.title.string)
    #expect(titles == ["Note", "Note", "Planted"])
  }

  /// Its time is between two steps of a deletion, of which it knows nothing.
  @Test func whatWasDeletedComesBackAsItWasWhateverStandsBeside() throws {
    let note = try adults.anna.write("Note")
    let member = try #require(adults.anna.emma)
    let files = try ["a.pdf", "b.pdf"].map { try Item.file($0, Array($0.utf8), in: member) }
    var edit = RecordEdit(record: note)
    for file in files { edit.items[file.name] = file }
    _ = try member.commit([edit])
    let whole = try #require(member.entry(note))
    _ = try member.commit([RecordEdit(record: note, items: [files[0].name: nil])])
    let other = try adults.anna.write("Between")
    let between = try #require(member.entry(other)).time
    _ = try member.commit([RecordEdit(record: note, items: [files[1].name: nil])])
    let place = RecordPlace(parent: .root, title: whole.title, isDeleted: true)
    _ = try member.commit([RecordEdit(record: note, place: place)])
    try plant(note, in: .root, deviceCount: 1, time: between)
    let before = try RecordRestore(member).revisionBeforeDeletion(of: note)
    #expect(before.digest == whole.revision)
  }

  /// Two entries may name it, as long as only one of them has the name that its device goes by now.
  @Test func theHistoryHasNoRevisionTwice() throws {
    let note = try adults.anna.write("Note")
    let member = try #require(adults.anna.emma)
    var entry = try #require(member.entry(note))
    entry.version = VersionVector(device: .random(), counter: 1)
    let rival = entry
    member.state.withLock { _ = $0.take([rival]) }
    try #require(member.rivals(of: note).count == 2)
    #expect(try member.history(of: note).map(\.digest) == [rival.revision])
  }

  /// Whoever may write has a record name as many devices as a reader takes. Everybody else goes on changing and deleting it.
  @Test func aRecordOfVeryManyDevicesIsChangedAllTheSame() throws {
    let (anna, record) = (adults.anna, RecordID.random())
    try plant(record, in: .root)
    var emma = try #require(anna.emma)
    for text in ["once", "twice"] {
      try anna.edit(record, text)
      let document = try emma.revision(#require(emma.entry(record)).revision).document
      #expect(document?.content == .inline(Array(text.utf8)))
      #expect(emma.rivals(of: record).count == 1)
      #expect(try #require(emma.entry(record)).version.entries.count == 2)
    }
    try anna.reopen()
    emma = try #require(anna.emma)
    var edit = RecordEdit(record: record)
    edit.place = RecordPlace(
      parent: .root, title: try #require(FileName("Planted")), isDeleted: true)
    #expect(try emma.commit([edit]).failures.isEmpty)
    #expect(emma.entry(record)?.isDeleted ?? false)
    try expectSaving()
  }

  /// Two go on from it apart, each with another part of it. What one of them has left as it was has not lost.
  @Test func whatBothWentOnFromIsKnown() throws {
    let (before, after) = (HybridTime(milliseconds: 1), HybridTime(milliseconds: 2))
    var revision = RecordRevision(
      record: .random(),
      place: RecordPlace(parent: .root, title: try #require(FileName("Planted"))),
      placeTime: before, attributesTime: before,
      version: Self.version(of: Limits.versionDevices), time: before, device: .random())
    revision.document = Item.note("before")
    let base = try store(revision)
    let sides = [DeviceID.random(), .random()].map { device -> RecordRevision in
      var side = revision
      (side.previous, side.device, side.time) = ([base.digest], device, after)
      side.version[device] = 1
      side.version = side.version.begunAnew(over: base.digest, by: device) { _ in false }
      return side
    }
    var (changed, renamed) = (sides[0], sides[1])
    var document = Item.note("after")
    document.time = after
    changed.document = document
    renamed.place = RecordPlace(parent: .root, title: try #require(FileName("Renamed")))
    renamed.placeTime = after
    let member = try #require(adults.anna.emma)
    let outcome = try RevisionJoin(member: member).run(store(changed), store(renamed))
    #expect(outcome.copies.isEmpty)
    #expect(outcome.merged.document == document && outcome.merged.place == renamed.place)
  }

  private func store(_ revision: RecordRevision) throws -> NamedRevision {
    var revision = revision
    let member = try #require(adults.anna.emma)
    let bytes = revision.encode { _ in .zero }
    let digest = try member.objects.write(.record, bytes, under: member.register.keys.current)
    return NamedRevision(revision, named: digest)
  }

  /// An entry may say what it likes as long as nobody can read its revision.
  @Test func anotherRecordsRevisionIsJoinedWithNone() throws {
    let note = try adults.anna.write("Note")
    try plant(note, in: .root, saying: .random(), deviceCount: 1)
    let member = try #require(adults.anna.emma)
    try #require(member.hasConcurrentVersions)
    _ = try member.joinConcurrent()
    #expect(member.hasConcurrentVersions)
    try expectSaving()
  }

  /// One `record.md` is the record's note, and another one stands among the other files.
  @Test func aSecondNoteEndsNoProgram() throws {
    let note = try adults.anna.write("Note")
    let member = try #require(adults.anna.emma)
    var revision = try member.revision(#require(member.entry(note)).revision)
    revision.items = ItemTree(items: [Item.note("another")])
    let document = try #require(revision.document)
    #expect(try member.filesByName(of: revision) == [.record: document])
  }

  /// The version that loses would be added to a record that somebody has made beforehand, and that nothing can be added to; and
  /// the folder of such copies may be deleted, in a way that cannot be undone. It is kept elsewhere.
  @Test(arguments: [false, true])
  func aCopyThatTakesNothingKeepsNothingFromBeingSaved(isFolderPlanted: Bool) throws {
    let (anna, carla) = (adults.anna, adults.carla)
    let note = try anna.write("Note", "before")
    try adults.meet()
    try anna.edit(note, "of Anna")
    try carla.edit(note, "of Carla")
    let marks = try [anna, carla].map { adult in
      let member = try #require(adult.emma)
      let revision = try member.revision(#require(member.entry(note)).revision)
      return ConflictMark(record: note, device: adult.vault.device, time: revision.time)
    }
    let emma = try #require(anna.emma)
    for mark in marks {
      let copy = ConflictCopy(mark: mark, title: try #require(FileName("Note")), items: [])
      try plant(
        copy.record(in: emma.id), in: ConflictCopy.folder(of: emma.id), saying: .random(),
        deviceCount: 1)
    }
    if isFolderPlanted {
      try plant(
        ConflictCopy.folder(of: emma.id), in: .root, saying: .random(), deviceCount: 1,
        isDeleted: true)
    }
    try adults.carry(from: carla, to: anna)
    #expect(!emma.hasConcurrentVersions)
    let copies = emma.allEntries().filter { $0.title.string.contains(" - offline conflict ") }
    #expect(copies.count == 1)
    let joined = try #require(emma.entry(note))
    let shown = try ([joined] + copies).flatMap { entry -> [String] in
      try emma.items(of: emma.revision(entry.revision)).map { item in
        String(decoding: try emma.beginning(of: item, byteCount: 100), as: UTF8.self)
      }
    }
    #expect(shown.sorted() == ["of Anna", "of Carla"])
    try expectSaving()
  }
}
