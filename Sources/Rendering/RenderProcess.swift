import Glibc
import Processes
import Threads

/// One run of a program that gets bytes and answers with others, both over one socket.
struct RenderProcess: ~Copyable {
  /// How a run came to its end.
  struct End {
    /// Nil where it took too long or said too much, and was killed.
    var ending: ChildProcess.Ending?
    /// What it said, as far as it came.
    var answer: [UInt8]
  }

  private let process: ChildProcess
  private let socket: Int32

  /// Starts it with these words, with nothing of this process's environment, files and signals, and not within reach of the
  /// terminal's Ctrl-C. Nil if it cannot be started.
  init?(_ program: String, _ arguments: [String]) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    defer { close(ends[1]) }
    var setup = ChildProcess.Setup()
    // What the loader says of missing libraries is for nobody.
    setup.files = [
      STDIN_FILENO: .own(ends[1]), STDOUT_FILENO: .own(ends[1]), STDERR_FILENO: .nothing,
    ]
    // A crash is to end it, and not to be looked into.
    setup.environment = ["SWIFT_BACKTRACE=enable=no"]
    setup.leadsGroup = true
    // Why it cannot be started changes nothing: its format is not shown, as where there is no such program.
    guard let process = try? ChildProcess(program, arguments, setup) else {
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
    let ending = isWhole ? waitForEnd(deadline: deadline) : nil
    if ending == nil { process.kill() }
    close(socket)
    return End(ending: ending, answer: answer)
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
  private borrowing func waitForEnd(deadline: SuspendingClock.Instant) -> ChildProcess.Ending? {
    while SuspendingClock.now < deadline {
      if let ending = process.poll() { return ending }
      SystemThread.pause(for: .microseconds(200))
    }
    return nil
  }
}
