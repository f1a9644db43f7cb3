import Glibc

/// Writes a line to standard error: for what a test must not hide but cannot fail for.
func complain(_ text: String) {
  let line = Array("\(text)\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
