import Glibc

/// Where words for people go, and what is known of it.
enum Terminal {
  /// Writes text to standard output, whole. Ends the program quietly when nobody reads any more.
  static func write(_ text: String) { write(Array(text.utf8)) }

  static func writeLine(_ text: String = "") { write(text + "\n") }

  static func write(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

  /// Writes a line to standard error.
  static func note(_ text: String) { write(Array((text + "\n").utf8), to: STDERR_FILENO) }

  static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// The width of a terminal in columns; nil where the output is no terminal.
  static func width(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else {
      return nil
    }
    return size.ws_col >= 20 ? Int(size.ws_col) : 80
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == EAGAIN {
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&waiting, 1, -1)
          continue
        }
        // Nobody is left to tell.
        endProcess(errno == EPIPE ? ExitStatus.success.rawValue : ExitStatus.system.rawValue)
      }
      rest = rest.dropFirst(count)
    }
  }

  /// Text from the vault made harmless for a terminal: a name may hold escape sequences that rewrite
  /// the screen. Control characters become `\u{1b}`-like escapes.
  static func visible(_ text: String) -> String {
    if text.isPlainLatin || !text.unicodeScalars.contains(where: isHarmful) { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      result += isHarmful(scalar) ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }
  }

  /// `visible`, but with line feeds and tabs as they are, and without carriage returns before line feeds.
  static func visibleText(_ text: String) -> String {
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { line in
      let line = line.last == "\r" ? line.dropLast() : line
      return line.split(separator: "\t", omittingEmptySubsequences: false)
        .map { visible(String(String.UnicodeScalarView($0))) }.joined(separator: "\t")
    }.joined(separator: "\n")
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    // Right-to-left overrides make `exe.fdp` read as `pdf.exe`.
    case .format:
      (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    default: false
    }
  }
}
