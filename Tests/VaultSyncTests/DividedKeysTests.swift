import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

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
    try device.vault.removeOldObjects().requireNone()
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

  private func changeKeys(on device: Family.Device) throws {
    try device.vault.beginGeneration(removing: [], words: Family.words.words)
    try device.vault.beginEpoch(of: device.emma, without: [])
    try device.vault.removeOldObjects().requireNone()
  }

  /// What the first machine wrote under the old keys the second one has taken over under its own, and the old objects are
  /// gone from the remote. The third one has changed keys too, and its own come first for it: to it both heads are late.
  private func takenOverByALateHead() throws -> Family {
    let family = try Family(count: 3)
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    try changeKeys(on: family[1])
    try family[0].write("Of the first", "of the first")
    for device in [family[0], family[1], family[1]] { try device.sync(usb) }
    for _ in 0..<2 { try changeKeys(on: family[2]) }
    return family
  }

  @Test func whatALateHeadHasTakenOverIsNotMissed() throws {
    let family = try takenOverByALateHead()
    for _ in 0..<2 {
      let report = try family[2].sync(usb)
      #expect(report.untakenHeadCount == 0)
      #expect(!report.problems.contains { $0.kind == .missingThere }, "\(report.problems)")
    }
    #expect(try family[2].contents().values.contains("of the first"))
    try family[2].vault.beginGeneration(removing: [], words: Family.words.words)
    try family.meet(at: usb)
    try family.expectAgreement()
    #expect(try family[0].contents().values.contains("of the first"))
  }

  /// The remote withholds the head of a device that another one has taken over under keys of its own, whose word proves how far
  /// that device has come: nothing waits for it, and it changes nothing when it is there again.
  @Test func whatALateHeadHasTakenOverWaitsForNoOther() throws {
    let family = try takenOverByALateHead()
    let third = family[2]
    let path = BlobPath(VaultPath.head(try third.emma.id, family[0].vault.device).string)
    let withheld = try #require(usb.blobs[path])
    try usb.remove(path)
    func hasTakenOver() throws -> Bool {
      let own = try third.emma.openedHeads.first { $0.device == third.vault.device }
      return own?.head.cover.contains { $0.device == family[1].vault.device } ?? false
    }
    for text in ["one", "two"] {
      try third.write("Record", text)
      try third.sync(usb)
    }
    #expect(try third.contents().values.contains("of the first"))
    #expect(try hasTakenOver())
    let shown = try third.contents()
    try third.reopen()
    #expect(try third.contents() == shown)
    try usb.put(path, withheld)
    try third.sync(usb)
    #expect(try third.contents() == shown)
    try third.vault.beginGeneration(removing: [], words: Family.words.words)
    try family.meet(at: usb)
    try third.reopen()
    try family.expectAgreement()
    #expect(try third.emma.keptConflicts().isEmpty)
  }

  private func wraps(_ store: MemoryStore) -> [BlobPath: [UInt8]] {
    store.blobs.filter {
      $0.key.string.hasPrefix("members/") && $0.key.string.contains("/wraps/")
    }
  }

  /// Whoever goes on with the new words removes the wraps of an epoch before theirs, which is over. On a machine that does not know
  /// whose keys count an epoch of its own is the first, so it takes none of theirs to be over: it neither puts them there again, in
  /// turns, nor takes it for an attack.
  @Test func wrapsThatAreOverForOthersAreNotPutBack() throws {
    let family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    let first = wraps(usb)
    try #require(!first.isEmpty)
    _ = try make(.removesOne, on: family[0], removing: family[2])
    for _ in 0..<2 { try family[0].vault.beginEpoch(of: family[0].emma, without: []) }
    let words = try make(.replacesWords, on: family[1], removing: family[2])
    let old = wraps(family[1].store).filter { first[$0.key] == nil }
    try #require(!old.isEmpty)
    try family[1].vault.beginEpoch(of: family[1].emma, without: [])
    let left = family.devices.prefix(2)
    for _ in 0..<2 { for device in left { try device.sync(usb) } }
    try family[0].reopen()
    #expect(divided(family[0].vault.problems))
    for (path, bytes) in old {
      try family[0].store.put(path, bytes)
      try usb.put(path, bytes)
    }
    try family[0].sync(usb) { $0.looksEverywhere = true }
    for path in old.keys { try usb.remove(path) }
    let report = try family[0].sync(usb) { $0.looksEverywhere = true }
    #expect(!report.problems.contains { $0.kind == .wentBack }, "\(report.problems)")
    #expect(old.keys.allSatisfy { usb.blobs[$0] == nil })
    // A remote that never had them gets them, as whatever else is here.
    let other = MemoryStore()
    try family[0].sync(other, as: "other")
    #expect(old.keys.allSatisfy { other.blobs[$0] != nil })
    let newest = try RecoveryWords(parsing: words.joined(separator: " "))
    try family[0].vault.beginGeneration(removing: [], words: newest)
    for _ in 0..<3 { for device in left { try device.sync(usb) } }
    for device in left { try device.reopen() }
    #expect(try family[0].contents() == family[1].contents())
  }

  /// A machine that the words made between two changes of keys waits for these to be joined, and so does what it wrote. That counts
  /// as soon as they are, also where the vault stays open meanwhile.
  @Test func whatWaitedForTheKeysGoesOnInAnOpenVault() throws {
    let family = try Family(count: 3)
    let (desk, laptop, phone) = (family[0], family[1], family[2])
    let lost = phone.vault.device
    try desk.write("Visit", "first")
    try family.meet(at: usb)
    _ = try make(.removesOne, on: desk, removing: phone)
    try desk.sync(usb)
    #expect(throws: SyncError.self) { try phone.sync(usb) }
    try phone.recover(Family.words.words)
    try phone.sync(usb)
    try phone.reopen()
    try phone.write("Of the phone", "of the phone")
    try laptop.vault.beginGeneration(removing: [lost], words: Family.words.words)
    try laptop.sync(usb)
    _ = try? phone.sync(usb)
    try phone.reopen()
    guard case .keysDivided? = try phone.emma.damageReason else {
      Issue.record("it does not wait")
      return
    }
    try desk.sync(usb)
    try desk.vault.beginGeneration(removing: [], words: Family.words.words)
    for _ in 0..<3 { for device in family.devices { try device.sync(usb) } }
    #expect(try desk.contents().values.contains("of the phone"))
    #expect(try phone.contents() == desk.contents())
    try phone.write("Later", "later")
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

  /// Two machines of the family have replaced the words, and each has heard of the other one since.
  ///
  /// - Returns: The words of the first and of the second.
  private func replaceTwice(_ family: Family) throws -> [[String]] {
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    let first = try make(.replacesWords, on: family[0], removing: family[2])
    family[1].clock.turn(bySeconds: 60)
    let second = try make(.replacesWords, on: family[1], removing: family[2])
    try family[0].write("Of the first", "of the first")
    try family[1].write("Of the second", "of the second")
    for device in [family[0], family[1], family[0]] { try device.sync(usb) }
    return [first, second]
  }

  @Test func wordsThatWereReplacedTwiceAreContested() throws {
    let family = try Family(count: 3)
    _ = try replaceTwice(family)
    // Each machine keeps to the one that it saw first.
    for device in family.devices.prefix(2) {
      try device.reopen()
      let own = try device.vault.context.ownPerson()
      #expect(!own.history.isContested && own.history.rivals.count == 1)
      guard case .words(let made, let here)? = device.vault.dividedKeys else {
        Issue.record("nothing is told of two replacements")
        return
      }
      #expect(made.count == 2 && here == made[device === family[0] ? 1 : 0])
      #expect(device.vault.problems.contains { $0.reason.contains("replaced the same ones") })
    }
    // Whoever has seen neither can tell nothing.
    try family[2].sync(usb)
    try family[2].reopen()
    #expect(divided(family[2].vault.problems))
    #expect(try family[2].vault.context.ownPerson().generation == nil)
    guard case .words(_, nil)? = family[2].vault.dividedKeys else {
      Issue.record("a machine that has seen neither goes by one of them")
      return
    }
  }

  @Test(arguments: 0..<3, [true, false])
  func theWordsOfBothJoinTwoReplacements(on number: Int, isInOrder: Bool) throws {
    let family = try Family(count: 3)
    let texts = try replaceTwice(family)
    let words = texts.map { $0.joined(separator: " ") }
    try family[2].sync(usb)
    let joining = family[number]
    let (one, other) = isInOrder ? (words[0], words[1]) : (words[1], words[0])
    try joining.vault.joinWords(
      RecoveryWords(parsing: one), RecoveryWords(parsing: other))
    #expect(try joining.vault.readDividedKeys() == nil)
    for _ in 0..<4 { for device in family.devices { try device.sync(usb) } }
    for device in family.devices {
      try device.reopen()
      #expect(device.vault.dividedKeys == nil)
      let own = try device.vault.context.ownPerson()
      #expect(own.history.shadowed.isEmpty && own.devices.count == 3)
      #expect(device.vault.context.keys.generation == own.generation)
      // Those that were made last go on, wherever and in whichever order it was done.
      try device.vault.testWords(RecoveryWords(parsing: words[1]))
      #expect(throws: VaultError.self) {
        try device.vault.testWords(RecoveryWords(parsing: words[0]))
      }
    }
    try joining.vault.beginEpoch(of: joining.emma, without: [])
    for _ in 0..<3 { for device in family.devices { try device.sync(usb) } }
    try family.expectAgreement()
    let shown = try family[2].contents().keys
    for title in ["Visit", "Of the first", "Of the second"] {
      #expect(shown.contains { $0.hasPrefix("Emma/\(title)") })
    }
  }

  /// Two machines that join at once choose the same words, so that these alone join the two.
  /// Machine and copy have made new keys each, and the copy has taken the register that the machine wrote under its own: what
  /// it cannot read is no more than what its device is called.
  @Test(arguments: [1, 2, 3])
  func aCopyOpensWithARegisterUnderKeysThatItLacks(roundCount: Int) throws {
    let family = try Family(count: 2)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    let copy = try family[1].clone()
    _ = try make(.replacesWords, on: copy, removing: family[0])
    _ = try make(.replacesWords, on: family[1], removing: family[0])
    try copy.write("Of the copy", "of the copy")
    try family[1].write("Of the machine", "of the machine")
    for _ in 0..<roundCount {
      for device in [family[1], family[0], copy] {
        try device.sync(usb)
        try device.reopen()
      }
    }
    #expect(try copy.contents().values.contains("of the copy"))
    try copy.write("After", "after")
    try copy.reopen()
    #expect(try copy.contents().values.contains("after"))
  }

  @Test func twoThatJoinAtOnceAreJoinedByTheWordsThatGoOn() throws {
    let family = try Family(count: 3)
    let words = try replaceTwice(family).map { $0.joined(separator: " ") }
    for device in family.devices.prefix(2) {
      try device.vault.joinWords(
        RecoveryWords(parsing: words[0]), RecoveryWords(parsing: words[1]))
    }
    for _ in 0..<3 { for device in family.devices { try device.sync(usb) } }
    for device in family.devices {
      try device.reopen()
      #expect(device.vault.dividedKeys == .closings)
    }
    try family[2].vault.beginGeneration(removing: [], words: RecoveryWords(parsing: words[1]))
    for _ in 0..<3 { for device in family.devices { try device.sync(usb) } }
    for device in family.devices { #expect(try device.vault.readDividedKeys() == nil) }
  }

  /// A device that one of the two removed, or added, is out, or in, after the join.
  @Test func whatEitherOneDidWithDevicesHolds() throws {
    let family = try Family(count: 4)
    try family.meet(at: usb)
    let first = try make(.replacesWords, on: family[0], removing: family[3])
      .joined(separator: " ")
    try family[0].vault.beginGeneration(
      removing: [family[3].vault.device], words: RecoveryWords(parsing: first))
    family[1].clock.turn(bySeconds: 60)
    let second = try make(.replacesWords, on: family[1], removing: family[3])
      .joined(separator: " ")
    for device in [family[0], family[1], family[0]] { try device.sync(usb) }
    try family[1].vault.joinWords(RecoveryWords(parsing: first), RecoveryWords(parsing: second))
    for _ in 0..<2 { for device in family.devices.prefix(3) { try device.sync(usb) } }
    #expect(throws: SyncError.self) { try family[3].sync(usb) }
    for device in family.devices.prefix(3) {
      let own = try device.vault.context.ownPerson()
      #expect(Set(own.devices.keys) == Set(family.devices.prefix(3).map(\.vault.device)))
    }
  }

  /// Whoever found the old words replaces them as well; with theirs and the old ones they get nowhere where the new ones
  /// were seen, and this person can stand before machines that have seen neither.
  @Test func whoFoundTheOldWordsJoinsNothing() throws {
    let family = try Family(count: 3)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    let new = try make(.replacesWords, on: family[0], removing: family[2])
      .joined(separator: " ")
    // A copy of a machine that has not heard of it, with the old paper, in the hands of the thief.
    let thief = family[1]
    thief.clock.turn(bySeconds: 3_600)
    let theirs = try make(.replacesWords, on: thief, removing: family[2])
      .joined(separator: " ")
    for device in [family[0], thief, family[0], thief] { try device.sync(usb) }
    let old = try Family.words.words.words.joined(separator: " ")
    for (one, other) in [(theirs, old), (old, theirs), (theirs, theirs), (old, old)] {
      #expect(throws: VaultError.self) {
        try thief.vault.joinWords(RecoveryWords(parsing: one), RecoveryWords(parsing: other))
      }
    }
    // Nor with a closing that follows both and lacks the consent of the words that it is to take over from.
    try thief.vault.close(
      #require(try Self.claimingBoth(thief)), Leaving([]),
      signedWith: RecoveryWords(parsing: theirs), endorsedBy: RecoveryWords(parsing: theirs))
    for device in [thief, family[0], family[2], family[0]] { try device.sync(usb) }
    try family[0].reopen()
    let own = try family[0].vault.context.ownPerson()
    #expect(try own.history.lastKey?.bytes == RecoveryWords(parsing: new).rootKey(family[0]))
    #expect(own.generation != nil && own.history.unplaced.count == 1)
    #expect(family[0].vault.context.keys.generation == own.generation)
    // Who has seen neither is told, and gives no keys to either.
    try family[2].reopen()
    #expect(try family[2].vault.context.ownPerson().generation == nil)
    // The person's own new words tell a new machine whose side it is on, and the thief's do not.
    let (store, state) = (MemoryStore(), MemoryStore())
    for (path, bytes) in family[0].store.blobs where path.string.hasPrefix("people/") {
      try store.replace(path, bytes, durably: true)
    }
    _ = try Vault.recover(
      VaultCopy(
        id: family[0].vault.id, store: store, state: StateFolder(store: state),
        clock: family[0].clock.wallClock), words: RecoveryWords(parsing: new),
      device: Family.newDevice, password: SecretBytes(copying: Array("pw".utf8)))
    let memory = try StateFolder(store: state).loadPeopleMemory()
    let seen = try People.load(
      store: store, files: family[0].vault.context.signedFiles, memory: memory)
    #expect(seen[own.id]?.history.lastKey == own.history.lastKey)
    #expect(seen[own.id]?.generation == own.generation)
    #expect(throws: VaultError.self) {
      _ = try Vault.recover(
        VaultCopy(
          id: family[0].vault.id, store: store, state: StateFolder(store: state),
          clock: family[0].clock.wallClock), words: RecoveryWords(parsing: theirs),
        device: Family.newDevice, password: SecretBytes(copying: Array("pw".utf8)))
    }
  }

  /// The person as a thief's program would have them: both lines count, though their words endorse nothing.
  private static func claimingBoth(_ device: Family.Device) throws -> Person? {
    let own = try device.vault.context.ownPerson()
    let keys = own.history.claims.map(\.key)
    guard keys.count == 2, let history = own.history.joining(keys[0], keys[1]) else { return nil }
    return Person(
      id: own.id, history: history,
      certificates: device.vault.context.people.trust.statements.certificates.filter {
        $0.value.person == own.id
      })
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

extension RecoveryWords {
  /// The public key with which the words sign in this device's vault.
  fileprivate func rootKey(_ device: Family.Device) -> [UInt8] {
    rootSigningKey(binding: device.vault.context.binding).publicKey
  }
}
