import Glibc
import Synchronization
import SystemPackage

import enum TestSupport.RememberedPasswords

/// A vault made and mounted by the built `kinvault`, in the test folder, with a state folder of its own.
package final class MountedVault: Sendable {
  /// Why there is no mount to test on.
  package struct Unavailable: Error, CustomStringConvertible {
    package let description: String
  }

  /// The vault that the suites share; unmounted, and its process reaped, when this process ends.
  package static let shared: Result<MountedVault, any Error> = {
    // First, so that it is removed last: exit handlers run in the reverse order.
    _ = TestFolder.shared
    let result = Result { try MountedVault(members: ["Emma"]) }
    atexit { _ = try? MountedVault.shared.get().unmount() }
    return result
  }()

  package let vault: FilePath
  package let mountpoint: FilePath
  package let environment: [String: String]
  private let members: [String]
  private let process = Mutex<pid_t?>(nil)

  /// The folder of the first member, in the mount.
  package var member: FilePath { mountpoint.appending(members[0]) }

  /// The file with the 24 words; only of a vault that was made here.
  package var words: FilePath { vault.removingLastComponent().appending("words") }

  /// - Parameter extra: What the program is to find in its environment besides.
  private init(_ members: [String], environment extra: [String: String]) throws {
    guard geteuid() == 0 || access("/dev/fuse", R_OK | W_OK) == 0 else {
      throw Unavailable(description: "/dev/fuse may not be opened by this user")
    }
    guard access(Self.binary.string, X_OK) == 0 else {
      throw Unavailable(description: "\(Self.binary) is not built; run `swift build`")
    }
    let folder = try TestFolder.shared.fresh("vault")
    vault = folder.appending("Family")
    mountpoint = folder.appending("mounted")
    self.members = members
    let password = folder.appending("password")
    environment = [
      "XDG_STATE_HOME": folder.appending("state").string, "KINVAULT_PASSWORD_FILE": password.string,
      "KINVAULT_PASSWORD_TIME": "1",
    ].merging(extra) { $1 }
    try OpenFile(password, O_CREAT | O_WRONLY, 0o600).write("only for tests\n")
  }

  /// Clones a vault of `other` from a remote, as another device, and mounts it.
  ///
  /// - Parameters:
  ///   - extra: What the program is to find in its environment besides.
  ///   - words: A command to run with the new vault before it is mounted; none when it is empty.
  package convenience init(
    cloning address: String, of other: MountedVault, environment extra: [String: String] = [:],
    beforeMounting words: [String] = []
  ) throws {
    try self.init(
      other.members,
      environment: other.environment.filter {
        !["XDG_STATE_HOME", "KINVAULT_PASSWORD_FILE"].contains($0.key)
      }.merging(extra) { $1 })
    try kinvault([
      "clone", address, vault.string, "--words-file", other.words.string, "--password-file",
      environment["KINVAULT_PASSWORD_FILE"] ?? "", "--device", "laptop",
    ])
    if !words.isEmpty { try kinvault(words + ["--vault", vault.string]) }
    try mount()
  }

  /// Makes a vault with these members and mounts it.
  package convenience init(members: [String], environment extra: [String: String] = [:]) throws {
    try self.init(members, environment: extra)
    let folder = vault.removingLastComponent()
    let password = folder.appending("password")
    do {
      try kinvault([
        "init", "--vault", vault.string, "--name", "Adult A", "--password-file", password.string,
        "--words-out", folder.appending("words").string, "--yes",
      ])
      for member in members {
        try kinvault(["member", "add", member, "--vault", vault.string])
      }
      try mount()
    } catch {
      throw Unavailable(description: "\(error)")
    }
  }

  // A test that fails leaves no mount behind.
  deinit { _ = try? unmount() }

  /// Runs `kinvault` with the vault's environment, and returns what it printed.
  @discardableResult
  package func kinvault(_ arguments: [String]) throws -> String {
    try Command([Self.binary.string] + arguments, environment: rememberingPasswords).succeed()
  }

  /// Mounts in the foreground, as a child of this process, and returns when the mount table shows it.
  ///
  /// What it says goes to a file: with the outputs of this process, it would keep whoever reads these waiting after a
  /// crash of the tests.
  package func mount(_ options: String...) throws {
    let null = try Errno.check(Glibc.open("/dev/null", O_RDWR | O_CLOEXEC))
    defer { close(null) }
    let words = try Errno.check(
      Glibc.open(log.string, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600))
    defer { close(words) }
    let child = try Command(
      [Self.binary.string, "mount", mountpoint.string, "--vault", vault.string, "--foreground"]
        + options,
      environment: rememberingPasswords
    ).spawn(input: null, output: words, errors: words)
    for _ in 0..<2400 {
      if isMounted {
        process.withLock { $0 = child }
        return
      }
      var status: Int32 = 0
      if waitpid(child, &status, WNOHANG) == child {
        throw Unavailable(
          description: "`kinvault mount` ended with status \((status >> 8) & 0xff): \(said)")
      }
      usleep(50_000)
    }
    kill(child, SIGKILL)
    _ = try Command.wait(for: child)
    throw Unavailable(description: "`kinvault mount` did not mount within two minutes: \(said)")
  }

  /// Has a remote from now on, which all that is there is put on, and is mounted anew.
  package func syncWith(_ address: String, _ options: String...) throws {
    try unmount()
    try kinvault(["remote", "add", "origin", address] + options + ["--vault", vault.string])
    try kinvault(["sync", "--vault", vault.string])
    try mount()
  }

  /// Unmounts, waits for the process, and returns its exit status; 0 when nothing is mounted.
  @discardableResult
  package func unmount() throws -> Int32 {
    guard let child = process.withLock({ $0.take() }) else { return 0 }
    let outcome = try Command(
      [Self.binary.string, "unmount", mountpoint.string], environment: environment
    ).run()
    if !outcome.isSuccess {
      print("UNMOUNTING FAILED, ending the mount by force: \(outcome)\n\(said)")
      kill(child, SIGTERM)
    }
    return try reap(child)
  }

  /// Waits for the process of a mount that something else ends, and returns its exit status. One that has not ended
  /// after two minutes is killed.
  package func end() throws -> Int32 {
    guard let child = process.withLock({ $0.take() }) else { return 0 }
    return try reap(child)
  }

  /// For the program alone: others that work with the vault get `environment`.
  private var rememberingPasswords: [String: String] {
    environment.merging(RememberedPasswords.environment) { $1 }
  }

  private var log: FilePath { vault.removingLastComponent().appending("mount-log") }
  /// All that mounts of this vault have said so far.
  package var said: String {
    let file = Glibc.open(log.string, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    return file < 0 ? "\(log): \(Errno.current)" : Command.text(of: file)
  }

  private func reap(_ child: pid_t) throws -> Int32 {
    for _ in 0..<2400 {
      var status: Int32 = 0
      if waitpid(child, &status, WNOHANG) == child {
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
      }
      usleep(50_000)
    }
    print("THE MOUNT DID NOT END, killing it: \(mountpoint)\n\(said)")
    kill(child, SIGKILL)
    _ = try? Command(["umount", "-l", mountpoint.string]).run()
    return try Command.wait(for: child)
  }

  /// Ends the mount as a crash does, and clears the dead mountpoint away.
  package func killMount() throws {
    guard let child = process.withLock({ $0.take() }) else { return }
    kill(child, SIGKILL)
    _ = try Command.wait(for: child)
    _ = try? Command(["fusermount3", "-uz", mountpoint.string]).run()
  }

  /// The process that serves the mount.
  package var processID: pid_t? { process.withLock { $0 } }

  private var isMounted: Bool {
    guard let table = try? OpenFile("/proc/self/mounts", O_RDONLY).text() else { return false }
    return table.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      return fields.count > 2 && fields[1] == mountpoint.string && fields[2] == "fuse.kinvault"
    }
  }

  /// The program under test: beside the test bundle, or what `KINVAULT_BINARY` says.
  package static let binary: FilePath = {
    if let given = Places.environment("KINVAULT_BINARY") { return FilePath(given) }
    var buffer = [CChar](repeating: 0, count: 4096)
    _ = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return FilePath(String(decoding: bytes, as: UTF8.self)).removingLastComponent().appending(
      "kinvault")
  }()
}
