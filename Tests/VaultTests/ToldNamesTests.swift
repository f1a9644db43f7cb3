import Dispatch
import MachineState
import Synchronization
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultModel

@testable import Vault

/// Under which names members show on a new machine, where somebody whom its person knows has given a second one the title of a
/// first. Docs/Format.md, "The personal profile".
@Suite struct ToldNamesTests {
  private let adults: Adults
  private let emma: FileName

  init() throws {
    adults = try Adults()
    emma = try #require(FileName("Emma"))
  }

  /// A machine of Carla's that has what her first one has, and begins with her words.
  private func newMachine() throws -> Vault {
    let carla = adults.carla
    let (store, state) = (carla.store.imageAfterKill(), StateFolder(store: MemoryStore()))
    let copy = VaultCopy(
      id: carla.vault.id, store: store, state: state, clock: carla.clock.wallClock)
    let key = try Vault.recover(
      copy, words: RecoveryWords(parsing: carla.words.joined(separator: " ")),
      device: Adults.newDevice(of: "Carla"), password: Adults.password)
    return try Vault.open(copy, key: key, options: OpenOptions())
  }

  private func give(_ member: Member) throws {
    try adults.anna.vault.share(member, with: adults.carla.id, role: .owner)
    try adults.meet()
    try adults.carla.vault.audit.publish()
  }

  /// Two members of one title by one maker, in the order of their ids: whoever makes the second one takes an id that is lower.
  private func twoMembers() throws -> (lower: Member, higher: Member) {
    let made = try (0..<2).map { _ in
      try adults.anna.vault.addMember(named: emma, renewing: nil)
    }.sorted { $0.id < $1.id }
    return (made[0], made[1])
  }

  @Test func aNewMachineShowsTheMemberThatItsPersonKnowsUnderItsName() throws {
    let members = try twoMembers()
    try give(members.higher)
    try give(members.lower)
    #expect(adults.carla.vault.shownNames[members.higher.id] == emma)
    let names = try newMachine().shownNames
    #expect(names[members.higher.id] == emma)
    #expect(names[members.lower.id]?.string == "Emma (\(members.lower.id.shortHex))")
  }

  @Test func collectingTellsMembersOfOneNameApart() throws {
    let members = try twoMembers()
    try give(members.higher)
    try give(members.lower)
    let vault = adults.carla.vault
    for id in [members.higher.id, members.lower.id] {
      let member = try #require(vault.member(id))
      let edit = RecordEdit.newRecord("Visit", note: "a note")
      _ = try member.commit([edit])
      var other = RecordEdit(record: edit.record)
      other.items[.record] = .note("another note")
      _ = try member.commit([other])
    }
    // Anna's device is to see first what goes.
    let waiting = try vault.collect(keepDays: 0, isDryRun: false).waitingMembers
    #expect(Set(waiting) == ["Emma", "Emma (\(members.lower.id.shortHex))"])
  }

  /// While a new name is looked up and kept, the others are known.
  @Test func whoAsksForNamesThatAreKnownWaitsForNoFile() throws {
    let vault = adults.anna.vault
    let known = try vault.addMember(named: emma, renewing: nil)
    let name = try #require(vault.shownNames[known.id])
    let (hasBegun, isTold) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let wasTold = Mutex(false)
    vault.memberNames.told.withLock { told in
      told = { _ in
        hasBegun.signal()
        let isInTime = isTold.wait(timeout: .now() + 120) == .success
        wasTold.withLock { $0 = isInTime }
        return [:]
      }
    }
    try Threads.run(2) { [emma] number in
      if number == 0 {
        _ = try vault.addMember(named: emma, renewing: nil)
        _ = vault.shownNames
        return
      }
      hasBegun.wait()
      #expect(vault.memberNames.name(of: known.id) == name)
      isTold.signal()
    }
    #expect(wasTold.withLock { $0 })
  }

  /// Once another one has the name for good, a new machine goes by that.
  @Test func aNameThatWasPassedOnIsNotGivenBack() throws {
    let members = try twoMembers()
    try give(members.higher)
    try give(members.lower)
    let carla = adults.carla.vault
    try carla.passName(from: members.higher.id, to: #require(carla.member(members.lower.id)))
    let names = try newMachine().shownNames
    #expect(names[members.lower.id] == emma)
    #expect(names[members.higher.id] != emma)
  }

  /// What was told once stays; nothing is written twice for it.
  @Test func whatWasToldIsNotToldAgain() throws {
    try give(twoMembers().lower)
    let told = try adults.carla.vault.personalProfile().members
    #expect(told.contains { $0.title == emma })
    let machine = try newMachine()
    machine.audit.note(.share, detail: "something")
    try machine.audit.publish()
    #expect(try machine.personalProfile().members == told)
    var again = try machine.personalProfile()
    try machine.tellNames(in: &again)
    #expect(again.members == told)
  }
}
