import Glibc
import SystemPackage
import TestSupport
import Testing

/// Questions at a terminal, and what is left when a person breaks off.
@Suite struct TerminalTests {
  private let password = "correct horse battery"

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  @Test func initBrokenOffAtAnyQuestionLeavesNothing() throws {
    let program = try Program()
    let atPassword = try TerminalProgram(program, "init", "--vault", program.vault)
    try atPassword.expect("New password: ")
    atPassword.interrupt()
    #expect(atPassword.end() == 130)
    #expect(!exists(program.vault))

    let withFile = try TerminalProgram(
      program, "init", "--vault", program.vault, "--words-out", program.wordsFile)
    try withFile.expect("New password: ")
    withFile.type(password)
    try withFile.expect("The same again: ")
    withFile.interrupt()
    #expect(withFile.end() == 130)
    #expect(!exists(program.vault) && !exists(program.wordsFile))

    let atWords = try TerminalProgram(program, "init", "--vault", program.vault)
    try atWords.expect("New password: ")
    atWords.type(password)
    try atWords.expect("The same again: ")
    atWords.type(password)
    try atWords.expect("Press Enter when they are on paper.")
    atWords.interrupt()
    #expect(atWords.end() == 130)
    #expect(!exists(program.vault))
  }

  @Test func initTeachesTheWords() throws {
    let program = try Program()
    let session = try TerminalProgram(program, "init", "--vault", program.vault)
    try session.expect("New password: ")
    session.type("short")
    try session.expect("too short")
    try session.expect("New password: ")
    session.type(password)
    try session.expect("The same again: ")
    session.type(password)
    let shown = try session.expect("Press Enter when they are on paper.")
    let parts = shown.split(whereSeparator: \.isWhitespace).map(String.init)
    session.type("")
    try session.expect("Three of them")
    for _ in 0..<3 {
      try session.expect("Word ")
      let number = try session.expect(": ")
      let position = try #require(parts.lastIndex(of: number))
      session.type(parts[position + 1])
    }
    try session.expect("The vault is ready")
    #expect(session.end() == 0)
    #expect(!session.screen.contains(password))
    // The password was typed.
    try program.run("status", "--require-unlocked", expecting: 0)
    try program.run("check", expecting: 0)
    try program.run("lock", expecting: 0)
  }

  @Test func anInitThatWasKilledSaysHowToClearIt() throws {
    let program = try Program()
    for folder in [program.vault, program.vault + "/people", program.vault + "/people/x"] {
      mkdir(folder, 0o700)
    }
    try program.write("", to: program.wordsFile)
    let refused = try program.run(
      "init", "--vault", program.vault, "--words-out", program.wordsFile, "--yes", expecting: 10)
    let command = try #require(
      refused.errors.split(separator: "\n").last { $0.hasPrefix("  rm -r ") })
    _ = try CommandRunner.run("sh", ["-c", String(command)])
    try program.run(
      "init", "--vault", program.vault, "--words-out", program.wordsFile, "--yes", expecting: 0)
    let words = String(decoding: try program.read(program.wordsFile), as: UTF8.self)
    #expect(words.split(separator: "\n").count == 24)
  }

  @Test func aMountInTheBackgroundAsksAboutAnOlderFolderFirst() throws {
    let program = try Program.withVault()
    let backup = program.folder.appending("backup").string
    _ = try CommandRunner.run("cp", ["-a", program.vault, backup])
    try program.run("member", "add", "Liam", expecting: 0)
    try program.run(
      "record", "add", "--member", "Emma", "--title", "lost", "--type", "note", expecting: 0)
    _ = try CommandRunner.run("rm", ["-r", program.vault])
    _ = try CommandRunner.run("cp", ["-a", backup, program.vault])
    let mountpoint = program.folder.appending("mnt").string
    let file = ["KINVAULT_PASSWORD_FILE": program.passwordFile as String?]

    // Where nobody can be asked it is said in words, with the command that goes on.
    let told = try program.run("check", expecting: 10).errors
    #expect(told.contains("what this device has written of the member "), "\(told)")
    #expect(told.contains("kinvault sync --accept-rollback; ") && !told.contains("/heads/"))
    let refused = try TerminalProgram(program, "mount", mountpoint, environment: file)
    try refused.expect("Go on with the older state? [y/N]")
    refused.type("n")
    #expect(refused.end() == 10)
    #expect(!exists(mountpoint))

    let accepted = try TerminalProgram(program, "mount", mountpoint, environment: file)
    try accepted.expect("Go on with the older state? [y/N]")
    accepted.type("y")
    try accepted.expect("Mounted at")
    #expect(accepted.end() == 0)
    #expect(exists(mountpoint + "/Emma"))
    try program.run("unmount", mountpoint, expecting: 0)
    try program.run("check", expecting: 0)
  }
}
