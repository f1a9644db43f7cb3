import Glibc
import SystemPackage
import TestSupport
import Testing

/// A vault that is mounted is mounted at another place as well, by the same person on the same machine.
@Suite struct SecondMountTests {
  private let program: Program
  private let first: String
  private let second: String

  init() throws {
    program = try Program.withVault()
    first = program.folder.appending("first").string
    second = program.folder.appending("second").string
  }

  private func unmountAll() {
    for place in [second, first] { _ = try? program.run("unmount", place) }
  }

  /// What two that can be written to saved within a minute in one file was one version in the end, without a word.
  @Test func aSecondMountIsRefusedUnlessItOnlyShows() throws {
    defer { unmountAll() }
    try program.run("mount", first, expecting: 0)
    let refused = try program.run("mount", second, expecting: 9).errors
    #expect(refused.contains("The vault is mounted at \(first) already"), "\(refused)")
    #expect(refused.contains("kinvault mount --read-only \(second)"), "\(refused)")
    #expect(!refused.contains("ln -s \(first) \(second)"), "\(refused)")
    // Nobody is asked for a password, nor is the vault opened, which takes long where it is large.
    try program.run(
      "mount", second, environment: ["KINVAULT_PASSWORD_FILE": nil], expecting: 9)
    // No folder is left, in which somebody might save what belongs into the vault.
    #expect(access(second, F_OK) != 0)

    try program.run("mount", second, "--read-only", expecting: 0)
    try program.write("saved", to: "\(first)/Emma/note.txt")
    let shown = "\(second)/Emma/note.txt"
    for _ in 0..<1200 where access(shown, F_OK) != 0 { usleep(100_000) }
    #expect(try program.read(shown) == Array("saved".utf8))
    #expect(throws: Errno.readOnlyFileSystem) { try program.write("lost", to: shown) }
    // One that only shows is in no other's way.
    try program.run("unmount", first, expecting: 0)
    try program.run("mount", first, expecting: 0)
  }

  @Test func ofTwoThatBeginAtOnceOneIsRefused() throws {
    defer { unmountAll() }
    let both = try [first, second].map {
      try RunningCommand(Program.executable, ["mount", $0], environment: program.environment)
    }
    let ended = both.map { $0.wait() }
    #expect(Set(ended.map(\.status)) == [0, 9], "\(ended.map(\.errors))")
  }

  /// A link from a place to itself helps nobody.
  @Test func ofTwoThatBeginAtOnceAtOnePlaceOneIsToldThatItIsMounted() throws {
    defer { unmountAll() }
    let both = try (0..<2).map { _ in
      try RunningCommand(Program.executable, ["mount", first], environment: program.environment)
    }
    let ended = both.map { $0.wait() }
    #expect(Set(ended.map(\.status)) == [0, 9], "\(ended.map(\.errors))")
    let refused = ended.filter { $0.status == 9 }.map(\.errors).joined()
    #expect(refused.contains("A vault is mounted at \(first) already"), "\(refused)")
  }

  /// A mount before has taken its write permission, so that nothing is saved in it unencrypted.
  @Test func theFolderOfOneThatIsRefusedStaysAsItWas() throws {
    defer { unmountAll() }
    try #require(mkdir(second, 0o500) == 0)
    try program.run("mount", first, expecting: 0)
    try program.run("mount", second, expecting: 9)
    var status = stat()
    try #require(stat(second, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o500)
  }

  /// It was waited for as one that is ending.
  @Test func oneWhoseFolderWasRenamedIsNamedWhereItIs() throws {
    let (above, moved) = (first + " above", first + " moved")
    try #require(mkdir(above, 0o700) == 0)
    try program.run("mount", "\(above)/place", expecting: 0)
    defer { _ = try? program.run("unmount", "\(moved)/place") }
    try #require(rename(above, moved) == 0)
    let refused = try program.run("mount", second, expecting: 9).errors
    #expect(refused.contains("The vault is mounted at \(moved)/place already"), "\(refused)")
  }

  @Test(.enabled(if: geteuid() == 0, "NOT TESTED: only root has mounts of its own"))
  func oneThatIsNotSeenIsNoneThatIsEnding() throws {
    defer { unmountAll() }
    try program.run("mount", first, expecting: 0)
    let script = "umount \"$1\" && exec \"$2\" mount \"$3\""
    let refused = try CommandRunner.run(
      "unshare", ["-m", "sh", "-c", script, "", first, Program.executable, second],
      environment: program.environment)
    #expect(refused.status == 9, "\(refused.errors)")
    #expect(refused.errors.contains("The vault is mounted already, at \(first)"), "\(refused)")
  }

  @Test func oneThatWasKilledIsInNobodysWay() throws {
    defer { unmountAll() }
    try mountAndKill()
    try program.run("mount", second, expecting: 0)
  }

  /// What is left of it was taken for the place where the one that is ending shows by now.
  @Test func oneThatIsEndingIsWaitedForBesideOneThatWasKilled() throws {
    defer { unmountAll() }
    try mountAndKill()
    try program.run("mount", second, expecting: 0)
    let note = open("\(second)/Emma/note.txt", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    try #require(note >= 0)
    try program.run("unmount", "--lazy", second, expecting: 0)
    let next = try RunningCommand(
      Program.executable, ["mount", second], environment: program.environment)
    usleep(3_000_000)
    #expect(!next.hasEnded())
    close(note)
    let ended = next.wait()
    #expect(ended.status == 0, "\(ended.errors)")
  }

  private func mountAndKill() throws {
    let killed = try RunningCommand(
      Program.executable, ["mount", first, "--foreground"], environment: program.environment)
    while !killed.errorsSoFar.contains("Mounted at"), !killed.hasEnded() { usleep(20_000) }
    killed.signal(SIGKILL)
    _ = killed.wait()
  }

  /// Whoever takes it away without our command does not wait until its process has saved everything.
  @Test func oneThatIsJustEndingIsWaitedFor() throws {
    defer { unmountAll() }
    try program.run("mount", first, expecting: 0)
    try program.write("saved last", to: "\(first)/Emma/note.txt")
    #expect(try CommandRunner.run("fusermount3", ["-u", first]).status == 0)
    try program.run("mount", second, expecting: 0)
    #expect(try program.read("\(second)/Emma/note.txt") == Array("saved last".utf8))
  }

  /// The folder goes with the mount that ends, also where the next one is to be shown there.
  @Test func oneThatIsEndingAtTheSamePlaceIsWaitedFor() throws {
    defer { unmountAll() }
    try program.run("mount", first, expecting: 0)
    let note = open("\(first)/Emma/note.txt", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    try #require(note >= 0)
    try program.run("unmount", "--lazy", first, expecting: 0)
    let next = try RunningCommand(
      Program.executable, ["mount", first], environment: program.environment)
    usleep(3_000_000)
    #expect(!next.hasEnded())
    #expect(write(note, "late", 4) == 4)
    close(note)
    let ended = next.wait()
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(try program.read("\(first)/Emma/note.txt") == Array("late".utf8))
  }

  /// A program may save in what it has open there.
  @Test func oneThatWasTakenAwayWhileItIsInUseIsNotForgotten() throws {
    defer { unmountAll() }
    try program.run("mount", first, expecting: 0)
    let note = open("\(first)/Emma/note.txt", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    try #require(note >= 0)
    try program.run("unmount", "--lazy", first, expecting: 0)
    let refused = try program.run("mount", second, expecting: 9).errors
    #expect(refused.contains("The mount at \(first) was taken away"), "\(refused)")
    try #require(write(note, "late", 4) == 4)
    close(note)
    try program.run("mount", second, expecting: 0)
    #expect(try program.read("\(second)/Emma/note.txt") == Array("late".utf8))
  }
}
