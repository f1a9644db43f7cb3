import TestSupport
import VaultModel
import VaultPeople
import VaultSync
import VaultTrust

@testable import Vault

/// Chooses what honest people do, by what they see where they are; a seed gives the same choice each time.
///
/// Nothing that is chosen hangs on an id, which is another one in each run. So of a member only one machine gives or
/// takes places among its owners: that of the most senior one. Everything else may happen anywhere, at once.
struct HonestSchedule {
  /// Whose keys the adversary has as soon as they are taken out of Emma: they do nothing any more then.
  let traitors: Set<Int>
  /// Whose keys it has from the beginning.
  let captives: Set<Int>
  private var random: SplitMix64
  private var count = 0
  private var machineCount = 100
  /// Whether records are moved from one member to another as well, and changed more often.
  private let isWidened: Bool

  init(seed: UInt64, traitors: Set<Int>, captives: Set<Int>, isWidened: Bool = false) {
    (self.traitors, self.captives, self.isWidened) = (traitors, captives, isWidened)
    random = SplitMix64(seed: seed &* 2 &+ 1)
  }

  private mutating func number(below limit: Int) -> Int {
    Int.random(in: 0..<limit, using: &random)
  }

  /// - Returns: Nil when what was thought of cannot be done now.
  mutating func next(in house: Household) -> HonestStep? {
    guard let machine = house.everyone.randomElement(using: &random) else { return nil }
    let name = house.members.keys.sorted().randomElement(using: &random) ?? "Emma"
    let remote = number(below: house.remotes.count)
    switch number(below: isWidened ? 56 : 40) {
    case 0..<5: return create(machine, name, house)
    case 5..<11: return edit(machine, name, house)
    case 11..<12: return delete(machine, name, house)
    case 12..<22: return .sync(machine.number, remote: remote, .both)
    case 22: return .sync(machine.number, remote: remote, number(below: 2) == 0 ? .pull : .push)
    case 23: return .quickSync(machine.number, remote: remote)
    case 24: return .reopen(machine.number)
    case 25: return .collect(machine.number)
    case 26..<28: return removal(by: machine, house)
    case 28:
      guard house.first(of: machine.person)?.number == machine.number else { return nil }
      return .replaceWords(machine.number)
    case 29:
      guard machineCount < 102 else { return nil }
      machineCount += 1
      return .addMachine(of: machine.person, number: machineCount, from: remote)
    case 30:
      guard house.members.count < 4, !traitors.contains(machine.person) else { return nil }
      return .addMember(machine.number, "Mia \(house.members.count)")
    case 31: return .passes(days: UInt64(1 + number(below: 3)))
    case 32..<36: return share(machine, name, house)
    case 36..<38: return unshare(machine, name, house)
    case 38: return handOver(machine, name, house)
    case 40..<45: return move(machine, name, house)
    case 45..<50: return edit(machine, name, house)
    case 50..<56: return .sync(machine.number, remote: remote, .both)
    default: return leave(machine, name, house)
    }
  }

  // MARK: Records

  private mutating func record(_ member: Member) -> RecordEntry? {
    let folder = ConflictCopy.folder(of: member.id)
    let shown = member.allEntries().filter {
      !$0.isDeleted && $0.record != .root && $0.record != folder && $0.parent != folder
    }.sorted { $0.record < $1.record }
    // Half the time one of two, so that several people change the same.
    return Bool.random(using: &random)
      ? shown.prefix(2).randomElement(using: &random) : shown.randomElement(using: &random)
  }

  private mutating func create(
    _ machine: Household.Machine, _ name: String, _ house: Household
  ) -> HonestStep? {
    guard let member = house.member(name, at: machine), member.mayWrite,
      let id = RecordID(random.bytes(RecordID.byteCount))
    else { return nil }
    count += 1
    let parent = number(below: 4) == 0 ? record(member)?.record : nil
    return .create(
      machine.number, name, id, parent: parent ?? .root, title: HonestLedger.title(count),
      text: HonestLedger.text(count))
  }

  private mutating func edit(
    _ machine: Household.Machine, _ name: String, _ house: Household
  ) -> HonestStep? {
    guard let member = house.member(name, at: machine), member.mayWrite,
      let entry = record(member)
    else { return nil }
    count += 1
    let text = HonestLedger.text(count)
    if number(below: 4) == 0 {
      return .attach(
        machine.number, name, entry.record, text: text, byteCount: 100 + number(below: 9_000))
    }
    return .edit(machine.number, name, entry.record, text: text)
  }

  private mutating func delete(
    _ machine: Household.Machine, _ name: String, _ house: Household
  ) -> HonestStep? {
    guard let member = house.member(name, at: machine), member.mayWrite,
      let entry = record(member), member.children(of: entry.record).isEmpty
    else { return nil }
    return .delete(machine.number, name, entry.record)
  }

  private mutating func move(
    _ machine: Household.Machine, _ name: String, _ house: Household
  ) -> HonestStep? {
    let others = house.members.keys.sorted().filter {
      $0 != name && house.member($0, at: machine)?.mayWrite == true
    }
    guard let target = others.randomElement(using: &random),
      let member = house.member(name, at: machine), member.mayWrite, let entry = record(member)
    else { return nil }
    return .move(machine.number, name, entry.record, to: target)
  }

  // MARK: People

  private mutating func removal(
    by machine: Household.Machine, _ house: Household
  ) -> HonestStep? {
    guard house.first(of: machine.person)?.number == machine.number else { return nil }
    let others = house.everyone.filter {
      $0.person == machine.person && $0.number != machine.number
    }
    return others.randomElement(using: &random).map {
      .removeMachine(machine.number, lost: $0.number)
    }
  }

  /// Whether the machine is the one that changes who owns the member.
  private func keepsOwners(
    _ machine: Household.Machine, _ member: Member, _ house: Household
  ) -> Bool {
    house.first(of: machine.person)?.number == machine.number
      && member.register.links.access.owners.first == machine.vault.person
  }

  private func isGone(_ person: Int, _ house: Household) -> Bool {
    house.lost.contains { $0.person == person && traitors.contains(person) }
  }

  private mutating func share(
    _ machine: Household.Machine, _ name: String, _ house: Household
  ) -> HonestStep? {
    guard let member = house.member(name, at: machine), member.role == .owner else { return nil }
    let person = number(below: house.persons.count)
    guard person != machine.person, !isGone(person, house), !captives.contains(person) else {
      return nil
    }
    let isKeeper = keepsOwners(machine, member, house)
    var role = [Role.viewer, .editor, .owner].randomElement(using: &random) ?? .viewer
    // Whoever is to be taken out again is given no place that others would have to take.
    if role == .owner, !isKeeper || traitors.contains(person) { role = .editor }
    if traitors.contains(person), name != "Emma" { role = .viewer }
    let days = role != .owner && number(below: 4) == 0 ? UInt64(1 + number(below: 4)) : nil
    return .share(machine.number, name, with: person, role, days: days)
  }

  private mutating func unshare(
    _ machine: Household.Machine, _ name: String, _ house: Household
  ) -> HonestStep? {
    guard let member = house.member(name, at: machine), member.role == .owner else { return nil }
    let access = member.register.links.access
    let others = house.persons.indices.filter {
      $0 != machine.person && access.includes(house.persons[$0])
    }
    let likely = others.filter { traitors.contains($0) }
    guard
      let person = Bool.random(using: &random)
        ? (likely.randomElement(using: &random) ?? others.randomElement(using: &random))
        : others.randomElement(using: &random),
      !access.owners.contains(house.persons[person]) || keepsOwners(machine, member, house)
    else { return nil }
    return .unshare(machine.number, name, from: person)
  }

  private mutating func handOver(
    _ machine: Household.Machine, _ name: String, _ house: Household
  ) -> HonestStep? {
    guard let member = house.member(name, at: machine) else { return nil }
    let offers = member.register.links.history.offers
    if offers.contains(where: { $0.taker == machine.vault.person }),
      house.first(of: machine.person)?.number == machine.number
    {
      return .agree(machine.number, name)
    }
    guard keepsOwners(machine, member, house) else { return nil }
    let others = house.persons.indices.filter {
      $0 != machine.person && !traitors.contains($0)
        && member.register.links.access.includes(house.persons[$0])
    }
    return others.randomElement(using: &random).map { .offer(machine.number, name, to: $0) }
  }

  private mutating func leave(
    _ machine: Household.Machine, _ name: String, _ house: Household
  ) -> HonestStep? {
    guard number(below: 2) == 0, let member = house.member(name, at: machine),
      house.first(of: machine.person)?.number == machine.number,
      member.register.links.access.owners.first != machine.vault.person
    else { return nil }
    return .leave(machine.number, name)
  }
}
