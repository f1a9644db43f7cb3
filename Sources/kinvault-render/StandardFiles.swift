import Glibc

/// The two files that are left.
enum StandardFiles {
  /// All that comes; nil if it is more than this, or cannot be read.
  static func read(limit: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0, bytes.count + count <= limit else { return nil }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Whether all of it could be written.
  static func write(_ bytes: [UInt8]) -> Bool {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      written += count
    }
    return true
  }

  /// Says something on standard error, while there is one.
  static func complain(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = Glibc.write(STDERR_FILENO, line, line.count)
  }
}
