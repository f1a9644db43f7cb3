import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

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
      let frozen = try FrozenVault("2-shared", machine: machine)
      defer { withExtendedLifetime(frozen) {} }
      let vault = try frozen.open(OpenOptions(readOnly: true))
      #expect(try titles(vault) == expected)
      #expect(vault.problems.filter { $0.severity > .note } == [])
    }
  }

  /// The removals, the hand over, the links beside each other, and the device that was added with eight words are judged
  /// as they were when the vault was frozen.
  @Test func whoMayDoWhatIsAsItWasLeft() throws {
    let frozen = try FrozenVault("2-shared", machine: "desk")
    defer { withExtendedLifetime(frozen) {} }
    let vault = try frozen.open(OpenOptions(readOnly: true))
    let anna = vault.person
    let ben = try #require(vault.context.people.persons.keys.first { $0 != anna })
    var owners: [String: [PersonID]] = [:]
    var roles: [String: [PersonID: Role]] = [:]
    for member in vault.members {
      owners[member.name.string] = member.register.links.access.owners
      roles[member.name.string] = try Dictionary(
        uniqueKeysWithValues: member.accesses().map { ($0.person, $0.role) })
    }
    #expect(
      owners == ["Emma": [anna], "Liam": [anna, ben], "Мария": [anna], "Noah": [ben, ben]])
    #expect(
      roles == [
        "Emma": [anna: .owner], "Liam": [anna: .owner, ben: .owner],
        "Мария": [anna: .owner, ben: .viewer], "Noah": [anna: .editor, ben: .owner],
      ])
    let preview = try vault.closingPreview(removing: [])
    #expect(preview.staying.map { vault.name(of: $0.device) } == ["desk", "laptop"])
    #expect(preview.staying.map(\.approver) == [nil, vault.device])
    let own = try vault.context.ownPerson()
    #expect(own.former.count == 1 && own.history.valid.count == 3)
    #expect(own.history.tips.count == 1 && !own.history.isContested)
  }

  @Test func isWholeAndStaysSoWhenWritten() throws {
    let frozen = try FrozenVault("2-shared", machine: "desk")
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
    let frozen = try FrozenVault("2-shared", machine: "desk")
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
