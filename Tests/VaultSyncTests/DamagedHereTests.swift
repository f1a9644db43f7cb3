import BlobStore
import TestSupport
import Testing
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultSync

/// A record of this machine's own that is damaged here: what is whole is sent, and once.
@Suite struct DamagedHereTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws { family = try Family() }

  private func objectCount(_ store: MemoryStore) -> Int {
    store.blobs.keys.count { $0.string.contains("/objects/") }
  }

  @Test(arguments: [false, true], [SyncOptions.Direction.both, .push])
  func whatIsWholeIsSentOnce(_ isFirstPush: Bool, _ direction: SyncOptions.Direction) throws {
    let desk = family[0]
    if !isFirstPush {
      try desk.write("Before", "x")
      try family.meet(at: usb)
    }
    for number in 0..<10 { try desk.write("Note \(number)", "x") }
    var edit = RecordEdit.newRecord("Scan", note: "v1")
    let photo = try Item.photo("scan", byteCount: 200_000, seed: 5, in: desk.emma)
    edit.items[photo.name] = photo
    try desk.commit(edit)
    let chunk = try #require(try desk.emma.chunks(of: photo.content).first ?? nil)
    let path = BlobPath(try desk.emma.objects.vaultPath(of: chunk).string)
    let whole = try #require(desk.store.blobs[path])
    var damaged = whole
    damaged[whole.count / 2] ^= 1
    try desk.store.put(path, damaged)

    let before = objectCount(usb)
    let first = try desk.sync(usb) { $0.direction = direction }
    #expect(first.problems.contains { $0.kind == .damagedHere && $0.path == path.string })
    #expect(first.pushed.objectCount >= 10)
    #expect(first.pushed.objectCount == objectCount(usb) - before)
    for _ in 0..<2 {
      let again = try desk.sync(usb) { $0.direction = direction }
      #expect(again.problems.contains { $0.kind == .damagedHere && $0.path == path.string })
      #expect(again.pushed.isEmpty && again.traffic.putCount == 0, "\(again.pushed)")
    }
    try desk.store.put(path, whole)
    #expect(try desk.sync(usb).problems == [])
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// What the disk has lost shows with the first push to a new remote, and not when somebody needs that.
  @Test(arguments: [false, true]) func whatIsLostIsToldByTheFirstPush(_ isDeleted: Bool) throws {
    let desk = family[0]
    let note = try desk.write("Note", "x")
    if isDeleted { try desk.delete(note) }
    let revision = try #require(desk.emma.entry(note)).revision
    let path = BlobPath(try desk.emma.objects.vaultPath(of: revision).string)
    let whole = try #require(desk.store.blobs[path])
    try desk.store.remove(path)
    let found = try desk.sync(usb).problems
    #expect(found.contains { $0.kind == .damagedHere && $0.path == path.string }, "\(found)")
    try desk.store.put(path, whole)
    try desk.sync(usb)
    #expect(usb.blobs[path] == whole)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// An older version is damaged here. What is saved over what another device has made since is saved all the same, and that is
  /// kept.
  @Test func aDamagedOlderVersionKeepsNothingFromBeingSaved() throws {
    let (desk, laptop) = (family[0], family[1])
    let note = try desk.write("Visit", "first")
    try family.meet(at: usb)
    let first = try #require(desk.emma.entry(note)).revision
    let seen = try #require(
      try desk.emma.item(named: .record, of: desk.emma.revision(first)))
    try laptop.edit(note, "of the laptop")
    try family.meet(at: usb)
    let path = BlobPath(try desk.emma.objects.vaultPath(of: first).string)
    var bytes = try #require(desk.store.blobs[path])
    bytes[bytes.count / 2] ^= 1
    try desk.store.put(path, bytes)
    try desk.reopen()
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note("of the desk")
    edit.seen[.record] = SeenFile(seen)
    let commit = try desk.emma.commit([edit])
    #expect(commit.failures.isEmpty, "\(commit.failures)")
    let contents = try desk.contents().values
    #expect(contents.contains("of the desk") && contents.contains("of the laptop"))
  }

  /// An edit that cannot be made, since a part of the record's list of files is lost here, overrules nobody: what others have made
  /// of files in the rest of the list goes on showing, and is no conflict.
  @Test func whatCannotBeSavedLeavesNoConflict() throws {
    let (desk, laptop) = (family[0], family[1])
    let names = (0..<200).compactMap { FileName("\($0)") }
    let new = try photos(in: .newRecord("Disc"), called: names, seed: 0, on: desk)
    try desk.commit(new)
    try family.meet(at: usb)
    let revision = try #require(desk.emma.entry(new.record)).revision
    let seen = try desk.emma.filesByName(of: desk.emma.revision(revision))
    let lost = try #require(try leaf(of: revision, new.record, on: desk))
    let others = Array(names.filter { !lost.names.contains($0) }.prefix(5))
    let disc = RecordEdit(record: new.record)
    try laptop.commit(photos(in: disc, called: others, seed: 1000, on: laptop))
    try family.meet(at: usb)
    try desk.store.remove(lost.path)
    try desk.reopen()
    let called = others + lost.names.prefix(1)
    var mine = try photos(in: disc, called: called, seed: 2000, on: desk)
    for name in called { mine.seen[name] = seen[name].map(SeenFile.init) }
    let commit = try desk.emma.commit([mine])
    #expect(commit.failures[new.record] != nil)
    #expect(try desk.emma.record(titled: "Offline Sync Conflicts") == nil)
  }

  private func photos(
    in disc: RecordEdit, called names: [FileName], seed: UInt64, on device: Family.Device
  ) throws -> RecordEdit {
    var edit = disc
    for (number, name) in names.enumerated() {
      edit.items[name] = try .photo(
        name.string, byteCount: 100, seed: seed + UInt64(number), in: device.emma)
    }
    return edit
  }

  /// A page of a record's list of files, and what stands in it.
  private func leaf(
    of revision: ContentDigest, _ record: RecordID, on device: Family.Device
  ) throws -> (path: BlobPath, names: [FileName])? {
    let emma = try device.emma
    var found: (path: BlobPath, names: [FileName])?
    _ = MemberWalk(member: emma).walk(
      revision: revision, of: record, isOnlyInHistory: false,
      visit: { object in
        guard object.kind == .page, case .leaf(let items)? = try? emma.loadPage(object.digest)
        else { return }
        found = (BlobPath(emma.objects.vaultPath(of: object.digest).string), items.map(\.name))
      }, fail: { _, error in Issue.record(error) })
    return found
  }

  /// A pull that was cut short leaves objects here, and their key may have been taken back before it comes. (Key schedule
  /// 1207: a machine that had to wait for the words was told that what it had here was damaged.)
  @Test func whatNoKeyHereOpensIsNoDamageUnlessItIsNeeded() throws {
    let desk = family[0]
    try desk.write("Note", "x")
    let folder = try "members/\(desk.emma.id.hex)/objects"
    var foreign = try #require(
      desk.store.blobs.first { $0.key.string.contains("/objects/") }?.value)
    // The header says which key it is.
    for index in 8..<16 { foreign[index] ^= 0xff }
    let name = String(repeating: "ab", count: 31)
    let left = BlobPath("\(folder)/cd/\(name)")
    try desk.store.put(left, foreign)
    let told = try desk.sync(usb).problems
    #expect(told == [], "\(told.map { "\($0.path): \($0.text)" })")
    #expect(usb.blobs[left] == nil)
    try family.meet(at: usb)
    try family.expectAgreement()
    // The same in the place of something that is needed is damage.
    let needed = try #require(
      desk.store.blobs.keys.first { $0.string.contains("/objects/") && $0 != left })
    try desk.store.put(needed, foreign)
    let found = try desk.sync(MemoryStore(), as: "other").problems
    #expect(found.contains { $0.kind == .damagedHere && $0.path == needed.string }, "\(found)")
  }
}
