import Glibc
import SystemPackage
import TestSupport
import Testing

/// Folders whose mode keeps out the person whom they belong to.
@Suite(
  .enabled(if: geteuid() == 0, "NOT TESTED: only root can run the program without its privileges"))
struct DeniedFolderTests {
  private let program: Program

  init() throws { program = try Program.withVault() }

  /// As a user whom modes bind, to whom all of it belongs.
  private func run(
    _ arguments: String..., environment: [String: String]? = nil, in folder: String? = nil
  ) throws -> CommandResult {
    try CommandRunner.run(
      "setpriv",
      ["--bounding-set", "-dac_override,-dac_read_search", "setsid", "-w", Program.executable]
        + arguments, environment: environment ?? program.environment,
      folder: folder.map { FilePath($0) })
  }

  /// The folder and the way to mend it, and nothing of the folder belonging to somebody else.
  private func expectAdvice(
    _ result: CommandResult, about folder: String, mode: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let told = result.errors
    #expect(result.status == 8, "\(result.output)\(told)", sourceLocation: sourceLocation)
    #expect(
      told.contains("\(folder) belongs to you, and its mode (\(mode)) does not let you enter it."),
      "\(told)", sourceLocation: sourceLocation)
    #expect(
      told.contains("chmod u+rwx \(folder)\n"), "\(told)", sourceLocation: sourceLocation)
  }

  @Test(arguments: [("600", 0o600), ("000", 0)] as [(String, mode_t)])
  func theVaultsFolderIsNamedAndTheRightThatLacks(text: String, mode: mode_t) throws {
    try #require(chmod(program.vault, mode) == 0)
    defer { chmod(program.vault, 0o700) }
    expectAdvice(try run("member", "list"), about: program.vault, mode: text)
    // Nor is it said that no vault is here.
    var environment = program.environment
    environment["KINVAULT_VAULT"] = nil
    let here = try run("member", "list", environment: environment, in: program.vault)
    expectAdvice(here, about: program.vault, mode: text)
    #expect(!here.errors.contains("No vault here"), "\(here.errors)")
  }

  /// It was said that there is no such thing.
  @Test func aRemoteThatMayNotBeMadeIsNotPermitted() throws {
    let above = program.folder.appending("disk").string
    try #require(mkdir(above, 0o500) == 0)
    let refused = try run("remote", "add", "usb", "\(above)/Family")
    #expect(refused.status == 8, "\(refused.errors)")
    #expect(
      refused.errors.contains("its mode (500) does not let you change it"), "\(refused.errors)")
    let missing = try run("remote", "add", "usb", "\(above)/not here/Family")
    #expect(missing.status == 6, "\(missing.errors)")
    #expect(missing.errors.contains("cannot be made: No such file"), "\(missing.errors)")
    #expect(try run("remote", "list").output.contains("usb") == false)
  }

  @Test func soIsAFolderAboveThatMayNotBeEntered() throws {
    let above = program.folder.path.string
    try #require(chmod(above, 0o600) == 0)
    defer { chmod(above, 0o700) }
    expectAdvice(try run("member", "list"), about: above, mode: "600")
  }

  @Test func soIsWhatThisMachineKeeps() throws {
    let state = program.folder.appending("state/kinvault").string
    try #require(chmod(state, 0o600) == 0)
    defer { chmod(state, 0o700) }
    expectAdvice(try run("member", "list"), about: state, mode: "600")
  }

  @Test func soIsTheFolderOfARemote() throws {
    let usb = program.folder.appending("usb").string
    try program.run("remote", "add", "usb", usb, expecting: 0)
    try program.run("sync", expecting: 0)
    try #require(chmod(usb, 0o600) == 0)
    defer { chmod(usb, 0o700) }
    expectAdvice(try run("sync"), about: usb, mode: "600")
  }
}
