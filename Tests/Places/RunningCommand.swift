import CPosix
import Glibc
import SystemPackage

/// A program that talks with the test through its standard input and output, a line at a time.
///
/// It is killed and reaped when the value goes, if it has not ended by then.
package final class RunningCommand {
  private let process: pid_t
  private let input: Int32
  private let output: Int32
  private var pending: [UInt8] = []
  private var status: Int32?

  package init(_ command: Command) throws {
    var toProgram: [Int32] = [0, 0]
    var fromProgram: [Int32] = [0, 0]
    try Errno.check(px_pipe(&toProgram))
    try Errno.check(px_pipe(&fromProgram))
    process = try command.spawn(input: toProgram[0], output: fromProgram[1], errors: 2)
    close(toProgram[0])
    close(fromProgram[1])
    input = toProgram[1]
    output = fromProgram[0]
  }

  deinit {
    close(input)
    close(output)
    if status == nil {
      kill(process, SIGKILL)
      _ = try? Command.wait(for: process)
    }
  }

  /// Ends the program as kill -9 does, and waits until it is gone.
  package func killNow() throws {
    kill(process, SIGKILL)
    status = try Command.wait(for: process)
  }

  /// Sends a line.
  package func send(_ line: String) throws {
    let bytes = Array((line + "\n").utf8)
    try Errno.check(write(input, bytes, bytes.count))
  }

  /// The program's next line without its end; nil when it will say nothing more. Throws `timedOut` after `seconds`.
  package func receive(within seconds: Int = 120) throws -> String? {
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        defer { pending.removeSubrange(...end) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      let ready = poll(&wanted, 1, Int32(seconds * 1000))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { throw Errno.timedOut }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = try Errno.check(read(output, &buffer, buffer.count))
      guard count > 0 else { return nil }
      pending += buffer[..<count]
    }
  }

  /// Sends a line and returns the answer.
  package func ask(_ line: String) throws -> String? {
    try send(line)
    return try receive()
  }

  /// Waits for the end of the program and returns its status.
  package func end() throws -> Int32 {
    let status = try self.status ?? Command.wait(for: process)
    self.status = status
    return status
  }
}
