import CLinux
import Glibc
import SystemPackage
import Testing

/// The built `kinvault` at a terminal of its own, as a person meets it.
///
/// Only this one process is ever signalled, and it is killed with the last reference.
final class TerminalProgram {
  /// `POSIX_SPAWN_SETSID`, which glibc hides without `_GNU_SOURCE`.
  private static let newSession: Int16 = 0x80

  private let terminal: Int32
  private let process: pid_t
  private var status: Int32?
  /// Everything that stood on the screen so far, without carriage returns.
  private(set) var screen = ""
  /// Where `expect` goes on looking.
  private var position: String.Index

  struct NotSeen: Error, CustomStringConvertible {
    let wanted: String
    let screen: String
    var description: String { "“\(wanted)” does not come; the screen shows:\n\(screen)" }
  }

  init(_ program: Program, _ arguments: String..., environment changes: [String: String?] = [:])
    throws
  {
    // What posix_openpt and its kin do, which are not visible from Swift.
    terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var unlocked: Int32 = 0
    var number: Int32 = 0
    try #require(
      terminal >= 0 && ioctl(terminal, 0x4004_5431, &unlocked) == 0
        && ioctl(terminal, 0x8004_5430, &number) == 0)
    let name = "/dev/pts/\(number)"
    var environment = program.environment
    environment["KINVAULT_PASSWORD_FILE"] = nil
    environment["TERM"] = "dumb"
    for (name, value) in changes { environment[name] = value }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The first terminal that the leader of a session opens is the session's.
    for descriptor: Int32 in 0...2 {
      posix_spawn_file_actions_addopen(&actions, descriptor, name, O_RDWR, 0)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    kv_spawn_with_own_signals(&attributes, Self.newSession)
    let executable = try Program.executable
    var words = ([executable] + arguments).map { strdup($0) as UnsafeMutablePointer<CChar>? }
    var variables = environment.map {
      strdup("\($0.key)=\($0.value)") as UnsafeMutablePointer<CChar>?
    }
    words.append(nil)
    variables.append(nil)
    defer { (words + variables).forEach { free($0) } }
    var process: pid_t = 0
    try #require(
      posix_spawn(&process, executable, &actions, &attributes, words, variables) == 0)
    self.process = process
    position = screen.startIndex
  }

  deinit {
    close(terminal)
    guard status == nil else { return }
    kill(process, SIGKILL)
    var status: Int32 = 0
    waitpid(process, &status, 0)
  }

  /// Returns when this text comes, after what was expected before; what stood between.
  @discardableResult
  func expect(_ text: String) throws -> String {
    let deadline = ContinuousClock.now + .seconds(300)
    while true {
      if let found = find(text) {
        defer { position = found.upperBound }
        return String(screen[position..<found.lowerBound])
      }
      guard ContinuousClock.now < deadline, receive() else {
        throw NotSeen(wanted: text, screen: screen)
      }
    }
  }

  private func find(_ text: String) -> Range<String.Index>? {
    var start = position
    while start < screen.endIndex {
      if screen[start...].hasPrefix(text) {
        return start..<screen.index(start, offsetBy: text.count)
      }
      start = screen.index(after: start)
    }
    return nil
  }

  /// Types a line, once the question is there.
  func type(_ line: String) {
    send(line + "\n")
  }

  /// Ctrl-C.
  func interrupt() { send("\u{3}") }

  func signal(_ number: Int32) { kill(process, number) }

  private func send(_ text: String) {
    // A question is shown just before the terminal is read: what comes earlier may be thrown away.
    usleep(200_000)
    let bytes = Array(text.utf8)
    _ = write(terminal, bytes, bytes.count)
  }

  /// The exit status, or 128 and the signal's number.
  func end() -> Int32 {
    while receive() {}
    if let status { return status }
    var word: Int32 = 0
    while waitpid(process, &word, 0) < 0, errno == EINTR {}
    let result = word & 0x7f == 0 ? (word >> 8) & 0xff : 128 + word & 0x7f
    status = result
    return result
  }

  /// - Returns: False at the end, when no process has the terminal any more.
  private func receive() -> Bool {
    var waiting = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, 300_000) > 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(terminal, &buffer, buffer.count)
    guard count > 0 else { return false }
    let seen = screen.distance(from: screen.startIndex, to: position)
    screen += String(decoding: buffer[..<count].filter { $0 != 13 }, as: UTF8.self)
    position = screen.index(screen.startIndex, offsetBy: seen)
    return true
  }
}
