import BlobStore
import CLinux
import Glibc

/// A program that serves us and ends with us: when it is let go, and when this process dies, however suddenly.
///
/// A shell stands between: it starts the program, waits for the end of its own input, which is a pipe that only this
/// process holds, and then ends the program. (`PR_SET_PDEATHSIG` would go by the thread that started it.) Both are in a
/// process group of their own, so that Ctrl-C at the terminal is ours to handle.
package final class GuardedProgram: Sendable {
  private let name: String
  private let shell: pid_t
  /// The shell reads from it.
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
    var input: [Int32] = [-1, -1]
    var output: [Int32] = [-1, -1]
    errors = kv_unnamed_file()
    guard kv_pipe(&input) == 0, kv_pipe(&output) == 0, errors >= 0 else {
      for number in input + output + [errors] where number >= 0 { close(number) }
      throw .programFailed(program: program, reason: "no file descriptor is left to start it with")
    }
    (leash, sign) = (input[1], output[0])
    let (number, error) = Self.spawn(
      ["/bin/sh", "-c", Self.script, "sh", program] + arguments, environment,
      files: [input[0], output[1], errors])
    close(input[0])
    close(output[1])
    shell = number
    if error != 0 {
      throw .programFailed(program: program, reason: String(cString: strerror(error)))
    }
  }

  deinit {
    close(leash)
    close(sign)
    close(errors)
    guard shell > 0 else { return }
    var status: Int32 = 0
    for _ in 0..<500 {
      if waitpid(shell, &status, WNOHANG) != 0 { return }
      usleep(10_000)
    }
    kill(-shell, SIGKILL)
    waitpid(shell, &status, 0)
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

  private static func spawn(
    _ command: [String], _ environment: [String: String], files: [Int32]
  ) -> (pid_t, Int32) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, file) in files.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, file, Int32(number))
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setpgroup(&attributes, 0)
    kv_spawn_with_own_signals(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
    arguments.append(nil)
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") }
    variables.append(nil)
    defer { for text in arguments + variables { free(text) } }
    var number: pid_t = 0
    let error = posix_spawn(&number, "/bin/sh", &actions, &attributes, arguments, variables)
    return (error == 0 ? number : 0, error)
  }
}
