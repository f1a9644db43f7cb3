import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

/// People who share members with one another at random, and take away what they gave, write, delete, remove machines and sync in
/// any order: what somebody has written whose machine and access have stayed is seen by whoever may see it, unless somebody who saw
/// it replaced or deleted it; and all who may read a member see the same.
///
/// `KINVAULT_FAMILIES=500+200` runs others. A failure prints its seed and what happened.
@Suite struct FamilyScheduleTests {
  @Test(arguments: Seeds.first(24, unless: "KINVAULT_FAMILIES"))
  func nothingIsLostAmongPeople(seed: UInt64) throws {
    try SeededRandomness.with(seed: seed) {
      var schedule = try FamilySchedule(seed: seed)
      let failures: [String]
      do {
        failures = try schedule.run()
      } catch {
        failures = ["\(error)"]
      }
      if !failures.isEmpty {
        Issue.record(
          "KINVAULT_SEED=\(seed)\n\((failures + schedule.trace).joined(separator: "\n"))")
      }
    }
  }
}

/// One schedule of honest people alone, without an adversary.
private struct FamilySchedule {
  private let seed: UInt64
  private let house: Household
  /// Whose access to which member was taken, or lowered, or is for some days only: what they write may be left out.
  private var troubled: [MemberID: Set<Int>] = [:]
  /// At which machines somebody was let into a member: what is not known yet of a machine that is removed falls.
  private var givers: [MemberID: [Int: Set<Int>]] = [:]
  private(set) var trace: [String] = []

  init(seed: UInt64) throws {
    self.seed = seed
    let cast = try HouseholdCast.shared.get()
    house = try Household(cast, taking: Array(cast.seats.indices), traitors: [])
  }

  /// - Returns: What is not as it has to be.
  mutating func run() throws -> [String] {
    var choices = HonestSchedule(seed: seed, traitors: [], captives: [], isWidened: true)
    var count = 25 + Int(seed % 40)
    while count > 0 {
      guard let step = choices.next(in: house) else { continue }
      let outcome = try house.perform(step)
      trace.append("\(step): \(outcome)")
      note(step)
      count -= 1
    }
    var meeting = try house.meet()
    for _ in 0..<4 where meeting.isAtRest {
      guard try keepUnlisted() else { break }
      meeting = try house.meet()
    }
    guard meeting.isAtRest else { return ["rest: the machines go on: \(meeting.lastMoves)"] }
    let view = try HouseholdView(of: house, [])
    let shown = HonestLedger.texts(in: view.lines.values.joined())
    let lost = house.ledger.lost(among: shown) { isExcused($0, writtenAt: $1) }
    return view.disagreements(of: house)
      + lost.map { text in
        let writer = house.ledger.entries[text].flatMap { house.machines[$0.machine] }
        return "lost: \(text) of \(writer?.name ?? "?")"
      }
  }

  /// Somebody has members count again that fell with the machine which had made them.
  ///
  /// - Returns: Whether anybody has.
  private mutating func keepUnlisted() throws -> Bool {
    for machine in house.everyone {
      let unlisted = try machine.vault.unlistedMembers()
      if unlisted.isEmpty { continue }
      trace.append("\(machine.name) keeps \(unlisted.map(\.name))")
      do {
        let words = try RecoveryWords(parsing: house.words[machine.person])
        try machine.vault.keep(unlisted, words: words)
        for member in machine.vault.members where member.role == .owner {
          try machine.vault.beginEpoch(of: member, without: [])
        }
        return true
      } catch let error as VaultError {
        trace.append("it does not: \(error)")
      }
    }
    return false
  }

  private func isExcused(_ member: MemberID, writtenAt number: Int) -> Bool {
    guard let machine = house.machines[number] else { return true }
    return isTroubled(machine.person, in: member, besides: [])
  }

  private func isTroubled(_ person: Int, in member: MemberID, besides seen: Set<Int>) -> Bool {
    if seen.contains(person) { return false }
    if troubled[member]?.contains(person) == true { return true }
    return (givers[member]?[person] ?? []).contains { giver in
      guard let machine = house.machines[giver] else { return true }
      return isTroubled(machine.person, in: member, besides: seen.union([person]))
    }
  }

  /// Also where the step fails: it may have done a part.
  private mutating func note(_ step: HonestStep) {
    let (name, person): (String, Int?) =
      switch step {
      case .share(_, let name, let person, let role, let days):
        (name, role == .viewer || days != nil ? person : nil)
      case .unshare(_, let name, let person): (name, person)
      case .offer(let machine, let name, _), .leave(let machine, let name):
        (name, house.machines[machine]?.person)
      default: ("", nil)
      }
    if case .share(let giver, let name, let person, _, _) = step, let member = house.members[name] {
      givers[member, default: [:]][person, default: []].insert(giver)
    }
    guard let person, let member = house.members[name] else { return }
    troubled[member, default: []].insert(person)
  }
}
