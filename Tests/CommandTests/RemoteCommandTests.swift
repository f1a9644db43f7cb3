import Glibc
import SystemPackage
import TestSupport
import Testing

/// Remotes, as a person uses them: what each command does and what it says.
@Suite struct RemoteCommandTests {
  private let desk: Machine
  private let laptop: Machine
  private let usb: String

  init() throws {
    let program = try Program.withVault()
    desk = Machine(first: program)
    laptop = Machine("laptop", beside: program)
    usb = program.folder.appending("usb").string
  }

  /// The laptop has a copy, too; it shows one record, Visit.
  private func cloned() throws {
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    let result = try laptop.clone(usb, "--name", "usb")
    #expect(result.output.contains("1 member with 2 records and folders in"))
  }

  @Test func aSyncOfSeveralSaysOnceWhichOneFailedAndWhy() throws {
    let disk = desk.program.folder.appending("disk").string
    for (name, place) in [("disk", disk), ("usb", usb)] {
      try desk.run("remote", "add", name, place, expecting: 0)
    }
    try desk.run("sync", expecting: 0)
    #expect(rename(usb, usb + " away") == 0)
    let failed = try desk.run("sync", expecting: 14)
    let lines = failed.output.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("disk: ") }, "\(lines)")
    let line = try #require(lines.first { $0.hasPrefix("usb: failed. ") }, "\(lines)")
    let reason = line.dropFirst("usb: failed. ".count)
    #expect(!reason.isEmpty && !failed.errors.contains(reason), "\(failed.errors)")
    #expect(failed.errors.contains("kinvault: Not synced: usb.\n"), "\(failed.errors)")
    // Of one alone it is said where a command says why it failed.
    #expect(try desk.run("sync", "usb", expecting: 14).errors.contains(reason))
  }

  @Test func whatIsNoPartOfAVaultIsToldAgainOnceItWasGone() throws {
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    func inHeads(_ command: String) throws {
      let script = "for f in '\(usb)'/members/*/heads; do \(command) \"$f/notes.txt\"; done"
      #expect(try CommandRunner.run("sh", ["-c", script]).status == 0)
    }
    func isTold() throws -> Bool {
      try desk.run("sync", expecting: 0).output.contains("It is no part of a vault")
    }
    for _ in 0..<2 {
      try inHeads("touch")
      #expect(try isTold())
      #expect(try !isTold())
      try inHeads("rm")
      #expect(try !isTold())
    }
  }

  /// Nobody can do anything about it, and it goes in a week.
  @Test func whatAnInterruptedSyncLeftIsToldOnce() throws {
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    func leave(_ digits: String) throws {
      let name = ".x.tmp-\(time(nil))-\(digits)"
      let made = try CommandRunner.run(
        "sh", ["-c", "for f in '\(usb)'/members/*/heads; do touch \"$f/\(name)\"; done"])
      #expect(made.status == 0, "\(made.errors)")
    }
    func isTold() throws -> Bool {
      try desk.run("sync", expecting: 0).output.contains("There is nothing to do: it is ignored")
    }
    for digits in ["0000000a", "0000000b"] {
      try leave(digits)
      #expect(try isTold(), "\(digits)")
      for _ in 0..<2 { #expect(try !isTold(), "\(digits)") }
    }
    // Programs are given all of it.
    let lines = try desk.run("sync", "--json", expecting: 0).output.split(separator: "\n")
    #expect(lines.count { $0.contains("foreignFile") } == 2)
  }

  @Test func aCloneSaysOnceWhyItsSyncFailed() throws {
    try cloned()
    // A folder stands where the machine remembers what it has seen of the remote.
    let made = try CommandRunner.run(
      "sh", ["-c", "f=\"$(find '\(laptop.state)' -name usb.state)\" && rm \"$f\" && mkdir \"$f\""])
    #expect(made.status == 0, "\(made.errors)")
    let failed = try laptop.run(
      "clone", usb, laptop.vault, "--name", "usb", "--password-file", desk.program.passwordFile,
      expecting: 5)
    #expect(failed.errors.contains("remotes/usb.state"), "\(failed.errors)")
    #expect(!failed.output.contains("remotes/usb.state"), "\(failed.output)")
  }

  @Test func aRemoteThatIsDamagedHereHidesNothingAndIsAddedAnew() throws {
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    _ = try CommandRunner.run(
      "sh", ["-c", "echo torn > \"$(find '\(desk.state)' -name usb.remote)\""])
    #expect(try desk.run("record", "list", expecting: 0).output.contains("Visit"))
    let way = "kinvault remote remove usb, and then kinvault remote add usb ADDRESS"
    #expect(try desk.run("status", expecting: 0).output.contains(way))
    #expect(try desk.run("remote", "list", expecting: 0).errors.contains(way))
    #expect(try desk.run("sync", expecting: 5).errors.contains(way))
    try desk.run("remote", "remove", "usb", expecting: 0)
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    #expect(try desk.run("sync", expecting: 0).output.contains("in sync, nothing to do."))
  }

  @Test func aDoorbellIsSetShownAndTakenAwayAndADeadOneHoldsNothingUp() throws {
    try desk.run("remote", "add", "usb", usb, "--doorbell", "ntfy.example.org", expecting: 2)
    // Nobody listens at this port.
    let dead = "http://127.0.0.1:9"
    try desk.run("remote", "add", "usb", usb, "--doorbell", dead, expecting: 0)
    #expect(try desk.run("remote", "doorbell", "usb", expecting: 0).output == "\(dead)\n")
    let synced = try desk.run("sync", expecting: 0)
    #expect(synced.output.contains("doorbell: It could not be rung, so that other machines see"))
    #expect(synced.output.contains("Connection refused"))
    // With nothing put there is nothing to ring for.
    #expect(try !desk.run("sync", expecting: 0).output.contains("doorbell"))
    let set = try desk.run("remote", "doorbell", "usb", "https://ntfy.example.org/", expecting: 0)
    #expect(set.output.hasPrefix("The doorbell of usb is https://ntfy.example.org. Set the same"))
    for wrong in [
      "https://anna:secret@ntfy.example.org", "ftp://a.b", "https://a.b/?x=1", "https://",
    ] {
      let refused = try desk.run("remote", "doorbell", "usb", wrong, expecting: 2)
      #expect(!refused.errors.contains("Fatal"))
    }
    try desk.run("remote", "doorbell", "usb", dead, "--off", expecting: 2)
    #expect(
      try desk.run("remote", "doorbell", "usb", "--off", expecting: 0).output
        == "The remote usb has no doorbell any more.\n")
    #expect(
      try desk.run("remote", "doorbell", "usb", expecting: 0).output
        == "The remote usb has no doorbell.\n")
    try desk.run("remote", "doorbell", "nas", expecting: 6)
  }

  @Test func aRemoteIsAddedListedTriedAndForgotten() throws {
    let none = try desk.run("sync", expecting: 6)
    #expect(none.errors.contains("This vault has no remotes yet. Add one: kinvault remote add"))
    #expect(try desk.run("remote", "list", expecting: 0).output.hasPrefix("No remotes yet."))
    let added = try desk.run("remote", "add", "usb", usb, expecting: 0)
    #expect(added.errors.contains("It is empty; the first sync fills it."))
    #expect(added.output == "Added the remote usb. To sync: kinvault sync\n")
    let again = try desk.run("remote", "add", "usb", usb + "2", expecting: 11)
    #expect(again.errors.contains("usb"))
    // Nothing was made for it, nor tried.
    #expect(access(usb + "2", F_OK) != 0 && !again.errors.contains("can be used"))
    try desk.run("remote", "add", "Not A Name", usb, expecting: 2)
    let own = try desk.run("remote", "add", "own", desk.vault + "/copy", expecting: 10)
    #expect(own.errors.contains("A remote is a copy elsewhere."))
    let photos = desk.program.folder.appending("photos").string
    #expect(mkdir(photos, 0o700) == 0)
    try desk.program.write("x", to: photos + "/beach.jpg")
    let strange = try desk.run("remote", "add", "photos", photos, expecting: 10)
    #expect(strange.errors.contains("“beach.jpg”"))

    let listed = try desk.run("remote", "list", expecting: 0).output.split(separator: "\n")
    #expect(listed.count == 2)
    #expect(listed[1].hasPrefix("usb") && listed[1].contains(usb) && listed[1].contains("never"))
    let json = try desk.run("remote", "list", "--json", expecting: 0).output
    #expect(json.contains("\"name\" : \"usb\"") && !json.contains("\"lastSync\" : \""))
    #expect(try desk.run("remote", "test", "usb", expecting: 0).output.contains("can be used"))
    let unknown = try desk.run("remote", "test", "nas", expecting: 6)
    #expect(unknown.errors.contains("There is no remote “nas”. To see all: kinvault remote list"))

    try desk.run("sync", expecting: 0)
    #expect(
      try desk.run("remote", "test", "usb", expecting: 0).output.contains("It holds this vault."))
    let removed = try desk.run("remote", "remove", "usb", expecting: 0)
    #expect(removed.output.contains("The vault's copy there is untouched."))
    #expect(access(usb + "/vault.json", F_OK) == 0)
    try desk.run("remote", "remove", "usb", expecting: 6)
    // Forgotten, not deleted: it can be added again.
    let back = try desk.run("remote", "add", "usb", usb, expecting: 0)
    #expect(back.errors.contains("It holds this vault."))
  }

  /// What this machine keeps in its state of what it fetched while it was locked.
  private func incoming(_ machine: Machine) throws -> String {
    try CommandRunner.run(
      "sh", ["-c", "cd \"$1\" && find kinvault/*/incoming -type f", "", machine.state]
    )
    .output
  }

  /// A record that the desk has sent, and the laptop has fetched while it was locked.
  private func fetchedWhileLocked(_ title: String) throws {
    try desk.write("two", titled: title)
    try desk.run("sync", expecting: 0)
    try laptop.run("lock", expecting: 0)
    let fetched = try laptop.run(
      "sync", environment: ["KINVAULT_PASSWORD_FILE": ""], expecting: 0)
    #expect(fetched.errors.contains("The vault is locked: "), "\(fetched.errors)")
    #expect(try incoming(laptop).contains("incoming/usb/members/"))
  }

  @Test func whatWasFetchedAndNotTakenIsAskedForBeforeItsRemoteIsForgotten() throws {
    try cloned()
    try fetchedWhileLocked("New")
    let asked = try laptop.run("remote", "remove", "usb", expecting: 10)
    #expect(asked.errors.contains("is not in the vault yet"), "\(asked.errors)")
    #expect(asked.errors.contains("kinvault sync usb"), "\(asked.errors)")
    #expect(try laptop.run("remote", "list", expecting: 0).output.contains(usb))
    // What it says to do takes it, though the remote is gone by then.
    #expect(rename(usb, usb + " away") == 0)
    try laptop.run("sync", "usb")
    #expect(try laptop.run("record", "list", expecting: 0).output.contains("New"))
    try laptop.run("remote", "remove", "usb", expecting: 0)
    #expect(try incoming(laptop) == "")
    try laptop.expectWhole()
  }

  /// Only the last one may be all that has them.
  @Test func whoForgetsWhereAttachmentsWereLeftIsTold() throws {
    let disk = desk.program.folder.appending("disk").string
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    try laptop.clone(usb, "--name", "usb", "--lazy")
    try laptop.run("remote", "add", "disk", disk, expecting: 0)
    let first = try laptop.run("remote", "remove", "disk", expecting: 0)
    #expect(!first.errors.contains("attachments"), "\(first.errors)")
    let last = try laptop.run("remote", "remove", "usb", expecting: 0)
    #expect(last.errors.contains("attachments that were left there"), "\(last.errors)")
    // Nothing is left anywhere by a machine that has everything.
    let whole = try desk.run("remote", "remove", "usb", expecting: 0)
    #expect(!whole.errors.contains("attachments"), "\(whole.errors)")
  }

  @Test func whatIsToBeForgottenGoesWithItsRemote() throws {
    try cloned()
    try fetchedWhileLocked("New")
    try laptop.run("remote", "remove", "usb", "--yes", expecting: 0)
    #expect(try incoming(laptop) == "")
    #expect(try !laptop.run("record", "list", expecting: 0).output.contains("New"))
    // It stands there, and comes again.
    try laptop.run("remote", "add", "usb", usb, expecting: 0)
    try laptop.run("sync", expecting: 0)
    #expect(try laptop.run("record", "list", expecting: 0).output.contains("New"))
  }

  /// What is left of what came here by another way goes without a question.
  @Test func whatHasComeByAnotherWayIsForgottenWithItsRemote() throws {
    try cloned()
    try fetchedWhileLocked("New")
    let copied = try CommandRunner.run("cp", ["-a", "\(desk.vault)/.", laptop.vault])
    try #require(copied.status == 0)
    try laptop.run("remote", "remove", "usb", expecting: 0)
    #expect(try incoming(laptop) == "")
    #expect(try laptop.run("record", "list", expecting: 0).output.contains("New"))
  }

  /// A mount in the background syncs by itself, often just when its user asks for it.
  @Test func aSyncWaitsForAnotherOne() throws {
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    let result = try whileAnotherSyncs("sync")
    #expect(result.errors == Self.waits)
    #expect(result.output == "usb: in sync, nothing to do.\n")
    #expect(try desk.run("sync", expecting: 0).errors.isEmpty)
  }

  /// What the device has sent there last would be left out of what counts of it.
  @Test func removingADeviceWaitsForAnotherSync() throws {
    try cloned()
    try laptop.write("sent last", titled: "Kept")
    try laptop.run("sync", expecting: 0)
    let revoked = try whileAnotherSyncs(
      "device", "revoke", "laptop", "--words-file", desk.program.wordsFile, "--yes")
    #expect(revoked.errors.contains(Self.waits))
    #expect(!revoked.errors.contains("is left out"), "\(revoked.errors)")
    #expect(try desk.run("record", "list", expecting: 0).output.contains("Kept"))
  }

  private static let waits = "usb: Another program is syncing it right now; waiting for that one.\n"

  /// Runs a command of the desk, while another of its programs syncs with the remote "usb": until the command waits for that.
  private func whileAnotherSyncs(_ arguments: String...) throws -> CommandResult {
    let vault = try #require(
      try desk.run("status", "--json", expecting: 0).output
        .firstMatch(of: /"vault" : "([0-9a-f]+)"/)?.1)
    let remotes = desk.program.folder.appending("state/kinvault/\(vault)/remotes").string
    let syncing = desk.program.folder.appending("syncing").string
    let other = try RunningCommand(
      "flock",
      [
        "\(remotes)/usb.lock", "sh", "-c",
        "touch '\(syncing)'; while [ -e '\(syncing)' ]; do sleep 0.1; done",
      ], environment: desk.environment)
    while access(syncing, F_OK) != 0, !other.hasEnded() { usleep(10_000) }
    let running = try RunningCommand(
      "setsid", ["-w", Program.executable] + arguments, environment: desk.environment)
    try wait("the command waits") {
      running.errorsSoFar.contains(Self.waits) || running.hasEnded()
    }
    #expect(unlink(syncing) == 0)
    #expect(other.wait().status == 0)
    let result = running.wait()
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    return result
  }

  @Test func aDryRunNamesWhatTheSyncThenMoves() throws {
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    let dry = try desk.run("sync", "--dry-run", expecting: 0).output
    #expect(dry.hasPrefix("usb: would put "))
    #expect(dry.contains("→ Emma/Notes/2025-01-20 Visit  (new)\n"), "\(dry)")
    let moves = try desk.run("sync", "--dry-run", "--json", expecting: 0).output
    #expect(moves.contains("\"vault.json\"") && moves.contains("/heads/"), "\(moves)")
    #expect(access(usb + "/vault.json", F_OK) != 0)
    let planned = moves.split(separator: "\n").filter { $0.contains("\"bytes\"") }.count
    let json = try desk.run("sync", "--json", expecting: 0).output
    #expect(json.contains("\"pushedFiles\" : \(planned)"), "\(json)")
    #expect(json.contains("\"state\" : \"synced\"") && json.contains("\"remote\" : \"usb\""))
    #expect(try desk.run("sync", expecting: 0).output == "usb: in sync, nothing to do.\n")
    try desk.run("sync", "--pull", "--push", expecting: 2)
    try desk.run("sync", "--watch", "--dry-run", expecting: 2)
    try desk.run("sync", "nas", expecting: 6)
  }

  @Test func statusSaysHowItStandsWithEachRemote() throws {
    func remoteLine() throws -> String {
      let lines = try desk.run("status", expecting: 0).output.split(separator: "\n")
      return try String(#require(lines.first { $0.hasPrefix("Remote:") }))
    }
    // So that what is inside can be counted.
    try desk.run("unlock", expecting: 0)
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    #expect(try remoteLine().hasSuffix("never synced"))
    try desk.run("sync", expecting: 0)
    #expect(try remoteLine().contains("usb: synced, last sync 20"))
    try desk.write("one", titled: "Visit")
    try desk.write("two", titled: "Other")
    #expect(try remoteLine().contains("usb: 2 changes pending, last sync 20"))
    #expect(
      try desk.run("status", "--json", expecting: 0).output.contains("\"state\" : \"pending\""))

    // The disk is pulled out.
    #expect(rename(usb, usb + " away") == 0)
    let failed = try desk.run("sync", expecting: 14)
    #expect(failed.errors.contains("the folder is not there"), "\(failed.errors)")
    #expect(try remoteLine().contains("usb: failed since 20"))
    for _ in 0..<5 { try desk.run("sync", expecting: 14) }
    let line = try remoteLine()
    #expect(line.contains("failed 6 times in a row since 20"))
    #expect(line.contains("This does not go away by itself."), "\(line)")
    #expect(line.contains("2 changes pending") && line.contains("last sync 20"))
    let json = try desk.run("status", "--json", expecting: 0).output
    #expect(json.contains("\"failures\" : 6") && json.contains("\"state\" : \"error\""))

    #expect(rename(usb + " away", usb) == 0)
    try desk.run("sync", expecting: 0)
    #expect(try remoteLine().contains("usb: synced, last sync 20"))
    try desk.run("lock", expecting: 0)
    #expect(try remoteLine().contains("usb: synced, last sync 20"))
    for number in 1...3 { try desk.write("later", titled: "Later \(number)") }
    #expect(try remoteLine().contains("usb: 3 changes pending, last sync 20"))
  }

  @Test func aConflictIsListedShownAndDecidedOnEitherMachine() throws {
    try cloned()
    #expect(try desk.run("conflicts", "list", expecting: 0).output == "No conflicts.\n")
    try desk.replace("one", by: "desk", in: "Emma/Notes/2025-01-20 Visit")
    usleep(1_100_000)
    try laptop.replace("one", by: "laptop", in: "Emma/Notes/2025-01-20 Visit")
    for machine in [desk, laptop, desk] { try machine.run("sync", expecting: 0) }
    for machine in [desk, laptop] {
      let lines = try machine.run("conflicts", "list", expecting: 0).output.split(separator: "\n")
      try #require(lines.count == 3)
      #expect(lines[1].contains("Emma/") && lines[1].contains("record.md"))
      #expect(!lines[1].contains("laptop"), "the version of the desk lost: \(lines[1])")
    }
    let id = String(
      try desk.run("conflicts", "list", expecting: 0).output.split(separator: "\n")[1].prefix(8))
    let shown = try laptop.run("conflicts", "show", id, expecting: 0).output
    #expect(shown.hasPrefix("Written on ") && shown.contains("\nNow:\n"))
    #expect(shown.contains("desk") && shown.contains("laptop"))
    try desk.run("unlock", expecting: 0)
    #expect(try desk.run("status", expecting: 0).output.contains("Conflicts:  1 conflict"))
    let unknown = try laptop.run("conflicts", "show", "ffffffff", expecting: 6)
    #expect(unknown.errors.contains("To see all: kinvault conflicts list"))
    try laptop.run("conflicts", "resolve", id, expecting: 2)
    let decided = try laptop.run("conflicts", "resolve", id, "--take-back", expecting: 0).output
    #expect(decided.contains("has this version's files again."))
    for machine in [laptop, desk] {
      try machine.run("sync", expecting: 0)
      #expect(try machine.run("conflicts", "list", expecting: 0).output == "No conflicts.\n")
      let record = try machine.run("record", "show", "Emma/Notes/2025-01-20 Visit", expecting: 0)
        .output
      let lines = record.split(separator: "\n")
      let author = try #require(lines.first { $0.hasPrefix("Changed last: ") })
      #expect(author.hasSuffix("signed by laptop."))
      let note = lines.filter { $0 != author }.joined(separator: "\n")
      #expect(note.contains("desk") && !note.contains("laptop"))
    }
  }

  @Test func aLazyCloneFetchesAndEvicts() throws {
    try desk.write("note", titled: "Scans")
    try desk.attach("scan.jpg", byteCount: 3_000_000, to: "Emma/Notes/2025-01-20 Scans")
    try cloned2Records("--lazy")
    func size() throws -> Int {
      let listed = try CommandRunner.run("du", ["-sk", laptop.vault]).output
      return try #require(listed.split(separator: "\t").first.flatMap { Int($0) })
    }
    #expect(try size() < 1500)
    let fetched = try laptop.run("fetch", "Emma/Notes/2025-01-20 Scans", expecting: 0)
    #expect(fetched.output.hasPrefix("Brought 3.1 MB here"), "\(fetched.output)")
    #expect(try size() > 2900)
    #expect(
      try laptop.run("fetch", "Emma/Notes/2025-01-20 Scans", expecting: 0).output
        == "Everything was here already.\n"
    )
    let evicted = try laptop.run("evict", expecting: 0)
    #expect(evicted.output.hasPrefix("Removed 3.1 MB from this machine."), "\(evicted.output)")
    #expect(try size() < 1500)
    try laptop.run("fetch", "Emma/Notes/2025-01-20 Scans", "--keep", expecting: 0)
    #expect(try laptop.run("evict", expecting: 0).output.hasPrefix("Removed 0 B"))
    try laptop.run("evict", "Emma/Notes/2025-01-20 Scans", "--no-keep", expecting: 0)

    // A remote that cannot be asked may have everything.
    try laptop.run("fetch", "Emma/Notes/2025-01-20 Scans", expecting: 0)
    #expect(rename(usb, usb + " away") == 0)
    let stayed = try laptop.run("evict", expecting: 1).output
    #expect(stayed.hasPrefix("Removed 0 B") && stayed.contains("can be asked"), "\(stayed)")
    #expect(!stayed.contains("surely"), "\(stayed)")
    #expect(rename(usb + " away", usb) == 0)
    let gone = try laptop.run("evict", expecting: 0).output
    #expect(gone.hasPrefix("Removed 3.1 MB"), "\(gone)")
    #expect(rename(usb, usb + " away") == 0)
    let away = try laptop.run("fetch", "Emma/Notes/2025-01-20 Scans")
    #expect(away.status == 14, "\(away.errors)")
    // Notes are here all the same.
    #expect(
      try laptop.run("record", "show", "Emma/Notes/2025-01-20 Scans", expecting: 0).output.contains(
        "note"))
    // On a machine that has everything there is nothing to fetch or to evict.
    for command in ["fetch", "evict"] {
      let refused = try desk.run(command)
      #expect(refused.status != 0 || !refused.output.isEmpty)
    }
  }

  private func cloned2Records(_ option: String) throws {
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    try laptop.clone(usb, "--name", "usb", option)
  }

  /// A sentence of 200 letters stood behind each of them.
  @Test func whatAnExportLacksForOneReasonIsToldWithItOnce() throws {
    let names = ["a.jpg", "b.jpg", "c.jpg"]
    try desk.write("note", titled: "Scans")
    for name in names {
      try desk.attach(name, byteCount: 1_000_000, to: "Emma/Notes/2025-01-20 Scans")
    }
    try cloned2Records("--lazy")
    try #require(rename(usb, usb + " away") == 0)
    let out = laptop.program.folder.appending("out").string
    let told = try laptop.run("export", "Emma", out, "--yes", expecting: 14).errors
    #expect(told.contains("3 files or folders were left out."), "\(told)")
    for name in names { #expect(told.contains("2025-01-20 Scans/\(name)\n"), "\(told)") }
    // With all of them, and as what the command ends with.
    #expect(told.matches(of: /It can be read once/).count == 2, "\(told)")
  }

  @Test func aServerThatIsNotThereIsNamedAndSoIsAFolderThatWasAVault() throws {
    // Nobody listens at this port.
    let dead = "http://127.0.0.1:9/family"
    let refused = try desk.run("remote", "add", "cloud", dead, expecting: 14).errors
    #expect(refused.contains("127.0.0.1, port 9: Connection refused"), "\(refused)")
    try #require(rename(desk.vault, desk.vault + " away") == 0)
    let gone = try desk.run("member", "list", expecting: 6).errors
    #expect(gone.contains("If it was here") && gone.contains("kinvault clone ADDRESS"), "\(gone)")
  }

  @Test func devicesAreListedWithTheirNamesEverywhere() throws {
    try cloned()
    try desk.run("sync", expecting: 0)
    let listed = try desk.run("device", "list", expecting: 0).output.split(separator: "\n")
    #expect(listed.count == 3)
    #expect(listed.count { $0.contains("(this one)") } == 1)
    #expect(listed.contains { $0.contains("laptop") && !$0.contains("(this one)") })
    let renamed = try laptop.run("device", "rename", "Kitchen laptop", expecting: 0)
    #expect(renamed.output == "This device is now called Kitchen laptop.\n")
    try laptop.run("device", "rename", "", expecting: 2)
    try laptop.run("device", "rename", "two\nlines", expecting: 2)
    for machine in [laptop, desk] { try machine.run("sync", expecting: 0) }
    let json = try desk.run("device", "list", "--json", expecting: 0).output
    #expect(json.contains("\"name\" : \"Kitchen laptop\"") && !json.contains("\"laptop\""))
  }

  @Test func watchingADirectoryBringsChangesAtOnce() throws {
    try cloned()
    let watching = try laptop.start("sync", "--watch")
    defer { watching.signal(SIGKILL) }
    try wait("the watch begins") { watching.errorsSoFar.contains("Watching this vault and usb.") }
    try desk.write("new", titled: "New")
    try desk.run("sync", expecting: 0)
    try wait("what the desk wrote is here") {
      try laptop.run("record", "list").output.contains("New")
    }
    try laptop.write("back", titled: "Answer")
    try wait("what was written here is on the remote") {
      try desk.run("sync", expecting: 0)
      return try desk.run("record", "list").output.contains("Answer")
    }
    watching.signal(SIGTERM)
    let end = watching.wait()
    #expect(end.status == 0, "\(end.errors)")
    #expect(end.output.contains("usb: took ") && end.output.contains("record"))
  }

  private func wait(_ what: String, until isSo: () throws -> Bool) throws {
    for _ in 0..<1200 {
      if try isSo() { return }
      usleep(100_000)
    }
    Issue.record("it takes more than two minutes until \(what)")
  }

  /// The root of a stick is a folder of one's own, whatever file system it has.
  @Test(arguments: [
    ["lost+found"], ["System Volume Information", ".Trash-1000"], ["$RECYCLE.BIN", ".fseventsd"],
  ])
  func aFreshStickIsEmpty(folders: [String]) throws {
    #expect(mkdir(usb, 0o755) == 0)
    for folder in folders { #expect(mkdir("\(usb)/\(folder)", 0o700) == 0) }
    let added = try desk.run("remote", "add", "usb", usb, expecting: 0)
    #expect(added.errors.contains("It is empty; the first sync fills it."))
    try desk.run("sync", expecting: 0)
    #expect(try desk.run("sync", expecting: 0).output == "usb: in sync, nothing to do.\n")
    // With anything else beside these it is not.
    let other = desk.program.folder.appending("other").string
    for folder in ["", "/lost+found", "/photos"] { #expect(mkdir(other + folder, 0o755) == 0) }
    let refused = try desk.run("remote", "add", "other", other, expecting: 10)
    #expect(refused.errors.contains("“photos”"), "\(refused.errors)")
  }

  /// Until it is decided everybody is told how to go on; once it is, nobody is any more.
  @Test func aMassChangeIsAskedForOnce() throws {
    let hint = "To go on all the same: kinvault sync usb --accept-mass-change"
    try cloned()
    try desk.attachMany()
    for machine in [desk, laptop] { try machine.run("sync", expecting: 0) }
    try desk.removeMany()
    try desk.run("sync", expecting: 0)

    // A mount that syncs by itself stops there too: status, the log and whoever runs a command next tell of it.
    let place = desk.program.folder.appending("laptop's").string
    let (programs, notices) = (place + " programs", place + " notices")
    #expect(mkdir(programs, 0o700) == 0)
    try desk.program.write(
      "#!/bin/sh\necho \"$*\" >>\"\(notices)\"\n", to: "\(programs)/notify-send")
    #expect(chmod("\(programs)/notify-send", 0o700) == 0)
    let began = ContinuousClock.now
    try laptop.run(
      "mount", place,
      environment: ["KINVAULT_LOG": "file", "PATH": "\(programs):/usr/local/bin:/usr/bin:/bin"],
      expecting: 0)
    for _ in 0..<1800 where try !laptop.run("status", expecting: 0).output.contains(hint) {
      usleep(100_000)
    }
    #expect(try laptop.run("status", expecting: 0).output.contains(hint))
    // The desktop too, and there without a name.
    for _ in 0..<1800 where (try? desk.program.read(notices))?.isEmpty ?? true { usleep(100_000) }
    usleep(100_000)
    let noticed = String(decoding: try desk.program.read(notices), as: UTF8.self)
    #expect(noticed.hasSuffix(" Kinvault The family vault needs a look: kinvault status\n"))
    // No more than one in five minutes, which a machine with much else to do may need to come here.
    let minutes = (ContinuousClock.now - began).components.seconds / 60
    #expect(noticed.split(separator: "\n").count <= 1 + minutes / 5, "\(noticed)")
    let next = try laptop.run("record", "list", "--all", expecting: 0)
    #expect(next.errors.contains("The sync with usb has stopped."), "\(next.errors)")
    #expect(next.output.contains("Record 29"))
    let logged = try CommandRunner.run(
      "grep", ["-rh", "massChange", "--include=log", "\(laptop.state)/kinvault"])
    #expect(logged.output.contains("massChange"), "\(logged.errors)")
    try laptop.run("unmount", place, expecting: 0)
    let stopped = try laptop.run("sync", expecting: 1)
    #expect(stopped.output.contains("  \(hint)\n"), "\(stopped.output)")
    #expect(try laptop.run("status", expecting: 0).output.contains(hint))
    #expect(try laptop.run("record", "list", "--all", expecting: 0).output.contains("Record 29"))
    let accepted = try laptop.run("sync", "usb", "--accept-mass-change", expecting: 0)
    #expect(accepted.output.contains("records changed here"), "\(accepted.output)")
    #expect(!(accepted.output + accepted.errors).contains("--accept-mass-change"))
    for command in [["sync"], ["status"], ["record", "list", "--all"]] {
      let result = try CommandRunner.run(
        "setsid", ["-w", Program.executable] + command, environment: laptop.environment)
      #expect(result.status == 0, "\(result.errors)")
      #expect(!(result.output + result.errors).contains("--accept-mass-change"), "\(command)")
      #expect(!result.output.contains("Record 29"), "\(command)")
    }
  }

  @Test func aCloneSaysWhatIsWrong() throws {
    let empty = desk.program.folder.appending("empty").string
    #expect(mkdir(empty, 0o700) == 0)
    let none = try laptop.run(
      "clone", empty, laptop.vault, "--words-file", desk.program.wordsFile)
    #expect(none.status == 6 && none.errors.contains("There is no vault on the remote."))
    try cloned()
    let itself = try laptop.run("clone", usb, usb, "--words-file", desk.program.wordsFile)
    #expect(itself.status == 10 && itself.errors.contains("A remote is a copy elsewhere."))
    let other = Machine("other", beside: desk.program)
    try other.program.write("abandon ability able\n", to: empty + "/words")
    let wrong = try other.run(
      "clone", usb, other.vault, "--words-file", empty + "/words", "--password-file",
      other.program.passwordFile)
    #expect(wrong.status == 3, "\(wrong.status.map(String.init) ?? "") \(wrong.errors)")
    #expect(wrong.errors.contains("24"))
  }
}
