import CPosix
import Glibc
import SystemPackage

/// A program of the system, run to its end.
///
/// It is found in `PATH`, gets this process's environment with `environment` laid over it, and no input.
package struct Command: Sendable {
  package var arguments: [String]
  package var directory: FilePath?
  package var environment: [String: String]

  package init(
    _ arguments: [String], in directory: FilePath? = nil, environment: [String: String] = [:]
  ) {
    self.arguments = arguments
    self.directory = directory
    self.environment = environment
  }

  /// What came of a program that ended.
  package struct Outcome: Sendable, CustomStringConvertible {
    package let command: String
    /// The exit status; 128 + the signal for a program that a signal ended.
    package let status: Int32
    package let output: String
    package let errors: String

    package var isSuccess: Bool { status == 0 }
    package var description: String { "`\(command)` → \(status)\n\(output)\n\(errors)" }
  }

  /// Runs the program and waits for its end, whatever it is.
  package func run() throws -> Outcome {
    let output = try Self.scratchDescriptor()
    let errors = try Self.scratchDescriptor()
    defer {
      close(output)
      close(errors)
    }
    let null = try Errno.check(Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC))
    defer { close(null) }
    let process = try spawn(input: null, output: output, errors: errors)
    return Outcome(
      command: arguments.joined(separator: " "), status: try Self.wait(for: process),
      output: Self.text(of: output), errors: Self.text(of: errors))
  }

  /// Runs the program, and throws what it said when it did not succeed; else returns what it printed.
  @discardableResult
  package func succeed() throws -> String {
    let outcome = try run()
    guard outcome.isSuccess else { throw CommandFailed(outcome: outcome) }
    return outcome.output
  }

  /// Starts the program with the given descriptors as its standard ones, and returns its process id.
  package func spawn(input: Int32, output: Int32, errors: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, standard) in [(input, Int32(0)), (output, 1), (errors, 2)] {
      posix_spawn_file_actions_adddup2(&actions, descriptor, standard)
    }
    // A program starts with no signal blocked, as a shell starts it; the threads that tests run on block most.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words = arguments
    if let directory {
      words = ["env", "-C", directory.string] + words
    }
    var merged = Self.environment
    merged.merge(environment) { $1 }
    var process = pid_t()
    let failure = withCStrings(words) { argv in
      withCStrings(merged.map { "\($0.key)=\($0.value)" }) { environment in
        posix_spawnp(&process, argv[0]!, &actions, &attributes, argv, environment)
      }
    }
    guard failure == 0 else { throw Errno(rawValue: failure) }
    return process
  }

  /// Waits for the end of a process that was spawned, and returns its status as a shell would.
  package static func wait(for process: pid_t) throws -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { throw Errno.current }
    }
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }

  private static var environment: [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1)
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    return result
  }

  private static func scratchDescriptor() throws -> Int32 {
    try Errno.check(px_open_nameless("/tmp"))
  }

  static func text(of descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = pread(descriptor, &buffer, buffer.count, off_t(bytes.count)), count > 0 {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// A program that ended with an exit status other than 0.
package struct CommandFailed: Error, CustomStringConvertible {
  package let outcome: Command.Outcome
  package var description: String { outcome.description }
}

/// Calls `body` with a null-terminated array of C strings, as `argv` is one.
private func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let copies = strings.map { strdup($0) } + [nil]
  defer { for copy in copies { free(copy) } }
  return body(copies)
}
