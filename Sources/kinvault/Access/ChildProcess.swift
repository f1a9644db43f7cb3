import CLinux
import Glibc

/// Programs that a command runs and waits for.
enum ChildProcess {
  /// Starts a program with the terminal and the environment of this one; signals are as by default.
  static func start(
    _ arguments: [String], path: String, standardInput: Int32 = STDIN_FILENO,
    standardOutput: Int32 = STDOUT_FILENO
  ) throws(CommandError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if standardInput != STDIN_FILENO {
      posix_spawn_file_actions_adddup2(&actions, standardInput, STDIN_FILENO)
    }
    if standardOutput != STDOUT_FILENO {
      posix_spawn_file_actions_adddup2(&actions, standardOutput, STDOUT_FILENO)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    kv_spawn_with_own_signals(&attributes, 0)

    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    let failure = posix_spawnp(&process, path, &actions, &attributes, &words, environ)
    guard failure == 0 else { throw .system(call: "run", path: path, errno: failure) }
    return process
  }

  /// The exit status of a child that has ended or will; 128 and the signal's number after a signal.
  static func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }
}
