import BlobStore
import MachineState
import TestSupport
import Testing
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultSync

/// Small objects that stand on a remote once more together: Docs/Format.md, "Packs".
@Suite struct PackTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
    let edits = (0..<600).map { RecordEdit.newRecord("Record \($0)", note: "note \($0)") }
    _ = try family[0].emma.commit(edits)
    var edit = RecordEdit.newRecord("Scan", note: "with a photo")
    edit.items[try #require(FileName("photo.jpg"))] =
      try .photo("photo.jpg", byteCount: 300_000, seed: 1, in: family[0].emma)
    try family[0].commit(edit)
    try family[0].sync(usb)
  }

  private var packs: [BlobPath] {
    usb.blobs.keys.filter { $0.string.contains("/packs/") }
  }

  @Test func aCloneAsksForFewFiles() throws {
    #expect(packs.count == 1)
    let report = try family[1].sync(usb)
    #expect(report.problems == [])
    #expect(report.traffic.readCount < 30)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  enum Damage: CaseIterable {
    case removed, cut, changed, extended, empty, endless
  }

  @Test(arguments: Damage.allCases)
  func whatAPackLacksIsTakenOneByOne(damage: Damage) throws {
    let path = try #require(packs.first)
    var bytes = try #require(usb.blobs[path])
    switch damage {
    case .removed: try usb.remove(path)
    case .cut: bytes.removeLast()
    case .changed: bytes[bytes.count - 100] ^= 1
    case .extended: bytes.append(0)
    case .empty: bytes = []
    // More objects than there can be.
    case .endless: bytes.replaceSubrange(8..<12, with: [0xFF, 0xFF, 0xFF, 0xFF])
    }
    if damage != .removed { try usb.replace(path, bytes, durably: true) }
    let report = try family[1].sync(usb)
    #expect(report.problems.map(\.path) == (damage == .removed ? [] : [path.string]))
    #expect(report.isComplete)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// As a server does that says no sizes.
  @Test func aPackWithoutASizeIsTaken() throws {
    let server = ListingStore(usb) { folder, entries in
      guard folder.name == "packs" else { return entries }
      return entries.map { BlobEntry(name: $0.name, kind: .blob, size: 0, fingerprint: 1) }
    }
    let report = try family[1].sync(server)
    #expect(report.problems == [])
    #expect(report.traffic.readCount < 30)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// Any number of them, of which each is said to be empty.
  @Test func noMorePacksAreReadThanTheRecordsMayNeed() throws {
    let hostile = ListingStore(usb) { folder, entries in
      guard folder.name == "packs" else { return entries }
      let zeros = String(repeating: "0", count: 59)
      return entries
        + (10_000..<20_000).map { number in
          BlobEntry(name: "\(zeros)\(number)", kind: .blob, size: 0, fingerprint: 1)
        }
    }
    let report = try family[1].sync(hostile)
    #expect(report.isComplete)
    #expect(report.traffic.readCount < 1_100)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// Each object stands under another one's name.
  @Test func aPackCannotPutOneObjectInThePlaceOfAnother() throws {
    let path = try #require(packs.first)
    var pack = try ObjectPack(decoding: #require(usb.blobs[path]))
    let first = pack.objects[0].file
    for index in pack.objects.indices.dropLast() {
      pack.objects[index].file = pack.objects[index + 1].file
    }
    pack.objects[pack.objects.count - 1].file = first
    try usb.replace(path, pack.encoded(), durably: true)
    let report = try family[1].sync(usb)
    #expect(report.problems.map(\.path) == [path.string])
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  @Test func packsAreMadeWhereManyObjectsGoAtOnce() throws {
    try family[0].write("One more", "alone")
    try family[0].sync(usb)
    #expect(packs.count == 1)
    _ = try family[0].emma.commit((0..<300).map { RecordEdit.newRecord("Later \($0)") })
    let pushed = try family[0].sync(usb)
    #expect(packs.count == 2)
    #expect(pushed.problems == [])
    let report = try family[1].sync(usb)
    #expect(report.traffic.readCount < 30)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  /// What is removed there must not stay in a pack.
  @Test func packsGoWithWhatIsRemoved() throws {
    try family[0].knowRemotes(["usb"])
    let record = try #require(family[0].emma.children(of: .root).first).record
    try family[0].edit(record, "another text")
    try family[0].sync(usb)
    _ = try family[0].vault.collect(keepDays: 0, isDryRun: false)
    try family[0].sync(usb)
    #expect(packs.isEmpty)
    try family.meet(at: usb)
    try family.expectAgreement()
  }

  @Test func aLazyCloneLeavesTheContentsOfFiles() throws {
    let name = try #require(FileName("small.bin"))
    var edit = RecordEdit.newRecord("With a file")
    edit.items[name] = try .photo("small.bin", byteCount: 5000, seed: 2, in: family[0].emma)
    _ = try family[0].emma.commit((0..<300).map { RecordEdit.newRecord("Later \($0)") } + [edit])
    try family[0].sync(usb)
    try StateFolder(store: family[1].stateStore).storeLazySettings(LazySettings())
    try family[1].reopen()
    let report = try family[1].sync(usb)
    #expect(report.problems == [])
    #expect(report.traffic.readCount < 40)
    let emma = try family[1].emma
    let revision = try emma.revision(try #require(emma.entry(edit.record)).revision)
    let file = try #require(try emma.items(of: revision).first { $0.name == name })
    for case let chunk? in try emma.chunks(of: file.content) {
      #expect(try !emma.objects.isPresent(chunk))
    }
  }

  @Test func aDryRunTakesNoPack() throws {
    let report = try family[1].sync(usb) { $0.isDryRun = true }
    #expect(report.pulled.objectCount > 600)
    #expect(!family[1].store.blobs.keys.contains { $0.string.contains("/objects/") })
  }
}
