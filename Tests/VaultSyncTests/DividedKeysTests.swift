import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault
@testable import VaultSync

/// One person changes keys on two machines that have not met: the closings stand beside each other, both removals hold,
/// and the words join them. Docs/Format.md, "Two changes of keys".
@Suite struct DividedKeysTests {
  private let usb = MemoryStore()

  enum Change: CaseIterable { case removesOne, removesTwice, replacesWords }

  /// As `device revoke` and `recovery rotate` do it.
  ///
  /// - Returns: The words that count from then on.
  private func make(
    _ change: Change, on device: Family.Device, removing lost: Family.Device
  ) throws -> [String] {
    let words = try Family.words
    var now = words.words.words
    switch change {
    case .removesOne:
      try device.vault.beginGeneration(removing: [lost.vault.device], words: words.words)
    case .removesTwice:
      try device.vault.beginGeneration(removing: [lost.vault.device], words: words.words)
      try device.vault.beginGeneration(removing: [], words: words.words)
    case .replacesWords:
      let new = RecoveryWords.random()
      now = new.words
      try device.vault.replaceWords(words.words, with: new)
    }
    try device.vault.beginEpoch(of: device.emma, without: [])
    try device.vault.removeOldObjects()
    return now
  }

  private func divided(_ problems: [Problem]) -> Bool {
    problems.contains { $0.kind == .dividedKeys }
  }

  @Test func bothRemovalsHoldAndTheWordsJoinThem() throws {
    let family = try Family(count: 4)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    _ = try make(.removesOne, on: family[0], removing: family[2])
    _ = try make(.removesOne, on: family[1], removing: family[3])
    try family[0].write("Of the first", "of the first")
    try family[1].write("Of the second", "of the second")
    let left = family.devices.prefix(2)
    for _ in 0..<2 { for device in left { try device.sync(usb) } }
    for device in left {
      let own = try device.vault.context.ownPerson()
      #expect(own.history.tips.count == 2 && own.generation == nil)
      #expect(Set(own.devices.keys) == Set(left.map(\.vault.device)))
      try device.reopen()
      #expect(divided(device.vault.problems))
      // Nobody wraps keys for this person until the words have spoken.
      #expect(throws: VaultError.self) {
        try device.vault.beginEpoch(of: device.emma, without: [])
      }
      #expect(throws: VaultError.self) {
        try device.vault.addMember(named: #require(FileName("Liam")))
      }
    }
    for lost in family.devices.dropFirst(2) {
      #expect(throws: SyncError.self) { try lost.sync(usb) }
    }
    try family[0].vault.beginGeneration(removing: [], words: Family.words.words)
    for _ in 0..<3 { for device in left { try device.sync(usb) } }
    for device in left {
      try device.reopen()
      let own = try device.vault.context.ownPerson()
      #expect(own.generation != nil && device.vault.context.keys.generation == own.generation)
      #expect(Set(own.devices.keys) == Set(left.map(\.vault.device)))
      #expect(!divided(device.vault.problems))
      try device.expectWhole()
    }
    #expect(try family[0].contents() == family[1].contents())
    let shown = try family[0].contents().keys
    for title in ["Visit", "Of the first", "Of the second"] {
      #expect(shown.contains { $0.hasPrefix("Emma/\(title)") })
    }
    try family[1].vault.beginEpoch(of: family[1].emma, without: [])
    try family[1].write("After", "a")
    for _ in 0..<2 { for device in left { try device.sync(usb) } }
    #expect(try family[0].contents() == family[1].contents())
  }

  @Test(
    arguments: [
      (Change.removesOne, Change.replacesWords), (.replacesWords, .removesOne),
      (.removesTwice, .removesOne), (.removesTwice, .replacesWords),
    ])
  func areJoinedWhateverTheChangesWere(first: Change, second: Change) throws {
    let family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    let words = [
      try make(first, on: family[0], removing: family[2]),
      try make(second, on: family[1], removing: family[2]),
    ]
    try family[0].write("Of the first", "of the first")
    try family[1].write("Of the second", "of the second")
    let left = family.devices.prefix(2)
    for _ in 0..<2 { for device in left { try device.sync(usb) } }
    let newest = try RecoveryWords(
      parsing: words[first == .replacesWords ? 0 : 1].joined(separator: " "))
    // On the machine that did not know of the new words: on the other one its change does not count.
    let joining = family[first == .replacesWords ? 1 : 0]
    try joining.vault.beginGeneration(removing: [], words: newest)
    for _ in 0..<3 { for device in left { try device.sync(usb) } }
    for device in left {
      try device.reopen()
      let own = try device.vault.context.ownPerson()
      #expect(own.generation != nil && own.history.shadowed.isEmpty)
    }
    #expect(try family[0].contents() == family[1].contents())
  }

  @Test func wordsThatWereReplacedTwiceAreContested() throws {
    let family = try Family(count: 3)
    try family.meet(at: usb)
    _ = try make(.replacesWords, on: family[0], removing: family[2])
    _ = try make(.replacesWords, on: family[1], removing: family[2])
    for device in [family[0], family[1], family[0]] { try device.sync(usb) }
    // Each machine keeps to the one that it saw first.
    for device in family.devices.prefix(2) {
      try device.reopen()
      let own = try device.vault.context.ownPerson()
      #expect(!own.history.isContested && own.history.shadowed.count == 1)
    }
    // Whoever has seen neither can tell nothing.
    try family[2].sync(usb)
    try family[2].reopen()
    #expect(divided(family[2].vault.problems))
    #expect(try family[2].vault.context.ownPerson().generation == nil)
  }

  @Test func aChangeThatKnowsTheOtherOneIsFollowed() throws {
    let family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    _ = try make(.removesOne, on: family[0], removing: family[2])
    try family[0].sync(usb)
    #expect(try family[1].sync(usb).problems == [])
    _ = try make(.replacesWords, on: family[1], removing: family[2])
    try family[1].sync(usb)
    for device in family.devices.prefix(2) {
      #expect(try device.sync(usb).problems.allSatisfy { $0.severity == .note })
    }
    #expect(try family[0].contents() == family[1].contents())
  }
}
