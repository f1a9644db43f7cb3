import Glibc
import SystemPackage
import TestSupport
import Testing

/// What these tests need of the machine. Where something is missing they say so aloud and do not run.
enum Machine {
  static let canMount: Bool =
    require(
      geteuid() == 0 || access("/dev/fuse", R_OK | W_OK) == 0, "/dev/fuse may not be opened")
    && require(runs("python3", ["--version"]), "there is no python3")
    && require(access(CrashVault.binary, X_OK) == 0, "\(CrashVault.binary) is not built")
  /// Loop devices, mounting: root only.
  static let canMountDisks: Bool =
    canMount
    && require(geteuid() == 0, "mounting a disk image needs root")
    && require(runs("mkfs.ext4", ["-V"]), "there is no mkfs.ext4")
  static let canTrace: Bool =
    canMount
    && require(runs("strace", ["-f", "-e", "trace=none", "true"]), "strace may not trace")

  /// Machines of their own, with file systems that this one's kernel may not have.
  static let hasSmallMachines: Bool =
    canMount
    && require(runs("linux.uml", ["--version"]), "there is no linux.uml")
    && require(runs("/usr/sbin/mkfs.vfat", ["--help"]), "there is no mkfs.vfat")
    && require(runs("insmod", ["--version"]), "there is no insmod")

  private static func require(_ holds: Bool, _ reason: String) -> Bool {
    if !holds { complain("CRASH TESTS ARE NOT RUN: \(reason)") }
    return holds
  }

  private static func runs(_ program: String, _ arguments: [String]) -> Bool {
    do throws(CommandError) {
      return try CommandRunner.run(program, arguments).status == 0
    } catch {
      return false
    }
  }

  static func complain(_ text: String) {
    _ = Array("\(text)\n".utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// A command that did not do what the test builds on.
struct CommandFailure: Error, CustomStringConvertible {
  var description: String
}

/// Runs a program that must succeed; returns what it printed.
///
/// - Parameter expected: The statuses with which it may end.
@discardableResult
func run(
  _ program: String, _ arguments: [String], environment: [String: String]? = nil,
  expecting expected: Set<Int32> = [0]
) throws -> String {
  let result = try CommandRunner.run(program, arguments, environment: environment)
  guard let status = result.status, expected.contains(status) else {
    throw CommandFailure(
      description: "\(program) \(arguments): \(result.end)\n\(result.output)\n\(result.errors)")
  }
  return result.output
}

/// A vault of one member, Emma, that the built program serves, and that may be treated as badly as one likes.
final class CrashVault {
  /// The program under test: what was built beside these tests, unless `KINVAULT_BINARY` names another.
  static let binary: String = {
    if let given = getenv("KINVAULT_BINARY") { return String(cString: given) }
    var buffer = [CChar](repeating: 0, count: 4096)
    _ = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    return FilePath(platformString: buffer).removingLastComponent().appending("kinvault").string
  }()
  static let oracle = FilePath(#filePath).removingLastComponent()
    .appending("oracle.py").string

  /// For what is not part of the vault: logs, the password.
  let outside: TemporaryFolder
  let vault: FilePath
  let mountpoint: FilePath
  let environment: [String: String]
  private var logs: [FilePath] = []
  private var firstRound = 0
  private var process: RunningCommand?

  var emma: FilePath { mountpoint.appending("Emma") }

  /// - Parameters:
  ///   - disk: Where the vault is; a folder of its own if nil.
  ///   - stateOnDisk: Whether this machine's state is there too.
  init(on disk: FilePath? = nil, stateOnDisk: Bool = true) throws {
    outside = try TemporaryFolder()
    vault = (disk ?? outside.path).appending("Family")
    mountpoint = outside.appending("mounted")
    let state = (stateOnDisk ? disk ?? outside.path : outside.path).appending("state")
    let password = outside.appending("password")
    environment = [
      "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "XDG_STATE_HOME": state.string,
      "KINVAULT_PASSWORD_FILE": password.string, "KINVAULT_PASSWORD_TIME": "1",
    ].merging(RememberedPasswords.environment) { $1 }
    try run("sh", ["-c", "umask 077; echo 'only for tests' > '\(password)'"])
    try kinvault([
      "init", "--vault", vault.string, "--name", "Adult A", "--device", "desk",
      "--password-file", password.string, "--words-out", outside.appending("words").string, "--yes",
    ])
    try kinvault(["member", "add", "Emma", "--vault", vault.string])
  }

  deinit {
    process?.signal(SIGKILL)
    _ = process?.wait()
    clearMount(mountpoint)
  }

  private func clearMount(_ mountpoint: FilePath) {
    // Fails where nothing is mounted, as it should be.
    _ = try? CommandRunner.run("umount", ["-l", mountpoint.string])
  }

  // MARK: The program

  @discardableResult
  func kinvault(_ arguments: [String]) throws -> String {
    try run(Self.binary, arguments, environment: environment)
  }

  /// Runs a command on the vault, whatever becomes of it.
  func attempt(_ arguments: [String]) throws -> CommandResult {
    try CommandRunner.run(
      Self.binary, arguments + ["--vault", vault.string], environment: environment)
  }

  /// Mounts, by default at the usual place, and returns when the mount can be used.
  ///
  /// - Parameter tracer: A program and its arguments that runs it.
  func mount(tracer: [String] = [], options: [String] = []) throws {
    process = nil
    process = try start(at: mountpoint, tracer: tracer, options: options)
  }

  /// A mount of its own at another place; the caller ends it.
  func start(
    at place: FilePath, vault: FilePath? = nil, tracer: [String] = [], options: [String] = []
  ) throws -> RunningCommand {
    let vault = vault ?? self.vault
    let command =
      tracer + [Self.binary, "mount", place.string, "--vault", vault.string, "--foreground"]
      + options
    let running = try RunningCommand(
      command[0], Array(command.dropFirst()), environment: environment)
    for _ in 0..<12_000 {
      if isServed(place) { return running }
      if running.hasEnded() { break }
      usleep(10_000)
    }
    let result = running.wait(timeout: .zero)
    throw CommandFailure(description: "mount: \(result.end)\n\(result.output)\n\(result.errors)")
  }

  /// True if the mount answers: a stale one, whose process is gone, does not.
  private func isServed(_ place: FilePath) -> Bool {
    var here = stat()
    var above = stat()
    return stat(place.appending("Emma").string, &here) == 0
      && stat(place.removingLastComponent().string, &above) == 0 && here.st_dev != above.st_dev
  }

  var isMountRunning: Bool { process.map { !$0.hasEnded() } ?? false }

  /// Ends the mount's process in an instant.
  func kill() {
    process?.signal(SIGKILL)
    _ = process?.wait()
  }

  /// Waits until the process has ended by itself, or the time is over.
  func waitForDeath(timeout: Duration) {
    let deadline = ContinuousClock.now + timeout
    while isMountRunning, ContinuousClock.now < deadline { usleep(5_000) }
  }

  func unmount() throws {
    try kinvault(["unmount", mountpoint.string])
    if let result = process?.wait() {
      #expect(result.status == 0, "the mount: \(result.end) \(result.errors)")
    }
    process = nil
  }

  /// Unmounts what no process serves any more, so that the disk below is free.
  func forceUnmount() {
    kill()
    clearMount(mountpoint)
  }

  // MARK: The oracle

  /// Starts to write, in a folder of Emma's that is new each time.
  func startWriting(seed: UInt64, command: String = "write") throws -> RunningCommand {
    let number = logs.count
    let log = outside.appending("log \(number)")
    let folder = emma.appending("round \(number)")
    try run("mkdir", [folder.string])
    logs.append(log)
    return try RunningCommand(
      "python3", [Self.oracle, command, folder.string, log.string, "\(seed)"])
  }

  /// Waits until the writer of the newest round has been promised this much: what comes after it would show nothing without.
  func waitForPromises(_ count: Int) {
    guard let log = logs.last else {
      Issue.record("nobody writes")
      return
    }
    for _ in 0..<12_000 {
      if let text = try? run("cat", [log.string]), text.split(separator: "\n").count >= count {
        return
      }
      usleep(5_000)
    }
    Issue.record("the writer was not promised \(count) times")
  }

  /// From now on, what was promised until now is no longer asked for.
  func forgetRounds() { firstRound = logs.count }

  /// What the newest rounds were promised is there.
  func verify(rounds: Int = .max, _ comment: Comment? = nil) throws {
    for number in logs.indices.dropFirst(firstRound).suffix(rounds) {
      let result = try CommandRunner.run(
        "python3",
        [Self.oracle, "verify", emma.appending("round \(number)").string, logs[number].string])
      #expect(result.status == 0, "round \(number): \(result.output) \(result.errors)")
      if result.status != 0, let comment { Issue.record(comment) }
    }
  }

  /// `check` finds nothing that a person would have to look at.
  func checkIsClean(readsData: Bool = true) throws {
    let result = try attempt(["check"] + (readsData ? ["--read-data"] : []))
    #expect(result.status == 0, "\(result.output) \(result.errors)")
  }

  /// Takes the power from the disk that `folder` is on.
  static func cutPower(of folder: FilePath) throws {
    try run("python3", [oracle, "cut", folder.string])
  }
}
