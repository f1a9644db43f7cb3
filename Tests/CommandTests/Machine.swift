import Glibc
import SystemPackage
import TestSupport
import Testing
import Vault
import VaultCrypto

@testable import kinvault

/// One of several machines of a person: a vault folder and a state directory of its own, in the test folder of a
/// `Program`.
struct Machine {
  let program: Program
  let vault: String
  let state: String

  /// The machine on which the vault was made.
  init(first program: Program) {
    self.program = program
    vault = program.vault
    state = program.folder.appending("state").string
  }

  /// A machine that knows nothing yet.
  init(_ name: String, beside program: Program) {
    self.program = program
    vault = program.folder.appending("\(name) vault").string
    state = program.folder.appending("\(name) state").string
  }

  var environment: [String: String] {
    program.environment.merging(["KINVAULT_VAULT": vault, "XDG_STATE_HOME": state]) { $1 }
  }

  @discardableResult
  func run(
    _ arguments: String..., environment changes: [String: String] = [:],
    expecting status: Int32? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> CommandResult {
    try run(
      arguments, environment: changes, expecting: status, sourceLocation: sourceLocation)
  }

  @discardableResult
  func run(
    _ arguments: [String], environment changes: [String: String] = [:],
    expecting status: Int32? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> CommandResult {
    let result = try CommandRunner.run(
      "setsid", ["-w", Program.executable] + arguments,
      environment: environment.merging(changes) { $1 })
    if let status {
      #expect(
        result.status == status, "\(arguments): \(result.output)\(result.errors)",
        sourceLocation: sourceLocation)
    }
    return result
  }

  /// Starts the program and leaves it running; it gets no signal but from the test.
  func start(_ arguments: String...) throws -> RunningCommand {
    try RunningCommand(Program.executable, arguments, environment: environment)
  }

  // MARK: What a person does

  /// This machine, which knows nothing yet, gets the vault from a remote with the words, as the device "laptop".
  @discardableResult
  func clone(_ remote: String, _ options: String...) throws -> CommandResult {
    try run(
      [
        "clone", remote, vault, "--words-file", program.wordsFile, "--password-file",
        program.passwordFile, "--device", "laptop",
      ] + options, expecting: 0)
  }

  /// Another machine, which knows nothing yet, becomes a device with the eight words that this one shows. Both reach the
  /// remote "usb", which is in this folder.
  @discardableResult
  func approve(
    _ other: Machine, called name: String, from remote: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> (asked: CommandResult, approved: CommandResult) {
    let words = program.folder.appending("eight words for \(name)").string
    let adding = try start("device", "add", "--words-out", words, "--yes", "--wait", "3")
    Self.waitForWords(in: words)
    let asked = try other.run(
      "clone", remote, other.vault, "--name", "usb", "--from-device", "--words-file", words,
      "--device", name, expecting: 0, sourceLocation: sourceLocation)
    let approved = adding.wait()
    #expect(
      approved.status == 0, "\(approved.output)\(approved.errors)", sourceLocation: sourceLocation)
    return (asked, approved)
  }

  /// Returns when `device add` has written its eight words.
  static func waitForWords(in file: String) {
    // They are written at once, but after the file is there.
    var status = stat()
    for _ in 0..<2400 where stat(file, &status) != 0 || status.st_size == 0 { usleep(50_000) }
  }

  /// Thirty records in `Emma/Notes/many`: enough for a mass change. Emma has notes.
  func attachMany() throws {
    let folder = program.folder.appending("many").string
    #expect(mkdir(folder, 0o700) == 0)
    for number in 0..<30 {
      #expect(mkdir("\(folder)/Record \(number)", 0o700) == 0)
      try program.write("note", to: "\(folder)/Record \(number)/record.md")
    }
    try run("attach", "Emma/Notes", folder, expecting: 0)
  }

  /// All of them go, in a mount.
  func removeMany() throws {
    let mountpoint = program.folder.appending("mounted").string
    try run("mount", mountpoint, expecting: 0)
    let removed = try CommandRunner.run("rm", ["-r", "\(mountpoint)/Emma/Notes/many"])
    #expect(removed.status == 0, "\(removed.errors)")
    try run("unmount", mountpoint, expecting: 0)
  }

  /// A new record, at `Emma/Notes/2025-01-20 <title>`.
  func write(_ note: String, titled title: String) throws {
    try run(
      "record", "add", "--member", "Emma", "--title", title, "--date", "2025-01-20", "--note", note,
      expecting: 0)
  }

  /// Replaces one word of a note.
  func replace(_ old: String, by new: String, in path: String) throws {
    try run(
      "record", "edit", path, environment: ["EDITOR": "sed -i s/\(old)/\(new)/"], expecting: 0)
  }

  /// Puts a file with these bytes into a record.
  func attach(_ name: String, byteCount: Int, to path: String) throws {
    let file = program.folder.appending(name).string
    var random = SplitMix64(seed: UInt64(byteCount))
    try program.write(random.bytes(byteCount), to: file)
    try run("attach", path, file, expecting: 0)
  }

  /// What the vault holds, as plain files: lines of checksums and paths.
  func checksums(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String] {
    let target = program.folder.appending("export \(UInt64.random(in: 0 ... .max))").string
    try run("export", "Emma", target, "--yes", expecting: 0, sourceLocation: sourceLocation)
    let listed = try CommandRunner.run(
      "sh", ["-c", "find . -type f -exec sha256sum {} + | sort -k 2"],
      folder: FilePath(target))
    let lines = listed.output.split(separator: "\n").map(String.init)
    #expect(!lines.isEmpty, "nothing was exported", sourceLocation: sourceLocation)
    return lines
  }

  func expectWhole(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try run("check", "--read-data", expecting: 0, sourceLocation: sourceLocation)
  }
}

// MARK: The vault in the test's own process

extension Machine {
  func opened(readOnly: Bool = false) throws -> Vault {
    let copy = try VaultCopy.find(
      in: FilePath(vault), stateRoot: FilePath(state).appending("kinvault"))
    let key = try UnlockSlots(of: copy)
      .open(password: SecretBytes(copying: Array("correct horse battery".utf8))).takeKey()
    return try Vault.open(copy, key: key, options: OpenOptions(readOnly: readOnly))
  }

  /// What the status says of access where the vault is unlocked, which it cannot be on every machine.
  func accessNotes() throws -> [String] { try AccessNotes.load(of: opened(readOnly: true)).lines }
}
