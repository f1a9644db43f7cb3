import Glibc
import Threads
import Vault

/// How far long work has come, on one line of standard error that is drawn over; nothing at all
/// where standard error is no terminal. May be told from any thread.
final class ProgressBar: Sendable {
  enum Unit {
    case items
    case bytes
  }

  private struct State {
    var lastDrawn: UInt64 = 0
    var isDrawn = false
  }

  private static let interval: UInt64 = 100_000_000
  private let unit: Unit
  private let isShown: Bool
  private let started = ProgressBar.now()
  private let state = Guarded(State())

  init(_ unit: Unit, isShown: Bool = Terminal.isErrorTerminal) {
    self.unit = unit
    self.isShown = isShown
  }

  /// Draws at most ten times a second.
  func update(_ progress: WorkProgress) {
    guard isShown else { return }
    let now = Self.now()
    state.withLock { state in
      guard now - state.lastDrawn >= Self.interval else { return }
      state.lastDrawn = now
      state.isDrawn = true
      let elapsed = Double(now - started) / 1e9
      let width = Terminal.width(of: STDERR_FILENO) ?? 80
      let line = Self.line(progress, unit: unit, elapsed: elapsed, width: width)
      draw("\r" + DisplayWidth.pad(line, to: width - 1))
    }
  }

  /// Removes the line, so that what is printed next has it for itself.
  func finish() {
    state.withLock { state in
      guard state.isDrawn else { return }
      state.isDrawn = false
      draw("\r\u{1b}[K")
    }
  }

  private func draw(_ text: String) {
    let bytes = Array(text.utf8)
    // A progress line that cannot be written is no reason to stop.
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  /// The line, of at most `width` − 1 columns: `label [#####----]  52 %  1.2 GB  310 MB/s  4 s left`.
  static func line(
    _ progress: WorkProgress, unit: Unit, elapsed: Double, width: Int
  ) -> String {
    let (done, total) = (progress.done, progress.total)
    let rate = elapsed > 0.5 ? Double(done) / elapsed : 0
    var tail = unit == .bytes ? ByteCount.text(done) : "\(done)"
    if unit == .bytes, rate > 0 { tail += "  \(ByteCount.text(UInt64(rate)))/s" }
    let name = DisplayWidth.cut(Terminal.visible(progress.label), to: max(8, width / 3))
    guard total > 0 else { return DisplayWidth.cut("\(name)  \(tail)", to: width - 1) }
    let part = min(1, Double(done) / Double(total))
    if unit == .items { tail += " of \(total)" }
    if rate > 0, done < total {
      tail += "  \(DateText.duration(seconds: Int(Double(total - done) / rate) + 1)) left"
    }
    let percent = String(Int(part * 100))
    let padded = String(repeating: " ", count: 3 - percent.count) + percent
    let room = width - 1 - DisplayWidth.of(name) - DisplayWidth.of(tail) - 13
    guard room >= 8 else { return DisplayWidth.cut("\(name)  \(padded) %  \(tail)", to: width - 1) }
    let columns = min(room, 30)
    let filled = Int(part * Double(columns))
    let bar =
      String(repeating: "#", count: filled) + String(repeating: "-", count: columns - filled)
    return "\(name)  [\(bar)]  \(padded) %  \(tail)"
  }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
