import BlobStore
import Glibc
import RemoteStores
import SystemPackage
import TestSupport
import Testing

/// A server on loopback for the tests of one suite, with its data in a folder of its own. It ends with the suite, or with
/// the process.
protocol Server: AnyObject, Sendable {
  init() throws
}

/// The programs that Scripts/setup installs. A missing one is a failure, not a reason to skip.
enum ServerPrograms {
  struct Missing: Error, CustomStringConvertible {
    var path: FilePath
    var description: String { "\(path.string) is missing: run Scripts/setup --test" }
  }

  static func path(_ name: String) throws -> String {
    try existing(".build-python/bin/\(name)")
  }

  /// What stands in a Debian package that is only unpacked, since installing it would start it.
  static func unpacked(_ path: String) throws -> String { try existing(".build-debian/\(path)") }

  private static func existing(_ path: String) throws -> String {
    let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .removingLastComponent().removingLastComponent()
    let path = root.pushing(FilePath(path))
    guard access(path.string, R_OK) == 0 else { throw Missing(path: path) }
    return path.string
  }

  /// Starts a program that serves on free ports, and waits until it listens at all of them.
  ///
  /// - Parameters:
  ///   - count: How many ports it takes.
  ///   - home: The folder that it takes for its user's.
  ///   - extra: What it is to find in its environment besides.
  ///   - command: The program and its arguments.
  static func start(
    ports count: Int = 1, home: FilePath, environment extra: [String: String] = [:],
    command: ([UInt16]) throws -> [String]
  ) throws -> (program: GuardedProgram, ports: [UInt16]) {
    try LoopbackPorts.start(count) { ports in
      let words = try command(ports)
      let program = try GuardedProgram(
        words[0], Array(words.dropFirst()),
        environment: environment(home: home).merging(extra) { $1 })
      for port in ports { try wait(for: port, of: program, words[0]) }
      return (program, ports)
    }
  }

  /// The environment without what would change how these programs behave.
  static func environment(home: FilePath) -> [String: String] {
    ["PATH": "/usr/bin:/bin", "HOME": home.string, "TMPDIR": home.string]
  }

  private static func wait(
    for port: UInt16, of program: GuardedProgram, _ name: String
  ) throws {
    for _ in 0..<12_000 {
      if LoopbackPorts.answers(port) { return }
      if program.hasEnded {
        throw LoopbackPorts.ServerEnded(name, output: program.errorText)
      }
      usleep(10_000)
    }
    throw program.failure("did not listen on port \(port)")
  }
}

/// Runs a suite with a server of its own.
struct ServerTrait<Kind: Server>: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let server = try Kind()
    try await RunningServer.$current.withValue(server) { try await function() }
  }
}

enum RunningServer {
  @TaskLocal static var current: (any Server)?

  static func get<Kind: Server>(_ kind: Kind.Type = Kind.self) throws -> Kind {
    try #require(current as? Kind, "the suite has no such server")
  }
}
