import BlobStore
import TestSupport
import VaultCrypto
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// What honest people see at their machines, in words that are the same in each run of a schedule.
struct HouseholdView: Equatable {
  /// By machine and topic.
  private(set) var lines: [String: [String]] = [:]

  /// Records that are left out, with all that is in them.
  private let besides: Set<RecordID>

  /// - Parameters:
  ///   - leaving: People who may give up what they have at any time, since their keys are the adversary's.
  ///   - touched: Records that are left out, with all that is in them.
  init(
    of house: Household, _ leaving: Set<PersonID>, besides touched: Set<RecordID> = []
  ) throws {
    besides = touched
    for machine in house.everyone {
      try add(machine, of: house, leaving)
    }
  }

  private mutating func add(
    _ machine: Household.Machine, of house: Household, _ leaving: Set<PersonID>
  ) throws {
    let vault = machine.vault
    let key = machine.name
    let names = Dictionary(
      uniqueKeysWithValues: zip(house.persons, HouseholdCast.people))
    lines["\(key): devices"] = try vault.devices().filter { $0.person == vault.person }
      .map { $0.profile?.deviceName ?? "unnamed" }.sorted()
    // Whoever says yes to a member of the adversary's meets there whom it names, without a name.
    let members = house.members.values.compactMap { vault.member($0) }
    var vouching = Vouching(own: vault.person, members: members.map(\.id))
    vouching.judge(members.map(\.register.links.history))
    let met = vouching.people
    lines["\(key): people"] = try vault.knownPeople().filter {
      names[$0.id] != nil && $0.isSpokenOf && (!$0.name.isEmpty || met.contains($0.id))
    }
    .map { "\(names[$0.id] ?? "?") is called \($0.name)" }.sorted()
    // Of members that strangers have made nothing shows before this person has said so.
    lines["\(key): strangers' members"] = vault.members.filter { member in
      !house.persons.contains(where: member.comesFrom) && !machine.accepted.contains(member.id)
    }.map(\.name.string)
    for (name, id) in house.members {
      guard let member = vault.member(id) else { continue }
      let shown = vault.shownNames[id]?.string ?? "nothing"
      lines["\(key): \(name)"] =
        ["shown as \(shown)"]
        + (try member.accesses().filter { !leaving.contains($0.person) }.map { access in
          "\(names[access.person] ?? access.person.shortHex) is \(access.role)"
        })
      lines["\(key): records of \(name)"] = try contents(of: member)
    }
  }

  private func contents(of member: Member) throws -> [String] {
    var lines: [String] = []
    for entry in member.allEntries() where !entry.isDeleted && !isLeftOut(entry, of: member) {
      let path = member.displayPath(of: entry.record)
      lines.append(path)
      for item in try member.items(of: member.revision(entry.revision)) {
        let bytes = try member.beginning(of: item, byteCount: 64)
        lines.append("\(path)/\(item.name.string) = \(String(decoding: bytes, as: UTF8.self))")
      }
    }
    return lines.sorted()
  }

  private func isLeftOut(_ entry: RecordEntry, of member: Member) -> Bool {
    var seen: Set<RecordID> = []
    var entry: RecordEntry? = entry
    while let here = entry, seen.insert(here.record).inserted {
      if besides.contains(here.record) { return true }
      entry = here.parent.flatMap { member.entry($0) }
    }
    return false
  }

  /// The same without what stands in records.
  var withoutContents: HouseholdView {
    var view = self
    view.lines = lines.filter { !$0.key.contains(": records of ") }
    return view
  }

  /// The same without records that the adversary has made up.
  var withoutForgeries: HouseholdView {
    var view = self
    view.lines = lines.mapValues { $0.filter { !$0.contains("<forged-") } }
    return view
  }

  /// Where the other one differs, in lines.
  func differences(from other: HouseholdView, _ topic: String) -> [String] {
    Set(lines.keys).union(other.lines.keys).sorted().compactMap { key in
      let (own, others) = (lines[key] ?? ["nothing"], other.lines[key] ?? ["nothing"])
      if own == others { return nil }
      let gone = others.filter { !own.contains($0) }
      let come = own.filter { !others.contains($0) }
      return "\(topic): \(key): gone \(gone.prefix(4)), come \(come.prefix(4))"
    }
  }

  /// Where two machines show a member's records otherwise.
  func disagreements(of house: Household) -> [String] {
    house.members.keys.sorted().flatMap { name -> [String] in
      let all = house.everyone.compactMap { machine in
        lines["\(machine.name): records of \(name)"].map { (machine.name, $0) }
      }
      guard let first = all.first else { return [] }
      return all.dropFirst().filter { $0.1 != first.1 }.map { machine, lines in
        let (one, other) = (
          first.1.filter { !lines.contains($0) }, lines.filter { !first.1.contains($0) }
        )
        return "agreement: \(first.0) and \(machine) show \(name) otherwise: "
          + "\(one.prefix(4)) and \(other.prefix(4))"
      }
    }
  }
}
