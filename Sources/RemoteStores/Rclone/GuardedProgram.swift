import BlobStore
import CLinux
import Glibc
import Processes
import Threads

/// A program that serves us and ends with us: when it is let go, and when this process dies, however suddenly.
///
/// A shell stands between: it starts the program, waits for the end of its own input, which is a pipe that only this
/// process holds, and then ends the program. (`PR_SET_PDEATHSIG` would go by the thread that started it.) Both are in a
/// process group of their own, so that Ctrl-C at the terminal is ours to handle.
package final class GuardedProgram: Sendable {
  private let name: String
  private let shell: ChildProcess
  /// The shell reads from it, until it is let go.
  private let leash: Int32
  /// Ends when the program has ended: nobody else holds its other end.
  private let sign: Int32
  private let errors: Int32

  private static let script = """
    "$@" </dev/null &
    program=$!
    exec >/dev/null
    cat >/dev/null
    kill "$program" 2>/dev/null
    wait "$program"
    """

  /// Starts a program by its name in `PATH`, or by its path. Throws `programFailed` when there is no shell; that there
  /// is no such program shows in `hasEnded`.
  /// - Parameter environment: All that it gets.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String]
  ) throws(BlobStoreError) {
    name = program
    let (input, output): (ProcessPipe, ProcessPipe)
    do { (input, output) = (try ProcessPipe(), try ProcessPipe()) } catch {
      throw Self.noDescriptor(for: program)
    }
    errors = kv_unnamed_file()
    guard errors >= 0 else { throw Self.noDescriptor(for: program) }
    var setup = ChildProcess.Setup()
    setup.files = [0: .own(input.reading), 1: .own(output.writing), 2: .own(errors)]
    setup.environment = environment.map { "\($0)=\($1)" }
    setup.leadsGroup = true
    do {
      shell = try ChildProcess("/bin/sh", ["-c", Self.script, "sh", program] + arguments, setup)
    } catch {
      close(errors)
      throw .programFailed(program: program, reason: String(cString: strerror(error.errno)))
    }
    (leash, sign) = (input.takeWriting(), output.takeReading())
  }

  private static func noDescriptor(for program: String) -> BlobStoreError {
    .programFailed(program: program, reason: "no file descriptor is left to start it with")
  }

  deinit {
    close(leash)
    close(sign)
    close(errors)
    for _ in 0..<500 {
      if shell.poll() != nil { return }
      SystemThread.pause(for: .milliseconds(10))
    }
    shell.kill(withGroup: true)
  }

  /// Whether the program is gone.
  package var hasEnded: Bool {
    var entry = pollfd(fd: sign, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, 0) > 0 {
      if entry.revents & Int16(POLLIN) == 0 { return true }
      // It may say something.
      var buffer = [UInt8](repeating: 0, count: 4096)
      if Glibc.read(sign, &buffer, buffer.count) <= 0 { return true }
    }
    return false
  }

  /// What it has written to its standard error, its last 4 KiB.
  package var errorText: String {
    var status = stat()
    guard fstat(errors, &status) == 0 else { return "" }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = pread(errors, &buffer, buffer.count, max(0, status.st_size - 4096))
    return String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
  }

  /// Why it is of no use any more: its own last line.
  package func failure(_ otherwise: String) -> BlobStoreError {
    let line = errorText.split(separator: "\n").last.map(String.init) ?? otherwise
    return .programFailed(program: name, reason: ReplyText.oneLine(line))
  }
}
