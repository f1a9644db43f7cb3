import CLinux
import Glibc
import SystemPackage

/// What became of a program.
package struct CommandResult: Sendable {
  package enum End: Hashable, Sendable {
    case exited(status: Int32)
    case signalled(Int32)
    /// It ran out of time and was killed.
    case timedOut
  }

  package var end: End
  package var standardOutput: [UInt8]
  package var standardError: [UInt8]

  package var output: String { String(decoding: standardOutput, as: UTF8.self) }
  package var errors: String { String(decoding: standardError, as: UTF8.self) }
  /// The exit status; nil unless it exited by itself.
  package var status: Int32? {
    if case .exited(let status) = end { status } else { nil }
  }
}

package struct CommandError: Error, CustomStringConvertible {
  package var program: String
  package var errno: Int32
  package var description: String { "\(program): cannot be started: \(Errno(rawValue: errno))" }
}

/// A program that was started, with its input and outputs in unnamed files in memory: nothing fills up or waits for an
/// end of file, also when the program leaves a daemon behind that holds them.
///
/// Only this one process is ever signalled, and it is killed with the last reference.
package final class RunningCommand {
  package let processID: pid_t
  private let outputs: (standard: Int32, error: Int32)
  private var end: CommandResult.End?

  /// Starts `program` (a path, or a name to be found in `PATH`) in the given folder.
  /// - Parameter environment: all that it gets; nil: what this process has.
  package init(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
    input: [UInt8] = [], folder: FilePath? = nil
  ) throws(CommandError) {
    func fail(_ error: Int32) -> CommandError { CommandError(program: program, errno: error) }
    let files = (0..<3).map { _ in kv_unnamed_file() }
    guard files.allSatisfy({ $0 >= 0 }) else { throw fail(-(files.min() ?? 0)) }
    var written = 0
    while written < input.count {
      let count = input[written...].withUnsafeBytes { write(files[0], $0.baseAddress, $0.count) }
      guard count > 0 else { throw fail(errno) }
      written += count
    }
    lseek(files[0], 0, SEEK_SET)

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, file) in files.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, file, Int32(number))
    }
    if let folder { kv_spawn_in_folder(&actions, folder.string) }

    // The program must not inherit what a test process ignores or blocks: SIGTERM would not end it.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    kv_spawn_with_own_signals(&attributes, 0)

    let variables = environment?.map { "\($0)=\($1)" } ?? Self.inheritedVariables()
    var argumentPointers: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map {
      strdup($0)
    }
    argumentPointers.append(nil)
    var variablePointers = variables.map { strdup($0) as UnsafeMutablePointer<CChar>? }
    variablePointers.append(nil)
    defer {
      argumentPointers.forEach { free($0) }
      variablePointers.forEach { free($0) }
    }
    var processID: pid_t = 0
    let error = posix_spawnp(
      &processID, program, &actions, &attributes, argumentPointers, variablePointers)
    close(files[0])
    self.processID = processID
    outputs = (files[1], files[2])
    if error != 0 {
      end = .exited(status: 127)
      throw fail(error)
    }
  }

  deinit {
    if end == nil {
      kill(processID, SIGKILL)
      var status: Int32 = 0
      waitpid(processID, &status, 0)
    }
    close(outputs.standard)
    close(outputs.error)
  }

  /// What it has written until now.
  package var outputSoFar: String {
    String(decoding: Self.contents(outputs.standard), as: UTF8.self)
  }
  package var errorsSoFar: String { String(decoding: Self.contents(outputs.error), as: UTF8.self) }

  package func signal(_ signal: Int32) {
    if !hasEnded() { kill(processID, signal) }
  }

  /// Waits for the end; when the time is over, kills the program.
  package func wait(timeout: Duration = .seconds(300)) -> CommandResult {
    let deadline = ContinuousClock.now + timeout
    while !hasEnded() {
      if ContinuousClock.now >= deadline {
        kill(processID, SIGKILL)
        var status: Int32 = 0
        waitpid(processID, &status, 0)
        end = .timedOut
        break
      }
      usleep(2_000)
    }
    return CommandResult(
      end: end ?? .timedOut, standardOutput: Self.contents(outputs.standard),
      standardError: Self.contents(outputs.error))
  }

  package func hasEnded() -> Bool {
    if end != nil { return true }
    var status: Int32 = 0
    guard waitpid(processID, &status, WNOHANG) == processID else { return false }
    let signal = status & 0x7f
    end = signal == 0 ? .exited(status: (status >> 8) & 0xff) : .signalled(signal)
    return true
  }

  private static func inheritedVariables() -> [String] {
    var variables: [String] = []
    var next = kv_environment()
    while let variable = next?.pointee {
      variables.append(String(cString: variable))
      next = next?.successor()
    }
    return variables
  }

  private static func contents(_ file: Int32) -> [UInt8] {
    var status = stat()
    guard fstat(file, &status) == 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
      count = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
    }
  }
}

/// Runs programs to their end.
package enum CommandRunner {
  package static func run(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
    input: [UInt8] = [], folder: FilePath? = nil, timeout: Duration = .seconds(300)
  ) throws(CommandError) -> CommandResult {
    try RunningCommand(
      program, arguments, environment: environment, input: input, folder: folder
    ).wait(timeout: timeout)
  }
}
