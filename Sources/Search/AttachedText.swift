import Vault
import VaultModel

/// Which attached files are text, and what stands in them.
package enum AttachedText {
  /// How much of one file is searched, in bytes from its beginning.
  static let byteLimit = 1 << 20

  /// How the text of a file is had.
  enum Form {
    /// By decoding its bytes.
    case plain
    /// By having it opened (`PDFText`).
    case pdf

    /// Nil for a file that is no text.
    init?(of item: Item) {
      guard let form = item.form(mediaType: Self.form(mediaType:), ending: Self.form(ending:))
      else {
        return nil
      }
      self = form
    }

    private static func form(mediaType: String) -> Form? {
      switch mediaType {
      case "text/plain", "text/csv", "text/markdown", "text/tab-separated-values": .plain
      case "application/pdf": .pdf
      default: nil
      }
    }

    private static func form(ending: Substring) -> Form? {
      switch ending {
      case "txt", "text", "csv", "tsv", "md", "markdown", "log": .plain
      case "pdf": .pdf
      default: nil
      }
    }
  }

  /// Whether its bytes are text, going by what it is called.
  package static func isText(_ item: Item) -> Bool { Form(of: item) == .plain }

  /// Bytes as text: UTF-8; UTF-16 with a byte order mark; else Windows-1252, which laboratories' tables often are in. What
  /// has zeros in it is no text, and empty.
  package static func decode(_ bytes: [UInt8], isCut: Bool = false) -> String {
    if bytes.starts(with: [0xFF, 0xFE]) { return utf16(bytes, highFirst: false) }
    if bytes.starts(with: [0xFE, 0xFF]) { return utf16(bytes, highFirst: true) }
    guard !bytes.contains(0) else { return "" }
    let whole = bytes.dropLast(isCut ? begunByteCount(bytes) : 0)
    if let text = String(validating: whole, as: UTF8.self) { return text }
    return String(String.UnicodeScalarView(bytes.map(windows1252)))
  }

  /// How many bytes at the end are the beginning of a character of UTF-8.
  private static func begunByteCount(_ bytes: [UInt8]) -> Int {
    for (number, byte) in bytes.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
      let size = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      return size > number + 1 ? number + 1 : 0
    }
    return 0
  }

  private static func utf16(_ bytes: [UInt8], highFirst: Bool) -> String {
    let units = stride(from: 2, to: bytes.count - 1, by: 2).map { position in
      let (first, second) = (UInt16(bytes[position]), UInt16(bytes[position + 1]))
      return highFirst ? first << 8 | second : second << 8 | first
    }
    return String(decoding: units, as: UTF16.self)
  }

  private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
    guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
    return high[Int(byte) - 0x80]
  }

  private static let high = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)
}
