import SystemPackage
import TestSupport
import Testing

/// Two adults on one folder, each with a state directory of their own, as scripts use the program.
struct TwoPeople {
  let anna: Program
  let bensState: [String: String?]

  init() throws {
    anna = try Program.withVault()
    bensState = ["XDG_STATE_HOME": anna.folder.appending("ben's state").string]
    let invitation = try anna.run("invite", expecting: 0).output
    let file = anna.folder.appending("invitation").string
    try anna.write(invitation, to: file)
    try join(file, state: bensState, words: "ben's words")
  }

  /// Somebody answers the invitation in this file.
  func join(_ file: String, state: [String: String?], words: String, as name: String = "Ben")
    throws
  {
    let joined = try run(
      [
        "join", "--invitation-file", file, "--name", name, "--password-file",
        anna.passwordFile, "--words-out", anna.folder.appending(words).string, "--yes",
      ], state: state)
    #expect(joined.status == 0, "\(joined.errors)")
    #expect(joined.output.contains("You have joined the vault of Adult A"))
  }

  func run(
    _ arguments: [String], input: String = "", state: [String: String?]
  ) throws -> CommandResult {
    try CommandRunner.run(
      "setsid", ["-w", Program.executable] + arguments,
      environment: anna.environment.merging(state.compactMapValues { $0 }) { $1 },
      input: Array(input.utf8), folder: nil)
  }

  @discardableResult
  func ben(
    _ arguments: String..., input: String = "", expecting status: Int32? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> CommandResult {
    let result = try run(arguments, input: input, state: bensState)
    if let status {
      #expect(
        result.status == status, "\(arguments): \(result.output)\(result.errors)",
        sourceLocation: sourceLocation)
    }
    return result
  }
}
