import Fuzzing
import Testing
import VaultModel

@Suite struct VisibleNamesTests {
  private func entries(_ titles: [String]) throws -> [RecordEntry] {
    var random = SeededRandom(seed: 3)
    let device: DeviceID = random.id()
    return try titles.map { try random.entry(title: $0, devices: [device]) }
  }

  @Test func namesAreOnlyGivenWhereTitlesClash() throws {
    let records = try entries(["A", "B", "B", "C"])
    let names = VisibleNames.exceptions(among: records) { $0.string == "C" }
    let later = records[1].record < records[2].record ? records[2] : records[1]
    #expect(
      names.mapValues(\.string) == [
        later.record: "B (\(later.record.shortHex))",
        records[3].record: "C (\(records[3].record.shortHex))",
      ])
    #expect(VisibleNames.exceptions(among: records.reversed()) { $0.string == "C" } == names)
  }

  @Test func aTitleThatLooksLikeAGivenNameKeepsIt() throws {
    var records = try entries(["A", "A", "x", "y"])
    let later = max(records[0].record, records[1].record)
    records[2].title = try fileName("A (\(later.shortHex))")
    records[3].title = try fileName("A (\(later.hex))")
    let names = VisibleNames.exceptions(among: records) { _ in false }
    #expect(names.mapValues(\.string) == [later: "A (\(later.hex)-2)"])
  }

  @Test(arguments: ["a", "é", "漢", "😀"])
  func longNamesAreCutAtACharacter(character: String) throws {
    for pad in 0..<4 {
      let count = (255 - pad) / character.utf8.count
      let title = String(repeating: "x", count: pad) + String(repeating: character, count: count)
      let given = try fileName(title).appending(" (1a2b3c4d)")
      #expect(given.byteCount <= 255 && given.byteCount > 251 - character.utf8.count)
      #expect(String(validating: given.bytes, as: UTF8.self)?.hasSuffix(" (1a2b3c4d)") == true)
    }
    let noText = FileName([UInt8](repeating: 0x80, count: 255))
    #expect(noText?.appending("!").byteCount == 255)
  }
}
