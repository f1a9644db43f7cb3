import Testing
import Vault
import VaultErrors
import VaultModel

/// Records in memory, without a vault.
private struct Hierarchy: RecordHierarchy {
  var entries: [RecordID: RecordEntry] = [:]
  var files: [RecordID: Set<FileName>] = [:]

  init(member: String) { add(.root, member, in: nil) }

  @discardableResult
  mutating func add(_ id: RecordID, _ title: String, in parent: RecordID?) -> RecordID {
    let device = DeviceID([UInt8](repeating: 1, count: 32))!
    entries[id] = RecordEntry(
      record: id, parent: parent, title: FileName(title)!,
      revision: ContentDigest([UInt8](repeating: 2, count: 32))!,
      version: VersionVector(device: device, counter: 1), time: .zero, device: device)
    return id
  }

  func entry(_ record: RecordID) -> RecordEntry? { entries[record] }
  func children(of record: RecordID) -> [RecordEntry] {
    entries.values.filter { $0.parent == record && !$0.isDeleted }
  }
  func hasFile(named name: FileName, in record: RecordID) throws(VaultError) -> Bool {
    files[record]?.contains(name) ?? false
  }
}

/// Counts what is asked.
private final class CountingHierarchy: RecordHierarchy {
  private let records: Hierarchy
  private(set) var count = 0

  init(_ records: Hierarchy) { self.records = records }

  func entry(_ record: RecordID) -> RecordEntry? {
    count += 1
    return records.entry(record)
  }
  func children(of record: RecordID) -> [RecordEntry] {
    count += 1
    return records.children(of: record)
  }
  func hasFile(named name: FileName, in record: RecordID) throws(VaultError) -> Bool {
    try records.hasFile(named: name, in: record)
  }
}

@Suite struct RecordPathTests {
  private func id(_ byte: UInt8) -> RecordID { RecordID([UInt8](repeating: byte, count: 16))! }
  private func target(_ path: String, in hierarchy: Hierarchy) throws -> RecordTarget? {
    try hierarchy.target(at: RecordPath(path)!.components)
  }

  /// A list of a hundred thousand records must not look for each one's way to the root.
  @Test func aFoldersPathIsFoundOnce() throws {
    var records = Hierarchy(member: "Emma")
    var folder = RecordID.root
    for number in 1...20 { folder = records.add(id(UInt8(number)), "f\(number)", in: folder) }
    let inside = (0..<100).map { records.add(id(100 + UInt8($0)), "r\($0 / 2)", in: folder) }
    let counting = CountingHierarchy(records)
    var names = RecordPathNames(counting)
    let paths = inside.compactMap { names.path(of: $0) }
    #expect(paths.count == 100)
    #expect(counting.count <= 200)
    let top = "Emma/" + (1...20).map { "f\($0)" }.joined(separator: "/")
    #expect(paths[0].string == "\(top)/r0")
    #expect(paths[1].string == "\(top)/r0 (65656565)")
    #expect(Set(paths).count == 100)
    #expect(paths.allSatisfy { $0.parent?.string == top })
  }

  @Test func whatDoesNotReachTheRootHasNoPath() {
    var records = Hierarchy(member: "Emma")
    records.add(id(1), "a", in: id(2))
    records.add(id(2), "b", in: id(1))
    records.add(id(3), "c", in: id(9))
    records.add(id(4), "in c", in: id(3))
    var names = RecordPathNames(records)
    for _ in 0..<2 {
      for number: UInt8 in 1...4 { #expect(names.path(of: id(number)) == nil) }
    }
    #expect(names.path(of: .root)?.string == "Emma")
    var called = RecordPathNames(records, called: FileName("Emma (1a2b3c4d)"))
    #expect(called.path(of: .root)?.string == "Emma (1a2b3c4d)")
  }

  @Test func partsAreNamesAndSlashesMeanNothing() {
    #expect(RecordPath("/Emma//Vaccines/")?.string == "Emma/Vaccines")
    #expect(RecordPath("Emma")?.components == [])
    #expect(RecordPath("") == nil)
    #expect(RecordPath("Emma/../Liam") == nil)
    #expect(RecordPath("Emma/" + String(repeating: "x", count: 256)) == nil)
    #expect(RecordPath("Emma")?.parent == nil)
    #expect(RecordPath("Emma/a/b")?.parent?.string == "Emma/a")
  }

  @Test func leadsToRecordsAndFiles() throws {
    var hierarchy = Hierarchy(member: "Emma")
    let vaccines = hierarchy.add(id(1), "Vaccines", in: .root)
    let covid = hierarchy.add(id(2), "2025-01-20 COVID-19", in: vaccines)
    let card = FileName("card.jpg")!
    hierarchy.files[covid] = [card]
    #expect(try target("Emma", in: hierarchy) == .record(.root))
    #expect(try target("Emma/Vaccines/2025-01-20 COVID-19", in: hierarchy) == .record(covid))
    #expect(
      try target("Emma/Vaccines/2025-01-20 COVID-19/card.jpg", in: hierarchy)
        == .file(card, in: covid))
    #expect(try target("Emma/Nothing", in: hierarchy) == nil)
    #expect(try target("Emma/Vaccines/2025-01-20 COVID-19/card.jpg/x", in: hierarchy) == nil)
    hierarchy.entries[vaccines]?.isDeleted = true
    #expect(try target("Emma/Vaccines", in: hierarchy) == nil)
  }

  @Test func recordsOfOneTitleHaveNamesOfTheirOwn() throws {
    var hierarchy = Hierarchy(member: "Emma")
    let first = hierarchy.add(id(1), "Visit", in: .root)
    let second = hierarchy.add(id(2), "Visit", in: .root)
    var names = RecordPathNames(hierarchy)
    let paths = [first, second].compactMap { names.path(of: $0)?.string }
    #expect(paths == ["Emma/Visit", "Emma/Visit (02020202)"])
    #expect(try paths.map { try target($0, in: hierarchy) } == [.record(first), .record(second)])
  }

  @Test func damagedParentsDoNotLoop() {
    var hierarchy = Hierarchy(member: "Emma")
    hierarchy.add(id(1), "a", in: id(2))
    hierarchy.add(id(2), "b", in: id(1))
    var names = RecordPathNames(hierarchy)
    #expect(names.path(of: id(1)) == nil)
  }
}
