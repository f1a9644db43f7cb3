import Glibc

/// The bytes behind arguments: a file's name need not be UTF-8, but Swift's arguments are, with U+FFFD for the rest.
enum ArgumentBytes {
  /// What stood on the command line for this argument.
  static func of(_ text: String) -> [UInt8] { of([text])[0] }

  /// What stood on the command line for these arguments, which are in the order in which they were given.
  static func of(_ texts: [String]) -> [[UInt8]] {
    of(texts, words: CommandLine.unsafeArguments)
  }

  /// - Parameter words: The command line.
  static func of(_ texts: [String], words: [[UInt8]]) -> [[UInt8]] {
    var counts: [String: Int] = [:]
    return texts.map { text in
      // Any other text is its own bytes.
      guard text.unicodeScalars.contains("\u{FFFD}") else { return Array(text.utf8) }
      // Several names may read alike; then each stands for the next of them.
      let alike = words.compactMap { value(in: $0, readingAs: text) }
      let position = counts[text, default: 0]
      counts[text] = position + 1
      return position < alike.count ? alike[position] : alike.last ?? Array(text.utf8)
    }
  }

  /// The word, or the part behind `--option=`, if it reads as the text.
  private static func value(in word: [UInt8], readingAs text: String) -> [UInt8]? {
    if String(decoding: word, as: UTF8.self) == text { return word }
    guard word.starts(with: "--".utf8), let sign = word.firstIndex(of: UInt8(ascii: "=")) else {
      return nil
    }
    let value = word[(sign + 1)...]
    return String(decoding: value, as: UTF8.self) == text ? Array(value) : nil
  }
}

extension CommandLine {
  /// The words as the operating system passed them, without the program's own name.
  fileprivate static var unsafeArguments: [[UInt8]] {
    (1..<max(1, Int(argc))).compactMap { index in
      unsafeArgv[index].map { word in
        Array(UnsafeBufferPointer(start: word, count: strlen(word))).map(UInt8.init(bitPattern:))
      }
    }
  }
}
