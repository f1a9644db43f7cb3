import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a mount in the background says of what nobody sees.
@Suite(.timeLimit(.minutes(60))) struct MountLogTests {
  private let program: Program
  private let mountpoint: String
  private let stick: String

  init() throws {
    program = try Program.withVault()
    mountpoint = program.folder.appending("Mountpoint-Familie").string
    stick = program.folder.appending("Stick-Wohnzimmer").string
  }

  private struct Status: Decodable {
    struct Failure: Decodable {
      var work: String
      var what: String
      var kind: String
      var member: String?
      var since: String
      var last: String
      var count: Int
      var advice: String
    }
    var vault: String
    var failures: [Failure]
  }

  private func status() throws -> Status {
    let output = try program.run("status", "--json", expecting: 0).standardOutput
    return try JSONDecoder().decode(Status.self, from: Data(output))
  }

  private var state: String {
    get throws { program.folder.appending("state/kinvault/\(try status().vault)").string }
  }

  private func mount(_ options: String...) throws {
    let result = try CommandRunner.run(
      "setsid", ["-w", Program.executable, "mount", mountpoint] + options,
      environment: program.environment.merging(["KINVAULT_LOG": "file"]) { $1 })
    #expect(result.status == 0, "\(result.errors)")
  }

  private func waitUntil(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<2400 {
      if try condition() { return true }
      usleep(50_000)
    }
    return false
  }

  /// Where commits take their lock no file can be opened.
  private func blockCommits() throws {
    let lock = try "\(state)/commit-lock"
    #expect(rename(lock, "\(lock).aside") == 0 && mkdir(lock, 0o700) == 0)
  }

  private func unblockCommits() throws {
    let lock = try "\(state)/commit-lock"
    #expect(rmdir(lock) == 0 && rename("\(lock).aside", lock) == 0)
  }

  @Test func aCommitThatFailsIsInTheStatusUntilItIsOver() throws {
    try mount()
    #expect(try status().failures.isEmpty)
    try blockCommits()
    try program.write("text", to: "\(mountpoint)/Emma/note.txt")
    #expect(try waitUntil { try status().failures.contains { $0.count > 3 } })
    let failure = try #require(try status().failures.first)
    #expect(failure.work == "commit" && failure.kind == "notABlob" || failure.kind == "damaged")
    #expect(failure.since <= failure.last && failure.since.hasPrefix("20"))
    #expect(failure.member?.count == 64)
    let text = try program.run("status", expecting: 0).output
    #expect(text.contains("Failed:"))
    #expect(text.contains("Saving changes in the vault failed "), "\(text)")
    #expect(text.contains(" times since "))
    // For people: in this machine's time, and no more of it than they read.
    #expect(!text.contains(failure.since))
    try unblockCommits()
    #expect(try waitUntil { try status().failures.isEmpty })
    #expect(try !program.run("status", expecting: 0).output.contains("Failed:"))
    try program.run("unmount", mountpoint, expecting: 0)
    let log = String(decoding: try program.read("\(state)/log"), as: UTF8.self)
    // Tried every second, it is one line with a count, and another that it is over.
    #expect(log.split(separator: "\n").count { $0.contains(" commit failed ") } == 1, "\(log)")
    #expect(log.contains(" commit works again count="))
    #expect(log.contains(" mount begins ") && log.contains(" mount ends"))
  }

  /// No mount has run since a command brought it in, or its person gave it up.
  @Test func whatWaitsNoMoreIsNotInTheStatus() throws {
    let members = try CommandRunner.run("ls", ["\(program.vault)/members"]).output
    let member = members.trimmingCharacters(in: .whitespacesAndNewlines)
    let now = UInt64(Date().timeIntervalSince1970 * 1000)
    let redo = try "\(state)/redo/\(String(repeating: "ab", count: 8))"
    #expect(try CommandRunner.run("mkdir", ["-p", redo]).status == 0)
    try program.write("", to: "\(redo)/lock")
    try program.write("x", to: "\(redo)/\(member)")
    try program.write(
      "failed redo viewersOnlyRead - \(member) \(now) \(now) 1\n", to: "\(state)/failures")
    #expect(try status().failures.map(\.work) == ["redo"])
    #expect(unlink("\(redo)/\(member)") == 0)
    #expect(try status().failures.isEmpty)
  }

  /// The words of the program are for the log.
  @Test(arguments: [
    "noDeviceHere", "notAVault", "forked", "keysDivided", "keysAwaited", "epochSpent", "notABlob",
  ])
  func aCauseIsToldInWords(kind: String) throws {
    let members = try CommandRunner.run("ls", ["\(program.vault)/members"]).output
    let member = members.trimmingCharacters(in: .whitespacesAndNewlines)
    let now = UInt64(Date().timeIntervalSince1970 * 1000)
    try program.write(
      "failed commit \(kind) - \(member) \(now) \(now) 1\n", to: "\(state)/failures")
    #expect(try status().failures.map(\.kind) == [kind])
    let text = try program.run("status", expecting: 0).output
    #expect(text.contains("Saving changes in the vault failed"), "\(text)")
    #expect(!text.contains(kind), "\(text)")
  }

  /// Unmounting sends to the status, so that is where the way out stands.
  @Test func ofAnOlderFolderTheStatusSaysTheWayOut() throws {
    let members = try CommandRunner.run("ls", ["\(program.vault)/members"]).output
    let member = members.trimmingCharacters(in: .whitespacesAndNewlines)
    let now = UInt64(Date().timeIntervalSince1970 * 1000)
    try program.write(
      "failed commit rolledBack - \(member) \(now) \(now) 1\n", to: "\(state)/failures")
    let text = try program.run("status", expecting: 0).output
    #expect(text.contains("kinvault unmount --lazy MOUNTPOINT"), "\(text)")
    #expect(text.contains("kinvault mount --accept-rollback MOUNTPOINT"), "\(text)")
  }

  /// What failed by it may not be done again for days.
  @Test func thatTheFolderIsOlderGoesOnceThatIsAccepted() throws {
    let now = UInt64(Date().timeIntervalSince1970 * 1000)
    try program.write(
      "failed thinning rolledBack - - \(now) \(now) 1\nfailed traces notCleaned - - 1 \(now - 5000) 1\n",
      to: "\(state)/failures")
    try program.run("record", "list", expecting: 0)
    #expect(try status().failures.map(\.kind) == ["rolledBack", "notCleaned"])
    try program.run("record", "list", "--accept-rollback", expecting: 0)
    #expect(try status().failures.map(\.kind) == ["notCleaned"])
  }

  /// What else fails may come of it, and then its own way out helps against nothing.
  @Test func thatTheFolderIsOlderIsToldFirst() throws {
    let members = try CommandRunner.run("ls", ["\(program.vault)/members"]).output
    let member = members.trimmingCharacters(in: .whitespacesAndNewlines)
    let now = UInt64(Date().timeIntervalSince1970 * 1000)
    try program.write(
      "failed commit missing - \(member) \(now) \(now) 1\n"
        + "failed refresh rolledBack - \(member) \(now - 5000) \(now - 5000) 1\n",
      to: "\(state)/failures")
    #expect(try status().failures.map(\.kind) == ["missing", "rolledBack"])
    let text = try program.run("status", expecting: 0).output
    #expect(text.contains("--accept-rollback MOUNTPOINT. And 1 other failure."), "\(text)")
    #expect(!text.contains("something that is needed is not there"), "\(text)")
  }

  /// A whole story, in which everything that a person named has a name that nothing else has.
  @Test func noNameIsInTheLog() throws {
    let names = [
      "Emma", "Adult A", "Adult", "Stick-Wohnzimmer", "Mountpoint-Familie", "Zahnspange",
      "Kieferorthopaede", "roentgen.png", "Geheimnis", "sicherung", "vault/", "heads", "members/",
      program.folder.path.string, "correct horse",
      String(cString: getpwuid(getuid()).pointee.pw_name),
    ]
    mkdir(stick, 0o700)
    try program.run("remote", "add", "sicherung", stick, expecting: 0)
    try mount()
    mkdir("\(mountpoint)/Emma/Zahnspange", 0o755)
    mkdir("\(mountpoint)/Emma/Zahnspange/Kieferorthopaede", 0o755)
    try program.write("Geheimnis", to: "\(mountpoint)/Emma/Zahnspange/roentgen.png")
    try program.run("sync", expecting: 0)
    let log = try "\(state)/log"
    func text() throws -> String { String(decoding: try program.read(log), as: UTF8.self) }
    try blockCommits()
    try program.write("Geheimnis", to: "\(mountpoint)/Emma/Zahnspange/Geheimnis.txt")
    #expect(try waitUntil { try text().contains("commit failed") })
    try unblockCommits()
    #expect(try waitUntil { try text().contains("commit works again") })
    // The stick is taken out; what is saved next has nowhere to go.
    #expect(rename(stick, "\(stick).away") == 0)
    try program.write("Geheimnis 2", to: "\(mountpoint)/Emma/Zahnspange/Geheimnis.txt")
    #expect(try waitUntil { try text().contains("sync failed") })
    try blockCommits()
    try program.write("Geheimnis 3", to: "\(mountpoint)/Emma/Zahnspange/Geheimnis.txt")
    #expect(try CommandRunner.run("fusermount3", ["-u", mountpoint]).status == 0)
    #expect(try waitUntil { try text().contains("ending failed") })
    let all = try text()
    for name in names { #expect(!all.contains(name), "\(name) in\n\(all)") }
    let kept = String(decoding: try program.read("\(state)/failures"), as: UTF8.self)
    for name in names { #expect(!kept.contains(name), "\(name) in\n\(kept)") }

    // Nobody was there to be told that the last changes are not in the vault.
    #expect(try status().failures.contains { $0.work == "ending" })
    #expect(
      try program.run("status").output.contains("Saving the last changes when the mount ended"))
    try unblockCommits()
    try mount()
    #expect(try program.run("unmount", mountpoint).status == 0)
    #expect(try status().failures.isEmpty)
  }

  @Test func inTheForegroundItIsOnStandardError() throws {
    let running = try RunningCommand(
      Program.executable, ["mount", mountpoint, "--foreground"], environment: program.environment)
    let emma = "\(mountpoint)/Emma"
    #expect(waitUntil { access(emma, F_OK) == 0 })
    try blockCommits()
    try program.write("text", to: "\(emma)/note.txt")
    #expect(try waitUntil { try !status().failures.isEmpty })
    try unblockCommits()
    #expect(try waitUntil { try status().failures.isEmpty })
    try program.run("unmount", mountpoint, expecting: 0)
    let result = running.wait()
    #expect(result.status == 0)
    #expect(result.errors.contains("kinvault: info: mount begins "), "\(result.errors)")
    #expect(result.errors.contains("kinvault: error: commit failed "))
    #expect(result.errors.contains("kinvault: notice: commit works again "))
    #expect(access(try "\(state)/log", F_OK) != 0)
  }
}
