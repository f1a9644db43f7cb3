import Glibc
import SystemPackage
import TestSupport

/// A machine on which the built program runs: a disk with a vault's folder and this machine's state, and a mountpoint.
final class RealMachine {
  let name: String
  let disk: FilePath
  let mountpoint: FilePath
  private let secondMountpoint: FilePath
  private let password: FilePath
  private var process: RunningCommand?

  var isMounted: Bool { process != nil }
  var emma: FilePath { mountpoint.appending("Emma") }
  var vault: FilePath { disk.appending("vault") }

  /// - Parameter folder: For what is not on the disk.
  init(_ name: String, disk: FilePath, in folder: FilePath, password: FilePath) {
    self.name = name
    self.disk = disk
    self.password = password
    mountpoint = folder.appending("\(name) mounted")
    secondMountpoint = folder.appending("\(name) mounted anew")
  }

  deinit { kill() }

  var environment: [String: String] {
    [
      "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": disk.string, "TZ": "UTC",
      "XDG_STATE_HOME": disk.appending("state").string, "KINVAULT_VAULT": vault.string,
      "KINVAULT_PASSWORD_FILE": password.string, "KINVAULT_PASSWORD_TIME": "1",
    ].merging(RememberedPasswords.environment) { $1 }
  }

  /// - Parameter expected: The statuses with which it may end at this step.
  @discardableResult
  func run(_ arguments: [String], expecting expected: Set<Int32> = [0]) throws -> CommandResult {
    try finish(start(arguments), arguments, expecting: expected)
  }

  func start(_ arguments: [String]) throws -> RunningCommand {
    try RunningCommand(
      "setsid", ["-w", CrashVault.binary] + arguments, environment: environment)
  }

  @discardableResult
  func finish(
    _ running: RunningCommand, _ arguments: [String], expecting expected: Set<Int32>
  ) throws -> CommandResult {
    let result = running.wait()
    guard let status = result.status, expected.contains(status) else {
      throw CommandFailure(
        description: "\(name): \(arguments): \(result.end), expected \(expected.sorted())\n"
          + "\(result.output)\n\(result.errors)")
    }
    return result
  }

  /// Keeps the machine unlocked between commands, as its person would, where there is a keyring.
  func unlock() throws { _ = try start(["unlock", "--timeout", "10m"]).wait() }

  func lock() throws { _ = try start(["lock"]).wait() }

  // MARK: Mounts

  func mount(syncs: Bool) throws {
    process = try serve(mountpoint, syncs ? [] : ["--no-sync"])
  }

  private func serve(_ place: FilePath, _ options: [String]) throws -> RunningCommand {
    let running = try RunningCommand(
      CrashVault.binary, ["mount", place.string, "--foreground"] + options,
      environment: environment)
    for _ in 0..<24_000 {
      if isServed(place) { return running }
      if running.hasEnded() { break }
      usleep(5_000)
    }
    let result = running.wait(timeout: .zero)
    throw CommandFailure(
      description: "\(name): mount: \(result.end)\n\(result.output)\n\(result.errors)")
  }

  /// True if the mount answers: a stale one, whose process is gone, does not.
  private func isServed(_ place: FilePath) -> Bool {
    var (here, above) = (stat(), stat())
    return stat(place.appending("Emma").string, &here) == 0
      && stat(place.removingLastComponent().string, &above) == 0 && here.st_dev != above.st_dev
  }

  /// - Parameter expected: The statuses of `unmount`, with another one than 0 the mount stays; and of the mount itself, which
  ///   may fail to close its audit log after all is saved.
  /// - Returns: Whether it is gone.
  @discardableResult
  func unmount(expecting expected: Set<Int32> = [0]) throws -> Bool {
    guard let process else { return true }
    let result = try run(["unmount", mountpoint.string], expecting: expected)
    guard result.status == 0 else { return false }
    try finish(process, ["mount"], expecting: expected)
    self.process = nil
    return true
  }

  /// Ends the mount's process in an instant, and takes the dead mount away.
  func kill() {
    guard let process else { return }
    process.signal(SIGKILL)
    _ = process.wait()
    // The next mount does it too; here it frees the disk.
    _ = try? CommandRunner.run("umount", ["-l", mountpoint.string])
    self.process = nil
  }

  /// What the mount shows and a mount that begins now does not, or the other way round. Both look for news; what stays
  /// different for seconds is a difference.
  func differencesFromFresh() throws -> [String] {
    let fresh = try serve(secondMountpoint, ["--no-sync", "--read-only"])
    var differences: [String] = []
    for _ in 0..<600 {
      do {
        let live = try ShownTree(reading: mountpoint)
        differences = live.differences(from: try ShownTree(reading: secondMountpoint))
      } catch {
        // News may take away what was listed before it is read.
        differences = ["\(error)"]
      }
      if differences.isEmpty { break }
      usleep(100_000)
    }
    try run(["unmount", secondMountpoint.string])
    try finish(fresh, ["mount"], expecting: [0])
    return differences
  }

  /// What a mount shows that begins now, while no other one runs.
  func shown() throws -> ShownTree {
    try mount(syncs: false)
    let shown = try ShownTree(reading: emma)
    try unmount()
    return shown
  }
}
