import ArgumentParser
import Vault
import VaultErrors
import VaultModel

struct AuditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "List who looked at and changed what: the encrypted audit log.",
    discussion: """
      Each of your devices notes what it does, what was tried to unlock it with, and what its syncs find; the log is sealed \
      for you, and a part that was removed, exchanged or cut off its end shows. Names are those of the time, in a journal \
      those of now. A time is \u{2018}2025-01-20 14:03\u{2019}, as much of it as is known, \u{2018}yesterday\u{2019}, or so \
      long ago: 12h, 7d.

      With --journal it is the journal of a member, which everyone with access to it reads: who was given access and from \
      whom it was taken, what was exported, restored, deleted and imported by whom, and who opened which file, where an \
      owner has that noted (kinvault member journal).

      Examples:
        kinvault audit --last 20
        kinvault audit --journal Emma --since 30d
        kinvault audit --since 7d --record "Emma/2025 Wrist"
        kinvault audit --action export --csv
      """,
    subcommands: [AuditAcknowledgeCommand.self])

  @Option(
    help: ArgumentHelp(
      "What everyone did with this member, instead of what you did.", valueName: "name"),
    completion: MemberCompletion.kind)
  var journal: String?

  @Option(help: ArgumentHelp("Only the newest so many events.", valueName: "count"))
  var last: Int?

  @Option(
    help: ArgumentHelp("Only this kind of event.", valueName: "action"),
    completion: .list(AuditAction.allCases.map(\.rawValue)))
  var action: String?

  @Option(
    help: ArgumentHelp("Only this member's.", valueName: "name"), completion: MemberCompletion.kind)
  var member: String?

  @Option(
    help: ArgumentHelp(
      "Only of this record or file and what is below it, as it is or was called.",
      valueName: "path"))
  var record: String?

  @Option(
    help: ArgumentHelp(
      "Only what is about this person; in a journal also what they did.", valueName: "name"))
  var person: String?

  @Option(help: ArgumentHelp("Only what this device noted.", valueName: "name"))
  var device: String?

  @Option(help: ArgumentHelp("Only from this time on.", valueName: "time"))
  var since: MomentArgument?

  @Option(help: ArgumentHelp("Only up to this time.", valueName: "time"))
  var until: MomentArgument?

  @Option(help: ArgumentHelp("Only where this text stands in it.", valueName: "text"))
  var text: String?

  @Flag(help: "Print JSON.") var json = false
  @Flag(help: "Print a table for spreadsheets (CSV).") var csv = false
  @OptionGroup var access: AccessOptions

  func validate() throws {
    if json, csv { throw ValidationError("--json and --csv exclude each other.") }
    if let last, last < 0 { throw ValidationError("--last takes a number from 0 on.") }
    if let action, AuditAction(rawValue: action) == nil {
      let known = AuditAction.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("There is no kind of event \u{201C}\(action)\u{201D}: \(known).")
    }
  }

  func run() throws {
    let (rows, problems, awaited) = try access.withVault(.reading) { vault in
      let filter = try filter(in: vault)
      let journal = try journal.map { try RecordLookup(vault: vault).member(named: $0) }
      let (events, problems) =
        try journal.map { try vault.journal(of: $0, filter) } ?? vault.audit.read(filter)
      let people = try journal.map { _ in try PersonLookup.load(of: vault) }
      let names = EventNames(vault, others: people.map { people in { people.name(of: $0) } })
      let chosen = events.filter { filter.allows($0, deviceName: names.name(of:)) }
      let paths = NamedPath.load(of: vault)
      let rows = chosen.suffix(last ?? chosen.count).map { AuditRow(names.naming($0), paths) }
      if chosen.isEmpty { try tellWhatIsUnknown(filter, in: vault, names) }
      let isAwaited = { (problem: Problem) in problem.kind == .missing && problem.severity == .note
      }
      let awaited = Set(problems.filter(isAwaited).map { paths.text($0.path) })
      let others = problems.filter { !isAwaited($0) }.map { problem in
        (text: "\(paths.text(problem.path)): \(problem.reason)", severity: problem.severity)
      }
      return (rows, others, awaited.sorted())
    }
    if json {
      try JSONOutput.print(rows)
    } else if csv {
      let isJournal = journal != nil
      Terminal.write(CSVOutput.line(AuditRow.headings(ofJournal: isJournal)))
      for row in rows { Terminal.write(CSVOutput.line(row.cells(ofJournal: isJournal))) }
    } else {
      print(rows)
    }
    for problem in problems { Terminal.note("kinvault: \(problem.text)") }
    if !awaited.isEmpty {
      Terminal.note(
        "kinvault: The newest of \(awaited.joined(separator: ", ")) is not here yet. It comes with: kinvault sync --full"
      )
    }
    // What other devices have yet to send is no problem of the log.
    if problems.contains(where: { $0.severity > .note }) { throw CommandError.problemsFound }
  }

  private func filter(in vault: Vault) throws -> AuditFilter {
    let lookup = RecordLookup(vault: vault)
    var filter = AuditFilter()
    filter.action = action
    filter.member = try member.map { try lookup.member(named: $0).id }
    filter.device = device
    filter.since = since?.start ?? 0
    filter.until = until.map { max($0.end, $0.start + 1) } ?? .max
    filter.text = text
    if let record {
      // It may be gone, and the log still tells of it.
      let found = try unlessNotFound { try lookup.findAlsoDeleted(record) }
      let id = found.flatMap { $0.fileName == nil ? $0.record : nil }
      let place = record.hasSuffix("/") ? String(record.dropLast()) : record
      filter.record = (id, found?.path.string ?? place)
    }
    if let person {
      // Of several of one name: those of whom the log has it.
      let found = try PersonLookup.load(of: vault).meant(by: person)
      filter.person = (found.count == 1 ? found[0].id : nil, person)
      filter.includesDeeds = journal != nil
    }
    return filter
  }

  /// Where nothing was found: a name that nobody has is told, so that a slip of the finger does not look like innocence.
  private func tellWhatIsUnknown(
    _ filter: AuditFilter, in vault: Vault, _ names: EventNames
  ) throws {
    if let person, filter.person?.id == nil { tellUnknown("person", person) }
    if let record, filter.record?.id == nil { tellUnknown("record", record) }
    // In a journal devices are called what their people call them.
    if let device, journal == nil {
      let isKnown = try vault.devices().contains {
        filter.allows($0.id, called: names.name(of: $0.id))
      }
      if !isKnown { tellUnknown("device", device) }
    }
  }

  private func tellUnknown(_ kind: String, _ name: String) {
    Terminal.note(
      "kinvault: No \(kind) is known here as “\(Terminal.visible(name))”, and none of that name is in the log."
    )
  }

  private func unlessNotFound<Value>(_ find: () throws -> Value) throws -> Value? {
    do { return try find() } catch let error as CommandError {
      guard case .notFound = error else { throw error }
      return nil
    }
  }

  private func print(_ rows: [AuditRow]) {
    var table =
      journal == nil
      ? Table("TIME", "DEVICE", "ACTION", "WHAT") : Table("TIME", "WHO", "ACTION", "WHAT")
    for row in rows {
      let times = row.count > 1 ? "\(row.count) times" : ""
      let what = [row.path ?? row.member ?? "", row.about ?? "", row.text, times]
      table.add([
        DateText.local(milliseconds: row.milliseconds),
        journal == nil ? row.doubted(row.deviceName) : row.who, row.action,
        what.filter { !$0.isEmpty }.joined(separator: ", "),
      ])
    }
    table.print(orElse: "No events.")
  }
}

/// An event of the log with the names of its time, or those of now where it has none.
private struct AuditRow: Encodable {
  let milliseconds: UInt64
  let time: String
  let device: String
  let deviceName: String
  let action: String
  let member: String?
  let path: String?
  let person: String?
  let about: String?
  let detail: String
  /// The detail in words.
  let text: String
  let count: Int
  let by: String
  let byID: String
  /// Why others may have written it in this one's name, or after they had access; nil where that is not so.
  let doubt: String?

  enum CodingKeys: String, CodingKey {
    case time, device, deviceName, action, member, path, person, about, detail, count, by, byID,
      doubt
  }

  static func headings(ofJournal isJournal: Bool) -> [String] {
    ["time", "device", "action", "member", "path", "about", "detail", "count"]
      + (isJournal ? ["by", "doubt"] : [])
  }

  func cells(ofJournal isJournal: Bool) -> [String] {
    [time, deviceName, action, member ?? "", path ?? "", about ?? "", text, "\(count)"]
      + (isJournal ? [by, doubt ?? ""] : [])
  }

  /// Who did it, for a person to read.
  var who: String {
    doubted(deviceName.isEmpty ? by : "\(by), \(deviceName)")
  }

  /// With the doubt whether it is theirs, if there is any.
  func doubted(_ name: String) -> String { doubt.map { "\(name) (\($0))" } ?? name }

  init(_ named: NamedEvent, _ paths: NamedPath) {
    let event = named.logged.event
    milliseconds = event.time
    time = DateText.utc(milliseconds: event.time)
    device = named.logged.device.hex
    deviceName = named.device
    action = event.action
    (member, path, about) = (named.member, named.path, named.about)
    person = event.person?.hex
    detail = event.detail
    text =
      event.action == AuditAction.tampering.rawValue
      ? TamperingText.text(ofDetail: event.detail, paths) : event.detail
    count = max(1, Int(event.count))
    by = named.person
    byID = named.logged.person.hex
    doubt =
      switch named.logged.standing {
      case .counts: nil
      case .removedDevice: "device removed since"
      case .noAccess: "no access any more"
      }
  }
}
