import ArgumentParser
import Glibc
import Log
import MachineState
import Rendering
import SystemPackage
import Vault
import VaultCrypto
import VaultErrors
import VaultModel
import VaultMount

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show whether the vault is unlocked, where it is mounted and what it holds.",
    discussion: """
      Never asks for a password: what is inside is shown only while the vault is unlocked. With --require-unlocked it \
      ends with 4 while it is not, for scripts and units that only go on with what a person has unlocked.

      Examples:
        kinvault status --json
        kinvault status --require-unlocked && kinvault mount ~/family-records
      """)

  @OptionGroup var folderOptions: FolderOptions
  @Flag(help: "Print JSON.") var json = false
  @Flag(help: "End with 4 while the vault is locked.") var requireUnlocked = false

  func run() throws {
    let folder = try folderOptions.folder()
    try MountCommits.request(in: folder, hint: nil)
    let report = try StatusReport.load(folder: folder)
    if json { try JSONOutput.print(report) } else { report.print() }
    if requireUnlocked, !report.isUnlocked {
      throw CommandError.locked("The vault is locked. To unlock it: kinvault unlock")
    }
  }
}

/// What `status` finds out.
private struct StatusReport: Encodable {
  struct Contents: Encodable {
    var person: String
    var device: String
    var members: Int
    var records: Int
    var problems: Int
    var conflicts: Int
    /// By device, in seconds.
    var clocksAhead: [String: UInt64]
    /// Whether this machine's clock went on by more than 30 days at once, and nobody has said that it is right.
    var clockInDoubt: Bool
    var access: AccessNotes
    /// What to do about invitations that several people have answered.
    var contestedInvitations: [String]
    /// What happened to this person's keys that waits for their 24 words.
    var keys: String?
    /// What was tried to unlock it with and was wrong, since somebody last opened it.
    var refused: [String]
    /// Of which members openings of files are noted for everyone with access.
    var reads: [String]

    static func load(of vault: Vault) throws -> Contents {
      return Contents(
        person: vault.profile.profile.name, device: vault.profile.deviceName,
        members: vault.members.count,
        records: vault.members.reduce(0) { $0 + max(0, $1.recordCount - 1) },
        problems: vault.problems.count { $0.severity > .note },
        conflicts: try vault.members.reduce(0) { try $0 + $1.keptConflicts().count },
        // Several devices may have one name.
        clocksAhead: Dictionary(try clocksAhead(vault), uniquingKeysWith: max),
        clockInDoubt: try vault.clockLeap() != nil, access: try AccessNotes.load(of: vault),
        contestedInvitations: try vault.contestedInvitations().map(\.text),
        keys: vault.dividedKeys?.text,
        refused: SignInNotes.news(of: try vault.audit.notedWithoutKeys()),
        reads: try ReadsText.load(of: vault).lines)
    }

    /// What somebody else calls a device only they know, but not whose it is.
    private static func clocksAhead(_ vault: Vault) throws -> [(String, UInt64)] {
      let ahead = vault.clocksAhead()
      if ahead.isEmpty { return [] }
      let people = try PersonLookup.load(of: vault)
      let devices = try vault.devices()
      return ahead.map { device, milliseconds in
        let owners = Set(devices.filter { $0.id == device }.map(\.person))
        guard owners.count == 1, let owner = owners.first, owner != vault.person else {
          return (vault.name(of: device), milliseconds / 1000)
        }
        return ("A device of \(people.name(of: owner))", milliseconds / 1000)
      }
    }

    /// A heading and what belongs to it, a line each.
    var lines: [(name: String, value: String)] {
      var lines = [
        ("You are", "\(Terminal.visible(person)) on \(Terminal.visible(device))"),
        ("Holds", "\(counted(members, "member")), \(countedRecords(records))"),
      ]
      if problems > 0 {
        lines.append(("Problems", "\(counted(problems, "problem")); to see them: kinvault check"))
      }
      if conflicts > 0 {
        let count = counted(conflicts, "conflict")
        lines.append(("Conflicts", "\(count); to see them: kinvault conflicts list"))
      }
      lines += reads.map { ("Journal", $0) }
      if let keys { lines.append(("Keys", keys)) }
      lines += access.lines.map { ("Access", $0) }
      lines += contestedInvitations.map { ("Invitation", $0) }
      lines += clocksAhead.sorted { $0.key < $1.key }.map { device, seconds in
        (
          "Clock",
          "\(Terminal.visible(device)) writes \(DateText.duration(seconds: Int(clamping: seconds))) ahead of this machine: one of the two clocks is wrong. "
            + "Nothing is lost by it."
        )
      }
      if clockInDoubt {
        lines.append(
          (
            "Clock",
            "This machine's has gone on by more than 30 days at once, so no older versions are removed. "
              + "If it is right: kinvault collect --accept-clock"
          ))
      }
      lines += refused.map { ("Unlocking", $0) }
      return lines
    }
  }

  struct MountPlace: Encodable {
    /// What a mount shows and could not make part of the vault.
    struct Unsaved: Encodable {
      var reason: String
      var since: String
      var member: String
      var record: String?
    }

    var mountpoint: String
    var process: Int32
    var unsaved: [Unsaved]
    /// Since when the first of it could not be.
    private let since: UInt64?

    enum CodingKeys: String, CodingKey { case mountpoint, process, unsaved }

    init(_ mount: RunningMount) {
      since = mount.report.unsaved.first?.since
      mountpoint = mount.mountpoint.string
      process = mount.process
      unsaved = mount.report.unsaved.map {
        Unsaved(
          reason: Self.reason($0.errno), since: DateText.utc(milliseconds: $0.since),
          member: $0.member.hex, record: $0.record?.hex)
      }
    }

    /// A member that may not be changed any more looks to programs like a disk that may only be read.
    private static func reason(_ errno: Int32) -> String {
      errno == EROFS
        ? "your access to the member has ended, or you may only read it now, or the vault's disk is read-only"
        : CommandError.describe(errno)
    }

    /// Nil when all is saved.
    var warning: String? {
      guard let first = unsaved.first, let since else { return nil }
      return
        "\(Terminal.visible(mountpoint)) has changes since \(DateText.local(milliseconds: since)) that cannot be "
        + "saved: \(first.reason). They are shown, and tried again every second; what was saved before is safe."
    }
  }

  /// What a sync has found.
  struct TamperingRow: Encodable {
    var kind: String
    var remote: String
    var path: String
    var since: String
    var last: String

    init(_ finding: TamperingMemory.Finding) {
      kind = finding.kind
      remote = finding.remote
      path = finding.path
      since = DateText.utc(milliseconds: finding.first)
      last = DateText.utc(milliseconds: finding.last)
    }
  }

  /// What a mount could not do while nobody looked, and has not done since.
  struct Failure: Encodable {
    var work: String
    var what: String
    var kind: String
    var cause: String
    var member: String?
    var since: String
    var last: String
    var count: UInt64
    var advice: String

    init(_ failure: KeptFailure) {
      work = failure.work.rawValue
      what = failure.what
      kind = failure.kind
      cause = failure.cause
      member = failure.member
      since = DateText.utc(milliseconds: failure.first)
      last = DateText.utc(milliseconds: failure.last)
      count = failure.count
      advice = failure.advice
    }
  }

  var folder: String
  var vault: String
  var knowsThisMachine: Bool
  var isUnlocked: Bool
  var locksIn: String?
  var mounts: [MountPlace]
  /// The newest first.
  var failures: [Failure]
  var byteCount: UInt64
  var fileCount: Int
  /// What this machine has made of the records, in bytes.
  var derivedByteCount: UInt64
  var contents: Contents?
  var remotes: [RemoteStatus]
  /// What syncs have found and nobody has acknowledged.
  var tampering: [TamperingRow]
  private let tamperingText: String?
  private let failureText: String?
  private let logPlace: String

  enum CodingKeys: String, CodingKey {
    case folder, vault, knowsThisMachine, isUnlocked, locksIn, mounts, failures, byteCount,
      fileCount, derivedByteCount, contents, remotes, tampering
  }

  static func load(folder: FilePath) throws -> StatusReport {
    let id = try Vault.describe(folder: folder).vault
    let stateFolder = Environment.stateRoot.appending(id.hex)
    let knowsThisMachine = Glibc.access(stateFolder.appending("device").string, F_OK) == 0
    let (fileCount, byteCount) = FolderSize.measure(folder)
    let state =
      knowsThisMachine ? try StateFolder.open(root: Environment.stateRoot, vault: id) : nil
    let kept = try failures(in: stateFolder, state)
    let found = try state?.tampering() ?? TamperingMemory()
    var report = StatusReport(
      folder: folder.string, vault: id.hex, knowsThisMachine: knowsThisMachine, isUnlocked: false,
      mounts: try MountRegistry.runningMounts(stateFolder: stateFolder).map(MountPlace.init),
      failures: kept.map(Failure.init), byteCount: byteCount, fileCount: fileCount,
      derivedByteCount: try state?.derivedByteCount() ?? 0, remotes: try RemoteStatus.all(of: id),
      tampering: found.open.map(TamperingRow.init), tamperingText: SignInNotes.warning(of: found),
      failureText: Self.first(of: kept), logPlace: MountLog.place(of: id))
    try report.look(into: folder, id)
    return report
  }

  /// What failed and has not succeeded since, the newest first.
  private static func failures(
    in folder: FilePath, _ state: StateFolder?
  ) throws -> [KeptFailure] {
    let kept = FailureFile(stateFolder: folder).load().sorted { $0.last > $1.last }
    guard let state, kept.contains(where: { $0.work == .redo }) else { return kept }
    // A command may have brought in what no mount could, or a person have removed it, and no mount has looked since.
    let waiting = try Set(state.membersWithRedoFiles().map(\.hex))
    return kept.filter { failure in
      guard failure.work == .redo, let member = failure.member else { return true }
      return waiting.contains(member)
    }
  }

  /// The newest failure; or that the folder is older than it was, which the others may come of.
  ///
  /// - Parameter kept: The newest first.
  private static func first(of kept: [KeptFailure]) -> String? {
    guard let text = (kept.first { $0.kind == "rolledBack" } ?? kept.first)?.text else {
      return nil
    }
    if kept.count == 1 { return text }
    return (text.hasSuffix(".") ? text : text + ".")
      + " And \(counted(kept.count - 1, "other failure"))."
  }

  /// Adds what the vault holds where it is unlocked, and what waits for a sync.
  private mutating func look(into folder: FilePath, _ id: VaultID) throws {
    guard knowsThisMachine, let key = try SessionKeys.load(vault: id),
      try UnlockSlots(of: .here(in: folder)).opensDevice(key)
    else {
      let heads = try Vault.headCounters(in: folder, device: Self.device(in: folder))
      for position in remotes.indices { remotes[position].count(pendingAmong: heads) }
      return
    }
    isUnlocked = true
    locksIn = SessionKeys.timeLeft(vault: id)
    // Looking is no access to any record, so it is not noted, and nothing is written.
    let opened = try Vault.open(
      .here(in: folder), key: key, options: OpenOptions(readOnly: true))
    contents = try Contents.load(of: opened)
    for position in remotes.indices { remotes[position].complete(by: opened) }
  }

  /// This machine's device; nil where it has none, or a file of it of which unlocking says what is wrong.
  private static func device(in folder: FilePath) -> VaultModel.DeviceID? {
    do {
      let copy = try VaultCopy.here(in: folder)
      return try copy.state.owner(in: copy.id).device
    } catch {
      return nil
    }
  }

  /// What a search does not look into. Starts the program that tells, so only whoever reads it asks.
  private static func textOfSearch() -> String? {
    let found = "PDFs are found by their names alone: kinvault-render-pdf"
    guard let renderer = Renderer.installed() else {
      return "\(found), which reads them, is not installed beside this program"
    }
    return renderer.canReadPDFs() ? nil : "\(found), which reads them, cannot be run here"
  }

  func print() {
    var lines = [("Vault", Terminal.visible(folder)), ("Id", vault)]
    lines.append(("State", state))
    lines.append(
      ("Mounted at", mounts.isEmpty ? "nowhere" : mounts.map(\.mountpoint).joined(separator: ", ")))
    lines += mounts.compactMap(\.warning).map { ("Not saved", $0) }
    if let failureText {
      lines += [("Failed", failureText), ("Log", logPlace)].map { ($0, Terminal.visible($1)) }
    }
    lines += contents?.lines ?? []
    if let tamperingText { lines.append(("Tampering", tamperingText)) }
    for remote in remotes { lines.append(("Remote", "\(remote.name): \(remote.text)")) }
    lines.append(("On disk", "\(ByteCount.text(byteCount)) in \(counted(fileCount, "file"))"))
    if derivedByteCount > 0 {
      let size = ByteCount.text(derivedByteCount)
      lines.append(("Derived", "\(size) for searching; to remove it: kinvault derived clear"))
    }
    if let searchText = Self.textOfSearch() { lines.append(("Search", searchText)) }
    for (name, value) in lines {
      Terminal.writeLine(DisplayWidth.pad(name + ":", to: 12) + value)
    }
  }

  private var state: String {
    if !knowsThisMachine { return "this machine has no key yet (kinvault recover)" }
    guard isUnlocked else { return "locked" }
    return locksIn.map { "unlocked, locks itself in \($0) without use" } ?? "unlocked"
  }
}
