import CYAML

extension FrontMatter {
  /// The fields as YAML, each on lines of its own, in their order; ends with a line feed.
  ///
  /// Parsing it gives the same fields again. Text that other readers of YAML would take for something
  /// else (`no`, `0123`, `1:30`) is quoted; dates and plain numbers are not.
  package var yaml: String {
    guard !fields.isEmpty else { return "" }
    let emitter = YAMLEmitter()
    Self.write(fields, to: emitter)
    return emitter.finish()
  }

  /// A `record.md` with this front matter and text.
  package func document(text: String) -> [UInt8] {
    var document = "---\n\(yaml)---\n"
    if !text.isEmpty {
      document += "\n\(text)"
      if !text.hasSuffix("\n") { document += "\n" }
    }
    return Array(document.utf8)
  }

  private static func write(_ fields: [Field], to emitter: borrowing YAMLEmitter) {
    emitter.beginMap()
    for field in fields {
      emitter.scalar(field.name, style(of: field.name, isValue: false))
      write(field.value, to: emitter)
    }
    emitter.endMap()
  }

  private static func write(_ value: Value, to emitter: borrowing YAMLEmitter) {
    switch value {
    case .text(let text): emitter.scalar(text, style(of: text, isValue: true))
    case .list(let values):
      emitter.beginList(isShort(values) ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE)
      for value in values { write(value, to: emitter) }
      emitter.endList()
    case .map(let fields): write(fields, to: emitter)
    }
  }

  private static func isShort(_ values: [Value]) -> Bool {
    values.allSatisfy { ($0.plainText?.utf8.count ?? .max) < 40 } && values.count <= 16
  }

  private static func style(of text: String, isValue: Bool) -> yaml_scalar_style_t {
    if text.isEmpty {
      isValue ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE
    } else if text.utf8.contains(UInt8(ascii: "\n")) {
      YAML_LITERAL_SCALAR_STYLE
    } else {
      isMistakable(text) ? YAML_SINGLE_QUOTED_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE
    }
  }

  /// Whether a reader of YAML may take the text for anything but text, a date or a number.
  private static func isMistakable(_ text: String) -> Bool {
    let words = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "~", "=", "<<"]
    if words.contains(text.lowercased()) { return true }
    let bytes = Array(text.utf8)
    guard let first = bytes.first, isDigit(first) || "+-.".utf8.contains(first) else {
      return false
    }
    return !isDate(bytes) && !isPlainNumber(bytes)
  }

  private static func isDate(_ bytes: [UInt8]) -> Bool {
    bytes.count == 10
      && bytes.enumerated().allSatisfy {
        $0 == 4 || $0 == 7 ? $1 == UInt8(ascii: "-") : isDigit($1)
      }
  }

  /// Digits without a leading zero, with one point inside at most.
  private static func isPlainNumber(_ bytes: [UInt8]) -> Bool {
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) }) else {
      return false
    }
    return bytes.count <= 15 && (parts[0].count == 1 || parts[0].first != UInt8(ascii: "0"))
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
