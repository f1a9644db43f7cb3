import CLinux
import Glibc

/// Another program that this process has started. Never by fork: a copy of a process with threads cannot be trusted.
package struct ChildProcess: Sendable {
  /// The error number that it could not be started for.
  package struct NotStarted: Error {
    package let errno: Int32
  }

  /// What a file is in the program.
  package enum File: Sendable {
    /// The one that has this number here.
    case own(Int32)
    /// `/dev/null`, to be read and written.
    case nothing
  }

  /// How it begins, besides its words.
  package struct Setup: Sendable {
    /// By their numbers in the program. It has 0, 1 and 2 of this process where they do not stand here, and no other file, since
    /// all of ours are closed on exec. They are put in their places in the order of these numbers: what is still needed may
    /// not have a number that is given away before.
    package var files: [Int32: File] = [:]
    /// Its variables, `NAME=value`; nil for those of this process.
    package var environment: [String]?
    /// Whether it leads a process group of its own, so that Ctrl-C at the terminal is not for it.
    package var leadsGroup = false
    /// Whether it blocks and ignores what this process does. Else all signals are as by default.
    package var keepsSignals = false

    package init() {}
  }

  package let number: pid_t

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - program: Its path, or its name, which is looked for in `PATH`.
  ///   - arguments: The words after its name.
  ///   - name: What it is told to be called; nil for `program`.
  package init(
    _ program: String, _ arguments: [String], name: String? = nil, _ setup: Setup = Setup()
  ) throws(NotStarted) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, file) in setup.files.sorted(by: { $0.key < $1.key }) {
      switch file {
      case .own(let own): posix_spawn_file_actions_adddup2(&actions, own, number)
      case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
      }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    let flags = Int16(setup.leadsGroup ? POSIX_SPAWN_SETPGROUP : 0)
    posix_spawnattr_setpgroup(&attributes, 0)
    if setup.keepsSignals {
      posix_spawnattr_setflags(&attributes, flags)
    } else {
      kv_spawn_with_own_signals(&attributes, flags)
    }
    let words = CStringArray([name ?? program] + arguments)
    let variables = setup.environment.map { CStringArray($0) }
    var number = pid_t()
    let failure = posix_spawnp(
      &number, program, &actions, &attributes, words.pointers,
      variables?.pointers ?? kv_environment())
    guard failure == 0 else { throw NotStarted(errno: failure) }
    self.number = number
  }

  /// How a program ended.
  package enum Ending: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)

    /// From a status of wait(2).
    package init(status: Int32) {
      let signal = status & 0x7f
      self = signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal)
    }

    package var isSuccess: Bool { self == .exited(0) }

    /// As a shell says it: 128 and the signal's number after a signal.
    package var code: Int32 {
      switch self {
      case .exited(let code): code
      case .killed(let signal): 128 + signal
      }
    }
  }

  /// Waits for its end. Where that cannot be learned, as when it was before, it is said to have failed.
  @discardableResult
  package func wait() -> Ending {
    while true { if let ending = ending(flags: 0) { return ending } }
  }

  /// How it has ended; nil while it has not.
  package func poll() -> Ending? { ending(flags: WNOHANG) }

  private func ending(flags: Int32) -> Ending? {
    var status: Int32 = 0
    let found = waitpid(number, &status, flags)
    if found == number { return Ending(status: status) }
    return found < 0 && errno != EINTR ? .exited(255) : nil
  }

  /// Kills it, with its group if it leads one, and waits for its end.
  package func kill(withGroup: Bool = false) {
    _ = Glibc.kill(withGroup ? -number : number, SIGKILL)
    wait()
  }

  /// The variables of this process.
  package static var environment: [String] {
    var words: [String] = []
    var next = kv_environment()
    while let word = next?.pointee {
      words.append(String(cString: word))
      next = next?.advanced(by: 1)
    }
    return words
  }
}
