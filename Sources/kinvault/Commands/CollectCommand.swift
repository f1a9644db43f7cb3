import ArgumentParser
import MachineState
import Vault
import VaultErrors

struct CollectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "collect",
    abstract: "Remove what is no longer needed.",
    discussion: """
      Older revisions and deleted records stay restorable for 90 days, or as long as --keep-days says, from when what \
      replaced them was written or came to this machine, whichever was later; then \u{2018}collect\u{2019} removes what \
      only they needed. Where two devices have changed a record without knowing of \
      each other, both versions stay until it is changed again, and so it can be told whose each part is. With \
      --keep-days 0 nothing stays that is not current.

      A clock that jumped ahead would end what is to be kept. Where this machine's clock is more than 30 days after all that \
      the machine knows of the vault, \u{2018}collect\u{2019} asks whether it is right, and removes nothing before.

      Parts of the audit log that are older than 30 days become one file a month. What they say stays for ever, or as long \
      as --keep-log-days says: of what you see with \u{2018}kinvault audit\u{2019}. What this device has noted in the \
      journal of a member, for others to read, stays.

      Examples:
        kinvault collect --dry-run
        kinvault collect --keep-days 365
      """)

  @Option(help: ArgumentHelp("How long the past stays restorable.", valueName: "days"))
  var keepDays = 90

  @Option(
    help: ArgumentHelp(
      "How long this device keeps its part of your audit log; at least 30.", valueName: "days"))
  var keepLogDays: Int?

  @Flag(help: "Only say what would be removed.") var dryRun = false
  @Flag(help: "Do not ask when --keep-days is less than 30.") var yes = false
  @Flag(help: "Go by this machine's clock, and do not ask whether it is right.")
  var acceptClock = false
  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  private struct Row: Encodable {
    var isDryRun: Bool
    var objects: Int
    var bytes: UInt64
    var forgottenRecords: Int
    var waitingMembers: [String]
    var skippedMembers: [String]
    var joinedSegments: Int
    var clockInDoubt: Bool
  }

  func validate() throws {
    if let keepLogDays, !(30...36_500 ~= keepLogDays) {
      throw ValidationError("--keep-log-days takes 30 to 36500 days.")
    }
    guard keepDays >= 0 else { throw ValidationError("--keep-days cannot be less than 0.") }
  }

  func run() throws {
    if keepDays < 30, !dryRun {
      try Confirmation.require(
        "What was deleted or replaced more than \(counted(keepDays, "day")) ago cannot be restored "
          + "afterwards. Go on?",
        isGiven: yes)
    }
    guard dryRun else { return try collect() }
    try access.withVault(.reading) { vault in
      try tell(vault.collect(keepDays: keepDays, acceptsClock: acceptClock, isDryRun: true))
    }
  }

  private func tell(_ report: CollectReport) throws {
    if json {
      try JSONOutput.print(
        Row(
          isDryRun: dryRun, objects: report.objectCount, bytes: report.byteCount,
          forgottenRecords: report.forgottenRecordCount, waitingMembers: report.waitingMembers,
          skippedMembers: report.skippedMembers, joinedSegments: report.joinedSegmentCount,
          clockInDoubt: report.clockLeap != nil))
    } else {
      print(report)
    }
  }

  private func collect() throws {
    var isAccepted = acceptClock
    func askAboutClock(of vault: Vault) throws {
      if !isAccepted, let leap = try vault.clockLeap() {
        try Confirmation.require(
          "\(Self.text(of: leap))\nIs the clock right?", isGiven: false,
          option: "--accept-clock")
      }
      isAccepted = true
    }
    try access.withVault(
      makingRoomBy: { vault in
        try askAboutClock(of: vault)
        try vault.makeRoom(keepDays: keepDays, acceptsClock: true)
      },
      { vault in
        try askAboutClock(of: vault)
        try tell(
          vault.collect(
            keepDays: keepDays, keepLogDays: keepLogDays, acceptsClock: true, isDryRun: false))
      })
  }

  private static func text(of leap: ClockLeap) -> String {
    let (now, seen) = (
      LocalTimeText.of(milliseconds: leap.now).day, LocalTimeText.of(milliseconds: leap.seen).day
    )
    return """
      The clock of this machine says \(now). It has gone on by more than 30 days at once: before that, this vault was last
      used on \(seen), here or on another device.
      If nobody used the vault for so long, the clock is right. If it is ahead, collecting would remove what is to stay
      restorable: set the clock first.
      """
  }

  private func print(_ report: CollectReport) {
    let files = counted(report.objectCount, "encrypted file")
    let size = ByteCount.text(report.byteCount)
    if report.objectCount == 0 {
      Terminal.writeLine("Nothing to remove.")
    } else if dryRun {
      Terminal.writeLine("Would remove \(files), \(size).")
    } else {
      Terminal.writeLine("Removed \(files), \(size).")
    }
    if let leap = report.clockLeap { Terminal.writeLine(Self.text(of: leap)) }
    if report.forgottenRecordCount > 0 {
      let records = counted(report.forgottenRecordCount, "deleted record")
      Terminal.writeLine("\(records) can no longer be restored.")
    }
    if report.stillListedRecordCount > 0 {
      let records = counted(report.stillListedRecordCount, "deleted record")
      Terminal.writeLine(
        "\(records) can no longer be restored, and will be listed as long as a mount or another program has the vault open. Once "
          + "it is closed: kinvault collect")
    }
    if report.joinedSegmentCount > 0 {
      let segments = counted(report.joinedSegmentCount, "file")
      Terminal.writeLine("The audit log takes \(segments) less.")
    }
    for problem in report.problems { Terminal.note("kinvault: \(problem.path): \(problem.reason)") }
    for name in report.waitingMembers {
      Terminal.writeLine(
        "\(Terminal.visible(name)): other devices must see first what is to be removed, and say so with what is saved there "
          + "next. Once something was saved on each of them, and synced: kinvault sync, and then kinvault collect"
      )
    }
    for name in report.skippedMembers {
      Terminal.writeLine(
        "\(Terminal.visible(name)): skipped, because something is damaged, has not come yet, or is held back, or a sync is at "
          + "work. What it is: kinvault check"
      )
    }
  }
}
