import Glibc
import SystemPackage

/// A TPM 2.0 in software (swtpm), with a state of its own that lasts as long as this.
package final class SoftTPM {
  private let process: RunningCommand
  private let folder: TemporaryFolder
  private let port: UInt16

  /// How it is reached, in the words of the TCG's software stack.
  package var connection: String { "swtpm:host=127.0.0.1,port=\(port)" }

  package struct NotStarted: Error {
    package let output: String
  }

  package init() throws {
    folder = try TemporaryFolder()
    // The stack takes the port after the first one for the TPM's own control.
    let port = try Self.freePorts()
    self.port = port
    process = try RunningCommand(
      "swtpm",
      [
        "socket", "--tpm2", "--tpmstate", "dir=\(folder.path.string)",
        "--server", "type=tcp,port=\(port),bindaddr=127.0.0.1",
        "--ctrl", "type=tcp,port=\(port + 1),bindaddr=127.0.0.1", "--flags", "not-need-init",
      ])
    for _ in 0..<12_000 {
      // It listens to its control before it does to the TPM.
      if Self.answers(port + 1), Self.answers(port) { return }
      if process.hasEnded() { break }
      usleep(10_000)
    }
    throw NotStarted(output: process.outputSoFar + process.errorsSoFar)
  }

  deinit {
    process.signal(SIGTERM)
    _ = process.wait()
  }

  /// A port such that it and the next one are free.
  private static func freePorts() throws -> UInt16 {
    for _ in 0..<100 {
      let port = UInt16.random(in: 20_000..<32_000) & ~1
      if !isTaken(port), !isTaken(port + 1) { return port }
    }
    throw NotStarted(output: "no free ports")
  }

  private static func isTaken(_ port: UInt16) -> Bool {
    let socket = makeSocket()
    defer { close(socket) }
    return withAddress(port) { bind(socket, $0, $1) } != 0
  }

  private static func answers(_ port: UInt16) -> Bool {
    let socket = makeSocket()
    defer { close(socket) }
    return withAddress(port) { connect(socket, $0, $1) } == 0
  }

  private static func makeSocket() -> Int32 {
    socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  }

  private static func withAddress(
    _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }
}
