import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// A disk has torn what this machine remembers of new keys that it was making: whose access was to end with them is known
/// nowhere else.
@Suite struct TornEpochTests {
  /// Anna, with Ben as an editor.
  private func family() throws -> Adults {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    try adults.anna.write("Visit", "all well")
    try adults.meet()
    return adults
  }

  private func unshare(_ adults: Adults) throws {
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [adults.ben.id])
  }

  /// How many calls of the folder it takes to take Ben out.
  private func callCount() throws -> Int {
    let adults = try family()
    let before = adults.anna.store.mutatingCallCount
    try unshare(adults)
    return adults.anna.store.mutatingCallCount - before
  }

  private func path(_ adults: Adults) throws -> BlobPath {
    PendingEpoch.folder.appending(try #require(adults.anna.emma).id.hex)
  }

  /// Takes Ben out, as far as that call; a disk loses the end of what is remembered of it, or all.
  private func tear(_ adults: Adults, after call: Int, leaving count: Int) throws {
    adults.anna.store.cut(after: call)
    #expect(throws: VaultError.self) { try unshare(adults) }
    try adults.anna.reopen()
    let path = try path(adults)
    let bytes = try adults.anna.stateStore.read(path, limit: 1 << 20)
    try adults.anna.stateStore.replace(path, Array(bytes.prefix(count)), durably: true)
  }

  private func hasBen(_ adults: Adults) throws -> Bool {
    try #require(adults.anna.emma).accesses().contains { $0.person == adults.ben.id }
  }

  private func expectWhole(_ adults: Adults, _ comment: Comment) throws {
    let check = try adults.anna.vault.check(readsData: true)
    #expect(check.problems.filter { $0.severity > .note } == [], comment)
    #expect(try adults.anna.titles == ["Visit"], comment)
  }

  @Test(arguments: [0, 40])
  func newKeysAreMadeForEveryoneAndToldOnce(leaving count: Int) throws {
    for call in 1...(try callCount()) {
      let adults = try family()
      try tear(adults, after: call, leaving: count)
      let comment: Comment = "cut at call \(call)"
      let vault = adults.anna.vault
      let emma = try #require(adults.anna.emma)
      let (epoch, had) = (emma.epoch, try hasBen(adults))
      let interrupted = try vault.interruptedEpochs().get()
      #expect(interrupted.map(\.isTorn) == [true] && interrupted[0].without == [], comment)

      #expect(try vault.resumeEpochs().get() == [emma.id], comment)
      #expect(emma.epoch != epoch, comment)
      // Nobody gets or loses access by it.
      #expect(try hasBen(adults) == had, comment)
      let told = vault.takeLeftBehind()
      #expect(told.map(\.kind) == [.accessForgotten] && told[0].member == "Emma", comment)
      try adults.anna.reopen()
      #expect(try adults.anna.vault.interruptedEpochs().get() == [], comment)
      #expect(try adults.anna.vault.resumeEpochs().get() == [], comment)
      #expect(adults.anna.vault.takeLeftBehind() == [], comment)

      // What it says to do does it.
      if had { try unshare(adults) }
      #expect(try !hasBen(adults), comment)
      #expect(adults.anna.vault.takeLeftBehind() == [], comment)
      try adults.meet()
      #expect(adults.ben.emma == nil, comment)
      try expectWhole(adults, comment)
    }
  }

  /// Whoever takes him out again does so at once, and hears that somebody else may have been meant too.
  @Test func whoTakesSomebodyOutThenIsToldAsWell() throws {
    let adults = try family()
    try tear(adults, after: 2, leaving: 40)
    try unshare(adults)
    #expect(try !hasBen(adults))
    #expect(adults.anna.vault.takeLeftBehind().map(\.kind) == [.accessForgotten])
    #expect(try adults.anna.vault.resumeEpochs().get() == [])
    #expect(adults.anna.vault.takeLeftBehind() == [])
    try expectWhole(adults, "afterwards")
  }

  /// It is told as well where the mending is cut short.
  @Test func itIsToldWhereverTheMendingIsCut() throws {
    let whole = try family()
    try tear(whole, after: 2, leaving: 40)
    let before = whole.anna.store.mutatingCallCount
    _ = try whole.anna.vault.resumeEpochs().get()
    for call in 1...(whole.anna.store.mutatingCallCount - before) {
      let adults = try family()
      try tear(adults, after: 2, leaving: 40)
      adults.anna.store.cut(after: call)
      let comment: Comment = "cut at call \(call)"
      #expect(adults.anna.vault.resumeEpochs().failures.count == 1, comment)
      #expect(adults.anna.vault.takeLeftBehind() == [], comment)
      try adults.anna.reopen()
      #expect(try adults.anna.vault.resumeEpochs().get().count == 1, comment)
      #expect(adults.anna.vault.takeLeftBehind().map(\.kind) == [.accessForgotten], comment)
      #expect(try hasBen(adults), comment)
      try expectWhole(adults, comment)
    }
  }

  /// A newer version of the program knows what it means.
  @Test func whatIsWholeAndUnknownStaysAsItIs() throws {
    let adults = try family()
    let bytes = ChecksummedLines.encode(title: "kinvault epoch 9", ["without everybody"])
    try adults.anna.stateStore.replace(path(adults), bytes, durably: true)
    #expect(adults.anna.vault.resumeEpochs().failures.count == 1)
    #expect(throws: VaultError.self) { try unshare(adults) }
    #expect(try adults.anna.stateStore.read(path(adults), limit: 1 << 20) == bytes)
    let links = try #require(adults.anna.emma).register.links
    #expect(links.access.includes(adults.ben.id))
  }
}
