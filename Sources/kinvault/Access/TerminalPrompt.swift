import Glibc
import VaultCrypto

/// Asks the person at the terminal, whatever standard input and output are.
struct TerminalPrompt: ~Copyable {
  private let descriptor: Int32

  /// The terminal of this process; nil where there is none.
  init?() {
    descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// A line that is not shown while it is typed.
  func secret(_ question: String) throws(CommandError) -> SecretBytes {
    var buffer = SecretBytes(count: SecretInput.limit)
    let length = try readLine(question, isShown: false, into: &buffer)
    return buffer.prefix(length)
  }

  /// A line as it was typed, without blanks around it.
  func line(_ question: String) throws(CommandError) -> String {
    var buffer = SecretBytes(count: SecretInput.limit)
    let length = try readLine(question, isShown: true, into: &buffer)
    let text = buffer.withUnsafeBytes {
      String(decoding: UnsafeRawBufferPointer(rebasing: $0[..<length]), as: UTF8.self)
    }
    return String(
      text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }

  /// Shows text.
  func show(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(descriptor, bytes, bytes.count)
  }

  // MARK: Reading

  /// - Returns: How many bytes were typed before the end of the line.
  private func readLine(
    _ question: String, isShown: Bool, into buffer: inout SecretBytes
  ) throws(CommandError) -> Int {
    let signals = HeldSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP])
    defer { signals.release() }
    var isAsked = false
    while true {
      // The terminal gets its old settings back before a signal does its work.
      let echo = isShown ? nil : EchoOff(descriptor)
      if !isAsked { show(question) }
      isAsked = true
      let outcome = try waitForLine(signals)
      switch outcome {
      case .ready:
        let length = try readReadyLine(into: &buffer)
        echo?.restore()
        if !isShown { show("\n") }
        return length
      case .signal(let signal):
        echo?.restore()
        show("\n")
        guard signal == SIGTSTP else {
          signals.deliver(signal)
          throw .interrupted(signal: signal)
        }
        signals.deliver(signal)
        isAsked = false
      }
    }
  }

  private enum Outcome {
    case ready
    case signal(Int32)
  }

  private func waitForLine(_ signals: HeldSignals) throws(CommandError) -> Outcome {
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&waiting, 1, 50)
      if let signal = signals.next() { return .signal(signal) }
      if count > 0 { return .ready }
      if count < 0, errno != EINTR { throw .system(call: "poll", path: "/dev/tty", errno: errno) }
    }
  }

  private func readReadyLine(into buffer: inout SecretBytes) throws(CommandError) -> Int {
    let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw .system(call: "read", path: "/dev/tty", errno: errno) }
    guard count > 0 else { throw .locked("The terminal was closed before there was an answer.") }
    return buffer.withUnsafeBytes { $0[count - 1] == UInt8(ascii: "\n") ? count - 1 : count }
  }
}

/// A terminal that does not show what is typed, until it is restored.
private final class EchoOff {
  private let descriptor: Int32
  private var before = termios()
  private var isOff = false

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    guard tcgetattr(descriptor, &before) == 0 else { return }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK)
    silent.c_lflag |= tcflag_t(ICANON | ISIG)
    // What was typed before the question is not an answer to it.
    isOff = tcsetattr(descriptor, TCSAFLUSH, &silent) == 0
  }

  func restore() {
    guard isOff else { return }
    isOff = false
    tcsetattr(descriptor, TCSAFLUSH, &before)
  }

  deinit { restore() }
}
