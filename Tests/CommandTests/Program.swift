import Glibc
import SystemPackage
import TestSupport
import Testing

/// The built `kinvault` with a state directory and a password of its own.
///
/// It runs without a terminal, so a question that a test did not foresee is an error at once.
struct Program {
  let folder: TemporaryFolder
  var vault: String { folder.appending("vault").string }
  var passwordFile: String { folder.appending("password").string }
  var wordsFile: String { folder.appending("words").string }

  init() throws {
    folder = try TemporaryFolder()
    try write("correct horse battery\n", to: passwordFile)
  }

  /// With a vault that has one member, Emma: a copy of one that is made once, since that takes long.
  static func withVault() throws -> Program {
    let (made, program) = (try template.get(), try Program())
    let copy = try CommandRunner.run(
      "cp", ["-a", "\(made.folder.path)/.", program.folder.path.string])
    try #require(copy.status == 0, "\(copy.errors)")
    return program
  }

  private static let template: Result<Program, any Error> = Result {
    // What is kept until the process ends is freed by nobody.
    atexit { Program.removeTemplate() }
    return try withAnotherVault()
  }

  /// The same with a vault, keys and words that no other test has.
  static func withAnotherVault() throws -> Program {
    let program = try Program()
    try program.run(
      "init", "--vault", program.vault, "--name", "Adult A", "--password-file",
      program.passwordFile, "--words-out", program.wordsFile, "--yes", expecting: 0)
    try program.run("member", "add", "Emma", expecting: 0)
    return program
  }

  private static func removeTemplate() {
    guard case .success(let made) = template else { return }
    _ = try? CommandRunner.run("rm", ["-rf", made.folder.path.string])
  }

  static var executable: String {
    get throws {
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/exe", &buffer, buffer.count)
      let path = String(
        decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let built = FilePath(path).removingLastComponent().appending("kinvault").string
      try #require(access(built, X_OK) == 0, "there is no \(built): build the product first")
      return built
    }
  }

  var environment: [String: String] {
    [
      "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.path.string, "TZ": "UTC",
      "XDG_STATE_HOME": folder.appending("state").string, "KINVAULT_VAULT": vault,
      "KINVAULT_PASSWORD_FILE": passwordFile, "KINVAULT_PASSWORD_TIME": "1", "LANG": "C.UTF-8",
    ].merging(RememberedPasswords.environment) { $1 }
  }

  /// The same without anything that changes from call to call.
  func run(_ arguments: [String]) throws -> CommandResult {
    try CommandRunner.run(
      "setsid", ["-w", Self.executable] + arguments, environment: environment)
  }

  @discardableResult
  func run(
    _ arguments: String..., environment changes: [String: String?] = [:], input: String = "",
    in folder: String? = nil, expecting status: Int32? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> CommandResult {
    var environment = environment
    for (name, value) in changes { environment[name] = value }
    let result = try CommandRunner.run(
      "setsid", ["-w", Self.executable] + arguments, environment: environment,
      input: Array(input.utf8), folder: folder.map { FilePath($0) })
    if let status {
      #expect(
        result.status == status, "\(arguments): \(result.output)\(result.errors)",
        sourceLocation: sourceLocation)
    }
    return result
  }

  func write(_ text: String, to path: String) throws {
    try write(Array(text.utf8), to: path)
  }

  func write(_ bytes: [UInt8], to path: String) throws {
    let file = try FileDescriptor.open(
      FilePath(path), .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    try file.closeAfter { _ = try file.writeAll(bytes) }
  }

  func read(_ path: String) throws -> [UInt8] {
    let file = try FileDescriptor.open(FilePath(path), .readOnly)
    return try file.closeAfter {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
      }
    }
  }
}

extension StringProtocol {
  /// The cells of a row of a table as the program prints it.
  var cells: [String] { String(self).split(separator: /\ \ +/).map(String.init) }
}
