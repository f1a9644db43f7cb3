/// How many columns of a terminal text takes.
enum DisplayWidth {
  static func of(_ text: String) -> Int {
    text.isPlainLatin ? text.unicodeScalars.count : text.reduce(0) { $0 + of($1) }
  }

  /// The text cut to at most this many columns, with an ellipsis where something was left out.
  static func cut(_ text: String, to columns: Int) -> String {
    guard of(text) > columns else { return text }
    var result = ""
    var used = 0
    for character in text {
      let width = of(character)
      if used + width > columns - 1 { break }
      result.append(character)
      used += width
    }
    return result + "…"
  }

  /// The text with spaces after it, so that it fills the columns.
  static func pad(_ text: String, to columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - of(text)))
  }

  private static func of(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(first) ? 2 : 1
    }
  }

  /// East Asian wide and full-width characters, and emoji. Unicode Standard Annex #11, in blocks.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      true
    default: scalar.properties.isEmojiPresentation
    }
  }
}

extension String {
  /// Whether every character is a Latin one that shows, of one scalar, and so takes one column and does nothing to a
  /// terminal. Asked first, for tables of a hundred thousand lines: to look up what Unicode says of each costs far more.
  var isPlainLatin: Bool {
    unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      // A soft hyphen takes no column.
      case 0xAD: false
      case 0x20..<0x7F, 0xA0..<0x300: true
      default: false
      }
    }
  }
}
