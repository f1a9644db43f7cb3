import SoftTokens
import SystemPackage
import TestSupport
import Testing

/// Ways to unlock the vault on the page besides the password.
@Suite(.timeLimit(.minutes(60))) struct PageUnlockTests {
  private let program: Program
  private let tpm: SoftTPM
  private var pinFile: String { program.folder.appending("pin").string }

  init() throws {
    program = try Program.withVault()
    tpm = try SoftTPM()
    try program.write("482913\n", to: pinFile)
  }

  private static let name = "This <machine>"

  /// - Parameter environment: Where what unlocks it is to be found; the TPM by default.
  private func page(
    _ environment: [String: String?]? = nil
  ) throws -> (RunningPage, PageVisitor) {
    var environment = environment ?? ["KINVAULT_TPM": tpm.connection]
    environment["KINVAULT_PASSWORD_FILE"] = .some(nil)
    let running = try RunningPage(program, environment: environment)
    return (running, try PageVisitor(running, in: program.folder.path))
  }

  /// The id of the one way that is offered.
  private func way(_ visitor: PageVisitor) throws -> String {
    let shown = try visitor.get("/").body
    #expect(shown.contains("<bdi>This &lt;machine&gt;</bdi>") && !shown.contains("Emma"))
    return try #require(shown.firstMatch(of: /name="way" value="([0-9a-f]{32})"/)).1.description
  }

  @Test func aTPMWithItsPINUnlocksThePage() throws {
    try program.run(
      "unlock", "add", "tpm", "--name", Self.name, "--pin-file", pinFile,
      environment: ["KINVAULT_TPM": tpm.connection], expecting: 0)
    try program.run("lock", expecting: 0)
    let (running, visitor) = try page()
    let way = try way(visitor)
    let wrong = try visitor.post("/unlock", ["way": way, "pin": "111111"])
    #expect(wrong.status == 403 && wrong.body.contains("not its PIN"))
    let unknown = try visitor.post("/unlock", ["way": way.reversed().map(String.init).joined()])
    #expect(unknown.status == 403)
    #expect(try visitor.post("/unlock", ["way": way, "pin": "482913"]).status == 303)
    #expect(try visitor.get("/").body.contains("Emma"))
    // It is unlocked for commands, too, and what was wrong is told.
    let without = ["KINVAULT_PASSWORD_FILE": nil] as [String: String?]
    #expect(
      try program.run("audit", environment: without, expecting: 0).output.contains("refused"))
    #expect(try visitor.post("/lock").status == 401)
    #expect(try running.end() == 0)
  }

  @Test func aTokenUnlocksThePageWhenItIsTouched() throws {
    let soft = SoftToken(pin: "482913")
    let token = try PluggedToken(soft)
    try program.run(
      "unlock", "add", "token", "--name", Self.name, "--pin-file", pinFile,
      environment: token.environment, expecting: 0)
    try program.run("lock", expecting: 0)
    let (running, visitor) = try page(token.environment)
    let way = try way(visitor)
    #expect(try visitor.get("/").body.contains("touch it"))
    let wrong = try visitor.post("/unlock", ["way": way, "pin": "111111"])
    #expect(wrong.status == 403 && wrong.body.contains("not its PIN"))
    soft.setTouched(false)
    let untouched = try visitor.post("/unlock", ["way": way, "pin": "482913"])
    #expect(untouched.status == 403 && untouched.body.contains("Nobody touched it"))
    #expect(!untouched.body.contains("Emma"))
    soft.setTouched(true)
    #expect(try visitor.post("/unlock", ["way": way, "pin": "482913"]).status == 303)
    #expect(try visitor.get("/").body.contains("Emma"))
    #expect(try visitor.post("/lock").status == 401)
    #expect(try running.end() == 0)
  }

  /// Neither of them alone.
  @Test func thePageAsksForBothWhereBothAreNeeded() throws {
    try program.run(
      "unlock", "add", "tpm", "--name", Self.name, "--pin-file", pinFile, "--require-both", "--yes",
      "--new-password-file", program.passwordFile,
      environment: ["KINVAULT_TPM": tpm.connection], expecting: 0)
    try program.run("lock", expecting: 0)
    let (running, visitor) = try page()
    let way = try way(visitor)
    let password = "correct horse battery"
    for fields in [
      ["password": password], ["way": way, "pin": "482913"],
      ["way": way, "pin": "482913", "password": "another"],
      ["way": way, "pin": "111111", "password": password],
    ] { #expect(try visitor.post("/unlock", fields).status == 403, "\(fields)") }
    let both = ["way": way, "pin": "482913", "password": password]
    #expect(try visitor.post("/unlock", both).status == 303)
    #expect(try visitor.get("/").body.contains("Emma"))
    #expect(try visitor.post("/lock").status == 401)
    #expect(try running.end() == 0)
  }
}
