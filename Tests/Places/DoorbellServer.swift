import Glibc
import SystemPackage

/// A server of ntfy's protocol on loopback (`doorbell.py`), which tells what it was asked.
package final class DoorbellServer {
  private let folder: FilePath
  private var process: pid_t?
  /// Where it is, as `kinvault remote doorbell` takes it.
  package let address: String

  package init() throws {
    folder = try TestFolder.shared.fresh("doorbell")
    let here = FilePath(#filePath).removingLastComponent()
    let python = here.removingLastComponent().removingLastComponent()
      .appending(".build-python/bin/python")
    let null = try Errno.check(Glibc.open("/dev/null", O_RDWR | O_CLOEXEC))
    defer { close(null) }
    let port = folder.appending("port")
    process = try Command(
      [
        python.string, here.appending("doorbell.py").string, port.string,
        folder.appending("log").string,
      ], in: folder
    ).spawn(input: null, output: null, errors: 2)
    var number: Int?
    for _ in 0..<2400 where number == nil {
      number = (try? OpenFile(port, O_RDONLY).text()).flatMap { Int($0) }
      if number == nil { usleep(50_000) }
    }
    address = "http://127.0.0.1:\(number ?? 0)"
    if number == nil { throw MountedVault.Unavailable(description: "the doorbell did not start") }
  }

  /// A line for each thing that happened: `listen <topics>`, `left`, `ring <topic> <listeners>`.
  package func events() throws -> [String] {
    try OpenFile(folder.appending("log"), O_RDONLY).text().split(separator: "\n").map(String.init)
  }

  /// Ends it as kill -9 does.
  package func kill() {
    guard let process else { return }
    Glibc.kill(process, SIGKILL)
    _ = try? Command.wait(for: process)
    self.process = nil
  }

  deinit { kill() }
}
