import Glibc
import TestSupport
import Testing

/// `kinvault open --no-browser`, as it runs.
struct RunningPage {
  let command: RunningCommand
  let address: String
  let code: String

  /// - Parameter changes: Of the environment; nil removes.
  init(_ program: Program, environment changes: [String: String?] = [:]) throws {
    var environment = program.environment
    for (name, value) in changes { environment[name] = value }
    let running = try RunningCommand(
      Program.executable, ["open", "--no-browser"], environment: environment)
    func told(_ name: String) -> String? {
      running.outputSoFar.split(separator: "\n").first { $0.hasPrefix(name) }
        .flatMap { $0.dropFirst(name.count).split(separator: " ").first }.map(String.init)
    }
    for _ in 0..<6000 where told("Code:") == nil && !running.hasEnded() { usleep(20_000) }
    address = try #require(told("Address:"), "\(running.errorsSoFar)")
    code = try #require(told("Code:"))
    command = running
  }

  /// Waits for its end, and gives its exit status.
  func end() throws -> Int32 {
    let result = command.wait()
    return try #require(result.status, "\(result.end): \(result.errors)")
  }
}
