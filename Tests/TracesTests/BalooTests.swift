import BlobStore
import SystemPackage
import TestSupport
import Testing

@testable import Traces

/// Baloo's database, made up as far as records of files go.
@Suite struct BalooTests {
  private static let pageSize = 512
  private static let index = ".local/share/baloo/index"

  /// A database of two pages that say what it is, and a leaf with these records.
  private static func database(
    _ records: [(number: UInt64, folder: UInt64, name: String)], page: UInt64 = 2,
    flags: UInt16 = 0x02
  ) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: 2 * pageSize)
    head.replaceSubrange(40..<44, with: little(UInt32(pageSize)))
    var leaf = [UInt8](repeating: 0, count: pageSize)
    var start = pageSize
    for (index, record) in records.enumerated() {
      let value = little(record.folder) + Array(record.name.utf8)
      let node = little(UInt16(value.count)) + [0, 0, 0, 0, 8, 0] + little(record.number) + value
      start -= node.count
      leaf.replaceSubrange(start..<start + node.count, with: node)
      leaf.replaceSubrange(16 + 2 * index..<18 + 2 * index, with: little(UInt16(start)))
    }
    let header = little(page) + [0, 0] + little(flags) + little(UInt16(16 + 2 * records.count))
    leaf.replaceSubrange(0..<header.count, with: header)
    return head + leaf
  }

  private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian, Array.init)
  }

  private static func knows(_ bytes: [UInt8], _ path: String = TraceFolder.mountpoint) -> Bool {
    let names = MountedPaths.parts(of: Array(path.utf8)) ?? []
    let index = BalooIndex.load(for: [names]) { offset, count in
      Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
    return index.hasEntries(below: names)
  }

  private static let family: [(UInt64, UInt64, String)] = [
    (7, 0, "mnt"), (8, 7, "Family"), (9, 7, "Family"), (10, 9, "Emma"), (11, 7, "Family2"),
    (12, 11, "x"),
  ]

  @Test func aDatabaseThatKnowsTheMountGoesAndNoOther() throws {
    let home = try TraceFolder()
    try home.write(Self.database(Self.family), at: Self.index)
    try home.write("", at: ".local/share/baloo/index-lock")
    #expect(
      home.search(below: "/mnt/Family/Emma").remove(sparesUnsavedWork: false) == TraceReport())
    #expect(home.search(below: "/Family").remove(sparesUnsavedWork: false) == TraceReport())
    let found = home.search.find()
    #expect(found.traces.map(\.kind) == [.fileIndex])
    #expect(home.search.remove(sparesUnsavedWork: false) == found)
    #expect(try home.store.list(".local/share").isEmpty)
  }

  @Test func whatIsDeletedIsFoundInPagesAndContinuedValuesAreNot() {
    let whole = Self.database(Self.family)
    #expect(Self.knows(whole) && Self.knows(whole, "/mnt/Family2"))
    #expect(!Self.knows(whole, "/mnt/Family2/x") && !Self.knows(whole, "/mnt/Other"))
    #expect(!Self.knows(Self.database(Self.family, page: 3)))
    #expect(!Self.knows(Self.database(Self.family, flags: 0x01)))
    #expect(!Self.knows(Self.database(Self.family, flags: 0x22)))
    // A folder that is in itself.
    #expect(!Self.knows(Self.database([(7, 7, "mnt"), (7, 7, "Family")])))
  }

  /// Whoever can write into the home chooses the bytes.
  @Test func damageNeverTraps() {
    let whole = Self.database(Self.family)
    for count in 0...whole.count { _ = Self.knows(Array(whole.prefix(count))) }
    for bit in Array(40 * 8..<44 * 8) + Array(2 * Self.pageSize * 8..<whole.count * 8) {
      var damaged = whole
      damaged[bit / 8] ^= 1 << (bit % 8)
      _ = Self.knows(damaged)
    }
    var random = SplitMix64(seed: 1)
    for _ in 0..<2000 {
      var noise = whole
      for index in 2 * Self.pageSize + 12..<noise.count {
        noise[index] = UInt8.random(in: .min ... .max, using: &random)
      }
      _ = Self.knows(noise)
    }
  }
}
