import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault

/// What is wrong with one member keeps nothing from being done of the others.
@Suite struct DamagedMemberTests {
  private let adults: Adults
  private let damaged: MemberID
  private let whole: MemberID

  private var anna: Adults.Adult { adults.anna }

  /// Ben may read two members of Anna's for some days; one of them is damaged later.
  init() throws {
    adults = try Adults()
    let anna = adults.anna
    let emma = try #require(anna.emma)
    let other = try anna.vault.addMember(named: #require(FileName("zz")))
    (damaged, whole) = (emma.id, other.id)
  }

  private func share(until days: UInt64) throws {
    let end = anna.clock.wallClock.milliseconds() + days * 86_400_000
    for id in [damaged, whole] {
      try anna.vault.share(
        #require(anna.vault.member(id)), with: adults.ben.id, role: .viewer, until: end)
    }
  }

  /// The lists of this device's head of the one member are lost.
  private func damage() throws {
    let member = try #require(anna.vault.member(damaged))
    let own = try #require(member.openedHeads.first { $0.device == anna.vault.device })
    for name in own.head.segments { try anna.store.remove(member.objects.path(of: name)) }
    try anna.reopen()
    try #require(anna.vault.member(damaged)?.damageReason != nil)
    try #require(anna.vault.member(whole)?.damageReason == nil)
  }

  @Test func keepsNoOtherFromNewKeysAndCanBeMended() throws {
    try share(until: 10)
    try damage()
    anna.clock.advance(days: 11)
    let before = try #require(anna.vault.member(whole)).epoch
    let tended = anna.vault.tendEpochs()
    #expect(tended.values.map(\.expired) == [[adults.ben.id]])
    #expect(tended.failures.map(\.member) == [damaged])
    #expect(anna.vault.member(whole)?.epoch != before)
    // Nothing was begun that would have to be gone on with.
    #expect(try anna.vault.interruptedEpochs().get().isEmpty)
    #expect(try anna.vault.resumeEpochs().get().isEmpty)
    _ = try anna.vault.repair()
    #expect(try anna.vault.tendEpochs().get().map(\.member) == [damaged])
  }

  /// A clock that may have jumped ahead ends an access all the same, and that is told.
  @Test(arguments: [UInt64(11), 365])
  func anAccessThatEndsByAClockInDoubtIsToldWithIt(days: UInt64) throws {
    try share(until: 10)
    anna.clock.advance(days: days)
    let tended = try anna.vault.tendEpochs().get()
    #expect(tended.map(\.expired) == [[adults.ben.id], [adults.ben.id]])
    #expect(tended.allSatisfy { ($0.clockLeap != nil) == (days > 30) })
  }

  /// What an interrupted beginning has left is gone on with for whom it can be.
  @Test func whatIsLeftOfABeginningKeepsNoOtherFromBeingGoneOnWith() throws {
    try share(until: 10)
    let count = try callsOfBeginning()
    var (resumed, cut) = (0, 0)
    for call in 1...count {
      let copy = try DamagedMemberTests()
      try copy.share(until: 10)
      copy.anna.store.cut(after: call)
      let member = try #require(copy.anna.vault.member(copy.whole))
      #expect(throws: VaultError.self) {
        try copy.anna.vault.beginEpoch(of: member, without: [copy.adults.ben.id])
      }
      try copy.anna.reopen()
      try copy.spoil()
      cut += 1
      #expect(copy.anna.vault.interruptedEpochs().failures.map(\.member) == [copy.damaged])
      let result = copy.anna.vault.resumeEpochs()
      #expect(result.failures.map(\.member) == [copy.damaged])
      resumed += result.values.count
      #expect(copy.anna.vault.interruptedEpochs().values.isEmpty)
    }
    #expect(resumed == cut)
  }

  private func callsOfBeginning() throws -> Int {
    let copy = try DamagedMemberTests()
    try copy.share(until: 10)
    let before = copy.anna.store.mutatingCallCount
    try copy.anna.vault.beginEpoch(
      of: #require(copy.anna.vault.member(copy.whole)), without: [copy.adults.ben.id])
    return copy.anna.store.mutatingCallCount - before
  }

  /// What is remembered of new keys of the one is of a version that this one does not know.
  private func spoil() throws {
    try anna.stateStore.replace(
      PendingEpoch.folder.appending(damaged.hex),
      ChecksummedLines.encode(title: "kinvault epoch 9", []), durably: true)
  }

  @Test func keepsNoOthersOldObjects() throws {
    for id in [damaged, whole] {
      let member = try #require(anna.vault.member(id))
      _ = try member.commit([.newRecord("Visit", note: "a note")])
      try anna.vault.beginEpoch(of: member, without: [])
    }
    try damage()
    let member = try #require(anna.vault.member(whole))
    let all = try member.objects.listed().count
    // Of what is damaged nothing is removed, which is no failure.
    try anna.vault.removeOldObjects().requireNone()
    #expect(try member.objects.listed().count < all)
  }
}
