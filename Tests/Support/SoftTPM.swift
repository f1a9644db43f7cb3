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
    let folder = try TemporaryFolder()
    self.folder = folder
    (port, process) = try LoopbackPorts.start { ports in
      (ports[0], try Self.start(at: ports[0], folder))
    }
  }

  /// The stack takes the port after the first one for the TPM's own control.
  private static func start(at port: UInt16, _ folder: TemporaryFolder) throws -> RunningCommand {
    let process = try RunningCommand(
      "swtpm",
      [
        "socket", "--tpm2", "--tpmstate", "dir=\(folder.path.string)",
        "--server", "type=tcp,port=\(port),bindaddr=127.0.0.1",
        "--ctrl", "type=tcp,port=\(port + 1),bindaddr=127.0.0.1", "--flags", "not-need-init",
      ])
    func output() -> String { process.outputSoFar + process.errorsSoFar }
    for _ in 0..<12_000 {
      // It listens to its control before it does to the TPM.
      if LoopbackPorts.answers(port + 1), LoopbackPorts.answers(port) { return process }
      if process.hasEnded() { throw LoopbackPorts.ServerEnded("swtpm", output: output()) }
      usleep(10_000)
    }
    throw NotStarted(output: output())
  }

  deinit {
    process.signal(SIGTERM)
    _ = process.wait()
  }
}
