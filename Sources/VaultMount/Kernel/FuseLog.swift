import CFuse
import Glibc
import Threads

/// What libfuse has to say goes into our errors instead of onto standard error.
///
/// libfuse knows a single log function for the process, so the words are kept process-wide.
enum FuseLog {
  private static let lines = Guarded<[String]>([])

  /// Takes over the log and forgets what was said before.
  static func begin() {
    lines.withLock { $0.removeAll() }
    fuse_set_log_func { _, format, arguments in
      guard let format, let arguments else { return }
      var text = [CChar](repeating: 0, count: 512)
      vsnprintf(&text, text.count, format, arguments)
      FuseLog.note(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
    }
  }

  /// What was said since `begin`, on one line.
  static func collected(orElse nothing: String = "the kernel gave no reason") -> String {
    let text = lines.withLock { $0.joined(separator: "; ") }
    return text.isEmpty ? nothing : text
  }

  private static func note(_ line: String) {
    let text = String(line.drop { $0 == " " }.prefix { $0 != "\n" })
    lines.withLock { if $0.count < 8 { $0.append(text) } }
  }
}
