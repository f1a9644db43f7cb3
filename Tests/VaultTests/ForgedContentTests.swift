import BlobStore
import Testing
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultCrypto

/// What somebody who may only read puts under the names of contents: they have the keys, and so can seal anything.
@Suite struct ForgedContentTests {
  private let adults: Adults
  private let note: RecordID
  private static let scan = [UInt8](repeating: 3, count: 100_000)

  /// Anna, Ben as a viewer and Carla as an editor; a record with a note and a scan.
  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .viewer)
    try adults.share(with: adults.carla, .editor)
    note = try adults.anna.write("Allergies", "PENICILLIN: severe")
    let emma = try #require(adults.anna.emma)
    var edit = RecordEdit(record: note)
    edit.items[try #require(FileName("scan.jpg"))] = try .file("scan.jpg", Self.scan, in: emma)
    _ = try emma.commit([edit])
    try adults.meet()
  }

  /// Ben seals what he likes under the name of a content of Emma's, in Anna's folder.
  private func forge(_ digest: ContentDigest, _ kind: ObjectKind, _ content: [UInt8]) throws {
    let bens = try #require(adults.ben.emma)
    let name = bens.objects.name(of: digest)
    let file = bens.register.keys.current.seal(name: name, kind: kind, content: content)
    try adults.anna.store.replace(bens.objects.path(of: name), file, durably: true)
    try adults.anna.reopen()
  }

  private var chunk: ContentDigest {
    get throws {
      let emma = try #require(adults.anna.emma)
      let revision = try emma.revision(#require(emma.entry(note)).revision)
      let scan = try #require(FileName("scan.jpg"))
      let item = try #require(try emma.item(named: scan, of: revision))
      let first = try emma.chunks(of: item.content).first
      return try #require(first ?? nil)
    }
  }

  private func damage(of adult: Adults.Adult) throws -> [Problem] {
    try adult.vault.check(readsData: true).problems.filter { $0.severity == .damage }
  }

  @Test func aForgedScanIsDamageAndNoOtherScan() throws {
    var other = Self.scan
    other[50_000] = 4
    try forge(chunk, .chunk, other)
    let emma = try #require(adults.anna.emma)
    #expect(throws: VaultError.self) { try emma.bytes(of: "scan.jpg", in: note) }
    for range in [0..<1, 50_000..<50_001, 0..<100_000] {
      #expect(throws: VaultError.self) { try emma.objects.read(chunk, range) }
    }
    #expect(try damage(of: adults.anna).map(\.item) == ["scan.jpg"])
    #expect(try emma.bytes(of: "record.md", in: note) == Array("PENICILLIN: severe".utf8))
  }

  @Test func aForgedRecordIsDamageAndNoOtherRecord() throws {
    let emma = try #require(adults.anna.emma)
    let digest = try #require(emma.entry(note)).revision
    var revision = try emma.revision(digest)
    revision.document?.content = .inline(Array("nothing is known".utf8))
    revision.document?.size = 16
    // A few items have no pages.
    let bytes = revision.encode { _ in digest }
    try forge(digest, .record, bytes)
    let again = try #require(adults.anna.emma)
    #expect(throws: VaultError.self) { try again.bytes(of: "record.md", in: note) }
    #expect(try damage(of: adults.anna).count == 1)
  }

  /// Taking the forger out seals everything anew, but not the forgery.
  @Test func whatWasForgedIsNotSealedAnewAndComesBackFromWhoeverHasIt() throws {
    var other = Self.scan
    other[50_000] = 4
    let forged = try chunk
    try forge(forged, .chunk, other)
    try adults.anna.vault.beginEpoch(
      of: #require(adults.anna.emma), without: [adults.ben.id])
    let told = try #require(adults.anna.vault.takeLeftBehind().first)
    #expect(told.member == "Emma" && told.reason.hasPrefix("1 of its objects"), "\(told)")
    #expect(adults.anna.vault.takeLeftBehind() == [])
    try adults.anna.reopen()
    var emma = try #require(adults.anna.emma)
    #expect(throws: VaultError.self) { try emma.bytes(of: "scan.jpg", in: note) }
    #expect(try damage(of: adults.anna).map(\.item) == ["scan.jpg"])
    #expect(try !emma.objects.isPresentNow(forged))
    #expect(try emma.bytes(of: "record.md", in: note) == Array("PENICILLIN: severe".utf8))
    // What is needed stays, whatever it is.
    try adults.anna.vault.removeOldObjects().requireNone()
    #expect(try emma.objects.isPresent(forged))

    try adults.carry(from: adults.anna, to: adults.carla)
    let carlas = try #require(adults.carla.emma)
    #expect(carlas.epoch == emma.epoch)
    #expect(try carlas.bytes(of: "scan.jpg", in: note) == Self.scan)
    try adults.carla.vault.removeOldObjects().requireNone()
    #expect(try carlas.objects.isPresentNow(forged))
    #expect(try carlas.bytes(of: "scan.jpg", in: note) == Self.scan)
    try adults.carry(from: adults.carla, to: adults.anna)
    try adults.anna.reopen()
    emma = try #require(adults.anna.emma)
    #expect(try emma.bytes(of: "scan.jpg", in: note) == Self.scan)
    #expect(try damage(of: adults.anna) == [])
  }

  /// A segment that somebody with the keys has put under the name of another is not followed.
  @Test func aForgedSegmentIsNotFollowed() throws {
    let emma = try #require(adults.anna.emma)
    let before = emma.allEntries().map(\.record).sorted()
    let segment = try #require(emma.openedHeads.first?.segments.last)
    try forge(segment, .segment, Segment(entries: []).encoded())
    let known = adults.anna.emma?.allEntries().map(\.record).sorted() ?? []
    #expect(known.isEmpty || known == before)
    #expect(try !damage(of: adults.anna).isEmpty)
  }

  /// A new epoch is another set of files: no record changes by it, and what was replaced stays what it was.
  @Test func noContentChangesByANewEpoch() throws {
    let emma = try #require(adults.anna.emma)
    let before = emma.allEntries().sorted { $0.record < $1.record }
    let past = try emma.history(of: note).map(\.digest)
    try adults.anna.vault.beginEpoch(of: emma, without: [adults.ben.id])
    try adults.meet()
    for adult in [adults.anna, adults.carla] {
      let emma = try #require(adult.emma)
      #expect(emma.allEntries().sorted { $0.record < $1.record } == before)
      #expect(try emma.history(of: note).map(\.digest) == past)
    }
  }

  @Test func whatWasLeftOutOfANewEpochIsNoPast() throws {
    let emma = try #require(adults.anna.emma)
    try #require(try emma.history(of: note).count == 2)
    try adults.anna.vault.beginEpoch(of: emma, without: [adults.ben.id], keepsHistory: false)
    #expect(try emma.history(of: note).count == 1)
    #expect(try damage(of: adults.anna) == [])
    try adults.anna.vault.removeOldObjects().requireNone()
    #expect(try emma.history(of: note).count == 1)
    let current = emma.register.keys.current.keyID
    #expect(try emma.objects.listed().allSatisfy { try emma.objects.keyID(of: $0.name) == current })
    #expect(try damage(of: adults.anna) == [])
  }
}
