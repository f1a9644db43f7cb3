import ArgumentParser
import MachineState
import Notes
import Vault
import VaultModel

/// Which records a command looks at.
struct RecordFilter: ParsableArguments {
  @Option(
    help: ArgumentHelp("Only this member's.", valueName: "name"), completion: MemberCompletion.kind)
  var member: String?

  @Option(
    help: ArgumentHelp("Only records of this type.", valueName: "type"),
    completion: .list(TypeArgument.knownNames))
  var type: String?

  @Option(
    help: ArgumentHelp(
      "Only from this date on: 2025-01-20, 20.1.2025, 2025-01 or 2025.", valueName: "date"))
  var since: DateArgument?

  @Option(
    help: ArgumentHelp("Only up to this date, this day, month or year included.", valueName: "date")
  )
  var until: DateArgument?

  func validate() throws {
    // `2024` begins and ends with what is in it.
    guard let since, let until, since.text.prefix(until.text.count) > until.text else { return }
    throw ValidationError("--until is before --since, so there is nothing between them.")
  }

  func members(in vault: Vault) throws -> [Member] {
    try member.map { [try RecordLookup(vault: vault).member(named: $0)] } ?? vault.members
  }

  /// What is to be said of a list besides what is in it.
  struct Caveats {
    let mayLackRecords: Bool
    let leavesOutDates: Bool
  }

  func caveats(of members: [Member], in vault: Vault) throws -> Caveats {
    let isUnfinished = try RemoteRegistry.here(vault: vault.id).hasUnfinishedClone()
    return Caveats(
      mayLackRecords: isUnfinished || mayLackRecords(of: members, in: vault),
      leavesOutDates: leavesOutUnreadableDates(of: members))
  }

  /// Whether what is found may lack something, by what was found wrong with these members when the vault was opened; where all
  /// are looked through, also with one that could not be.
  private func mayLackRecords(of members: [Member], in vault: Vault) -> Bool {
    if members.contains(where: { $0.damageReason != nil }) { return true }
    let hiding = vault.problems.filter(vault.mayHideRecords)
    guard member != nil else { return !hiding.isEmpty }
    return members.contains { member in
      hiding.contains { $0.path.hasPrefix("members/\(member.id.hex)") }
    }
  }

  /// Whether the record has the type and date that are asked for.
  func isWanted(_ entry: RecordEntry) -> Bool {
    if let type {
      let wanted = RecordType(parsing: type)?.rawValue ?? type
      let found = RecordType(parsing: entry.type)?.rawValue ?? entry.type
      guard wanted.lowercased() == found.lowercased() else { return false }
    }
    let date = entry.readDate
    if let since, date < since.text { return false }
    // `2024` ends with the year's last day.
    if let until, date.isEmpty || date.prefix(until.text.count) > until.text { return false }
    return true
  }

  /// Whether a record of these is left out, since its date cannot be read.
  private func leavesOutUnreadableDates(of members: [Member]) -> Bool {
    guard since != nil || until != nil else { return false }
    return members.contains { $0.allEntries().contains { $0.hasUnreadableDate && !$0.isDeleted } }
  }
}
