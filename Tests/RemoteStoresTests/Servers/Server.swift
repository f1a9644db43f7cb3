import BlobStore
import CLinux
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

  /// The environment without what would change how these programs behave.
  static func environment(home: FilePath) -> [String: String] {
    ["PATH": "/usr/bin:/bin", "HOME": home.string, "TMPDIR": home.string]
  }

  /// Waits until something listens there.
  static func wait(forPort port: UInt16, of program: GuardedProgram) throws {
    for _ in 0..<12_000 {
      if isOpen(port) { return }
      if program.hasEnded { break }
      usleep(10_000)
    }
    throw program.failure("did not listen on port \(port)")
  }

  private static func isOpen(_ port: UInt16) -> Bool {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(number) }
    var address = loopback(port)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// Ports that nobody listens on now, each with the one 10,000 above it, which SeaweedFS takes as well.
  static func freePorts(_ count: Int) -> [UInt16] {
    var ports: [UInt16] = []
    var held: [Int32] = []
    defer { held.forEach { close($0) } }
    while ports.count < count {
      let port = UInt16.random(in: 20000...50000)
      let sockets = [port, port + 10000].map(bind)
      held += sockets.filter { $0 >= 0 }
      if sockets.allSatisfy({ $0 >= 0 }) { ports.append(port) }
    }
    return ports
  }

  private static func bind(_ port: UInt16) -> Int32 {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    var address = loopback(port)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if bound == 0 { return number }
    close(number)
    return -1
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
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
