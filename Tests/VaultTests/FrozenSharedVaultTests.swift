import Testing
import VaultCrypto
import VaultModel

@testable import Vault

/// The vault of two people with removed devices, replaced words and revocations opens, whole, for each of them.
@Suite struct FrozenSharedVaultTests {
  private static let emma: Set = [
    "COVID-19", "From the phone", "By whoever has it", "By Ben", "After Ben",
  ]
  private static let liam: Set = ["Before and after", "Penicillin", "By the laptop"]
  private static let maria: Set = ["Анализ крови"]
  private static let noah: Set = ["Grows up"]

  /// Titles of the records with notes, without the dates before them.
  private func titles(_ vault: Vault) throws -> [String: Set<String>] {
    var titles: [String: Set<String>] = [:]
    for member in vault.members {
      for entry in member.allEntries() where !entry.isDeleted && entry.title.string.hasPrefix("20")
      {
        titles[member.name.string, default: []].insert(String(entry.title.string.dropFirst(11)))
      }
    }
    return titles
  }

  @Test func eachOpensWhatIsSharedWithThem() throws {
    for (machine, expected) in [
      ("desk", ["Emma": Self.emma, "Liam": Self.liam, "Мария": Self.maria, "Noah": Self.noah]),
      ("tablet", ["Liam": Self.liam, "Мария": Self.maria, "Noah": Self.noah]),
    ] {
      let frozen = try FrozenVault("1-shared", machine: machine)
      defer { withExtendedLifetime(frozen) {} }
      let vault = try frozen.open(OpenOptions(readOnly: true))
      #expect(try titles(vault) == expected)
      #expect(vault.problems.filter { $0.severity > .note } == [])
    }
  }

  @Test func isWholeAndStaysSoWhenWritten() throws {
    let frozen = try FrozenVault("1-shared", machine: "desk")
    defer { withExtendedLifetime(frozen) {} }
    let vault = try frozen.open()
    #expect(try vault.check(readsData: true).problems.filter { $0.severity > .note } == [])
    // Noah was handed over: Anna may write him still.
    for member in vault.members {
      let edit = RecordEdit.newRecord("added years later", note: "it still opens")
      #expect(try member.commit([edit]).failures.isEmpty)
    }
    try vault.close()
    let again = try frozen.open()
    #expect(try again.check(readsData: true).problems.filter { $0.severity > .note } == [])
    try again.close()
  }

  @Test func theNewWordsOpenItAndTheFormerOnesDoNot() throws {
    let frozen = try FrozenVault("1-shared", machine: "desk")
    defer { withExtendedLifetime(frozen) {} }
    let vault = try frozen.openWithWords("words.anna")
    #expect(try titles(vault)["Emma"] == Self.emma)
    try vault.close()
    #expect(throws: VaultError.self) { try frozen.openWithWords("words.anna-former") }
    let bens = try frozen.openWithWords("words.ben")
    #expect(try titles(bens) == ["Liam": Self.liam, "Мария": Self.maria, "Noah": Self.noah])
    try bens.close()
  }
}
