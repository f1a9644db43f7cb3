import Rendering
import Testing
import Vault
import VaultCrypto
import VaultModel

@testable import Window

/// Which records stand in lists, and where.
@Suite struct TimelineTests {
  private static func entry(
    _ title: String, in parent: RecordEntry? = nil, type: String = "", date: String = "",
    isBare: Bool = true, isDeleted: Bool = false, hasUnreadableFrontMatter: Bool = false
  ) throws -> RecordEntry {
    RecordEntry(
      record: .random(), parent: parent?.record ?? .root, title: try #require(FileName(title)),
      type: type, date: date, revision: .zero, version: VersionVector(),
      time: HybridTime(rawValue: 0), device: .zero, isDeleted: isDeleted,
      hasUnreadableFrontMatter: hasUnreadableFrontMatter, isBare: isBare)
  }

  /// The titles that are listed of these.
  private static func listed(_ entries: [RecordEntry]) -> [String] {
    var wholes = WholeRecords(
      entry: { record in entries.first { $0.record == record } },
      childCount: { parent in entries.count { $0.parent == parent && !$0.isDeleted } })
    return entries.filter { wholes.isWhole($0) }.map(\.title.string)
  }

  @Test func aDiscIsListedOnceByWhatItIsCalled() throws {
    for isDeleted in [false, true] {
      let scan = try Self.entry("2024-11-02 CT head", isDeleted: isDeleted)
      let disc = try Self.entry("DICOM", in: scan, isDeleted: isDeleted)
      let series = try Self.entry("SE1", in: disc, isBare: false, isDeleted: isDeleted)
      let other = try Self.entry("SE2", in: disc, isBare: false, isDeleted: isDeleted)
      #expect(Self.listed([other, series, disc, scan]) == ["2024-11-02 CT head"])
    }
  }

  @Test func whatHasATypeADateOrADateInItsTitleStandsForItself() throws {
    let spa = try Self.entry("2024 Spa")
    let visit = try Self.entry("Visit", in: spa, type: "note")
    let scans = try Self.entry("Scans", in: visit, isBare: false)
    let bill = try Self.entry("2024-03 Bill", in: spa, isBare: false)
    let odd = try Self.entry("Odd", in: spa, isBare: false, hasUnreadableFrontMatter: true)
    let loose = try Self.entry("Loose", in: spa, isBare: false)
    #expect(
      Self.listed([spa, visit, scans, bill, odd, loose])
        == ["2024 Spa", "Visit", "2024-03 Bill", "Odd", "Loose"])
  }

  @Test func foldersWithoutAnythingOfTheirOwnAreNotListed() throws {
    let folder = try Self.entry("Notes")
    let empty = try Self.entry("2024 Nothing")
    let loose = try Self.entry("Loose", in: folder, isBare: false)
    #expect(Self.listed([folder, empty, loose]) == ["Loose"])
    // What is deleted below a record that is not is listed among what is deleted.
    let visit = try Self.entry("Visit", type: "note")
    let gone = try Self.entry("Gone", in: visit, isBare: false, isDeleted: true)
    #expect(Self.listed([visit, gone]) == ["Visit", "Gone"])
  }

  @Test func aRecordThatStandsBelowItselfEndsNoList() throws {
    var first = try Self.entry("First", isBare: false)
    let second = try Self.entry("Second", in: first, isBare: false)
    first.parent = second.record
    #expect(Self.listed([first, second]).count == 2)
  }

  @Test func aDateIsFoundInATitle() throws {
    for (title, date) in [
      ("2024-11-02 CT head", "2024-11-02"), ("2024-11 CT", "2024-11"), ("2024 Spa", "2024"),
      ("2024-13-02 CT", ""), ("2024", ""), ("2024  ", ""), ("20241102 CT", ""),
      ("CT 2024-11-02", ""),
      ("2024-11-02_CT", ""), ("٢٠٢٤ CT", ""),
    ] {
      #expect(try Self.entry(title).dateInTitle == date, "\(title)")
    }
    let ages = [
      try Self.entry("2023 Spa"), try Self.entry("2024-11-02 CT head"),
      try Self.entry("CT", date: "2024-11-03"),
    ].map { TimelineRow($0, of: .zero).age }
    #expect(ages[0] < ages[1] && ages[1] < ages[2])
  }

  @Test func aRecordStandsWhereItsDateIsHoweverThatIsWritten() throws {
    let ages = [
      try Self.entry("Undated, of 1970", date: "32.13.2025"),
      try Self.entry("CT", date: "2024-11-03"),
      try Self.entry("CT", date: "04.11.2024"), try Self.entry("CT", date: "2024-11-05 14:30"),
    ].map { TimelineRow($0, of: .zero).age }
    #expect(zip(ages, ages.dropFirst()).allSatisfy { $0 < $1 })
    let grippe = try Self.entry("2025-01-20 Grippe", date: "20.01.2025")
    #expect(grippe.ownDate == "2025-01-20" && grippe.shownTitle == "Grippe")
    #expect(try Self.entry("2025-01-20 Grippe", date: "20/01/2025").ownDate == "2025-01-20")
  }

  /// Series by their numbers, slices by theirs; what has none comes last, by its name.
  @Test func slicesFollowTheirSeries() throws {
    func place(_ name: String, _ lines: String...) throws -> SliceOrders.Place {
      let header = try #require(DICOMHeader(Array(lines.joined(separator: "\n").utf8)))
      return SliceOrders.Place(header, try #require(FileName(name)))
    }
    let places = [
      try place("IM9", "series-number 1", "series-uid 1.2", "instance-number 1"),
      try place("IM1", "series-number 1", "series-uid 1.2", "instance-number 2"),
      try place("IM8", "series-number 1", "series-uid 1.2", "instance-number 10"),
      try place("IM2", "series-number 1", "series-uid 1.3", "instance-number 1"),
      try place("IM7", "series-number 2", "series-uid 1.1", "instance-number 1"),
      try place("IM3", "series-uid 1.1"), try place("IM20"), try place("IM100"),
    ]
    let expected = [0, 1, 2, 3, 4, 6, 7, 5].map { places[$0] }
    #expect(places.shuffled().sorted() == expected)
  }
}
