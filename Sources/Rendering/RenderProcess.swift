import CLinux
import Glibc

/// One run of a program that gets bytes and answers with others, both over one socket.
struct RenderProcess: ~Copyable {
  /// How a run came to its end.
  struct End {
    /// As wait(2) says it; nil where it took too long or said too much, and was killed.
    var status: Int32?
    /// What it said, as far as it came.
    var answer: [UInt8]
  }

  private let process: pid_t
  private let socket: Int32

  /// Starts it with these words, with nothing of this process's environment, files and signals, and not within reach of the
  /// terminal's Ctrl-C. Nil if it cannot be started.
  init?(_ program: String, _ arguments: [String]) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    // What the loader says of missing libraries is for nobody.
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setpgroup(&attributes, 0)
    kv_spawn_with_own_signals(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    // A crash is to end it, and not to be looked into.
    let variables = [strdup("SWIFT_BACKTRACE=enable=no"), nil]
    defer { for text in words + variables { free(text) } }
    var process = pid_t()
    guard posix_spawn(&process, program, &actions, &attributes, words, variables) == 0 else {
      close(ends[0])
      return nil
    }
    (self.process, socket) = (process, ends[0])
  }

  /// Gives it all of the bytes, takes what it answers, and waits for its end, which it has found at the latest when this
  /// returns.
  consuming func exchange(
    _ bytes: [UInt8], answerLimit: Int, timeLimit: Duration
  ) -> End {
    // Time in which the machine sleeps does not count.
    let deadline = SuspendingClock.now + timeLimit
    var answer: [UInt8] = []
    let isWhole = talk(bytes, &answer, limit: answerLimit, deadline: deadline)
    let status = isWhole ? waitForEnd(deadline: deadline) : nil
    if status == nil { killAndWait() }
    close(socket)
    return End(status: status, answer: answer)
  }

  /// Whether it has said all that it says before it says too much, or too late.
  private borrowing func talk(
    _ bytes: [UInt8], _ answer: inout [UInt8], limit: Int, deadline: SuspendingClock.Instant
  ) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var sent = 0
    var isSending = true
    while true {
      let left = SuspendingClock.now.duration(to: deadline) / .milliseconds(1)
      guard left > 0 else { return false }
      var entry = pollfd(
        fd: socket, events: Int16(POLLIN) | (isSending ? Int16(POLLOUT) : 0), revents: 0)
      guard poll(&entry, 1, Int32(left.rounded(.up))) > 0 else { continue }
      if entry.revents & ~Int16(POLLOUT) != 0 {
        let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        // It has gone; with bytes that it did not read, this is an error.
        if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return true }
        answer += buffer.prefix(max(0, count))
        guard answer.count <= limit else { return false }
      }
      guard isSending, entry.revents & Int16(POLLOUT) != 0 else { continue }
      let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
      let count = bytes[sent...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, flags) }
      sent += max(0, count)
      let hasFailed = count < 0 && errno != EAGAIN && errno != EINTR
      guard sent == bytes.count || hasFailed else { continue }
      shutdown(socket, Int32(SHUT_WR))
      isSending = false
    }
  }

  /// How it ended by itself; nil if it does not. It has said all by now and is about to end: so this looks every 0.2 ms, as
  /// nothing that other threads of a program may use waits for one child with a limit.
  private borrowing func waitForEnd(deadline: SuspendingClock.Instant) -> Int32? {
    while SuspendingClock.now < deadline {
      var status: Int32 = 0
      let found = waitpid(process, &status, WNOHANG)
      if found == process { return status }
      if found < 0, errno != EINTR { return nil }
      usleep(200)
    }
    return nil
  }

  private borrowing func killAndWait() {
    kill(process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }
}
