import ArgumentParser
import Vault
import VaultModel

struct AuditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "List who looked at and changed what: the encrypted audit log.",
    discussion: """
      Each device notes what it does; the log is sealed, and a part that was removed or exchanged shows.

      Examples:
        kinvault audit --last 20
        kinvault audit --action export --json
      """)

  @Option(help: ArgumentHelp("Only the newest so many events.", valueName: "count"))
  var last: Int?

  @Option(
    help: ArgumentHelp("Only this kind of event.", valueName: "action"),
    completion: .list(AuditAction.allCases.map(\.rawValue)))
  var action: String?

  @Option(
    help: ArgumentHelp("Only this member's.", valueName: "name"), completion: MemberCompletion.kind)
  var member: String?

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  private struct Row: Encodable {
    var time: String
    var device: String
    var action: String
    var member: String?
    var path: String?
    var detail: String
    var count: Int
  }

  func run() throws {
    let (events, problems) = try access.withVault(.reading) { vault in
      let wanted = try member.map { try RecordLookup(vault: vault).member(named: $0).id }
      let (events, problems) = try vault.audit.read()
      let chosen = events.filter {
        (action == nil || $0.event.action == action) && (wanted == nil || $0.event.member == wanted)
      }
      return (chosen.suffix(last ?? chosen.count).map { AuditRow($0, in: vault) }, problems)
    }
    if json {
      try JSONOutput.print(events.map(row(of:)))
    } else {
      print(events)
    }
    for problem in problems {
      Terminal.note("kinvault: \(problem.path): \(problem.reason)")
    }
    if !problems.isEmpty { throw CommandError.problemsFound }
  }

  private func row(of event: AuditRow) -> Row {
    Row(
      time: DateText.utc(milliseconds: event.time), device: event.device, action: event.action,
      member: event.member, path: event.path, detail: event.detail, count: event.count)
  }

  private func print(_ events: [AuditRow]) {
    var table = Table("TIME", "DEVICE", "ACTION", "WHAT")
    for event in events {
      let times = event.count > 1 ? "\(event.count) times" : ""
      let what = [event.path ?? event.member ?? "", event.detail, times]
      table.add([
        DateText.local(milliseconds: event.time), event.deviceText, event.action,
        what.filter { !$0.isEmpty }.joined(separator: ", "),
      ])
    }
    table.print(orElse: "No events.")
  }
}

/// An event of the log with names in place of ids, as far as they are known.
private struct AuditRow {
  let time: UInt64
  let device: String
  let deviceText: String
  let action: String
  let member: String?
  let path: String?
  let detail: String
  let count: Int

  init(_ logged: LoggedEvent, in vault: Vault) {
    let event = logged.event
    time = event.time
    device = logged.device.hex
    deviceText = logged.device == vault.device ? vault.profile.deviceName : logged.device.shortHex
    action = event.action
    let found = event.member.flatMap { vault.member($0) }
    member = found?.name.string ?? event.member?.shortHex
    let place = event.record.map { found?.displayPath(of: $0) ?? $0.shortHex }
    path = place.map { place in event.name.map { "\(place)/\($0.string)" } ?? place }
    detail = event.detail
    count = max(1, Int(event.count))
  }
}
