import Yams

extension FrontMatter {
  /// The fields as YAML, each on lines of its own, in their order; ends with a line feed.
  ///
  /// Parsing it gives the same fields again. Text that other readers of YAML would take for something
  /// else (`no`, `0123`, `1:30`) is quoted; dates and plain numbers are not.
  package var yaml: String {
    guard !fields.isEmpty else { return "" }
    do {
      return try Yams.serialize(node: Self.node(of: fields), width: -1, allowUnicode: true)
    } catch {
      preconditionFailure("YAML that was made here cannot be written: \(error)")
    }
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

  private static func node(of fields: [Field]) -> Node {
    .mapping(Node.Mapping(fields.map { (scalar($0.name), node(of: $0.value)) }, .implicit, .block))
  }

  private static func node(of value: Value) -> Node {
    switch value {
    case .text(let text): scalar(text, isValue: true)
    case .list(let values):
      .sequence(Node.Sequence(values.map(node(of:)), .implicit, isShort(values) ? .flow : .block))
    case .map(let fields): node(of: fields)
    }
  }

  private static func isShort(_ values: [Value]) -> Bool {
    values.allSatisfy { ($0.plainText?.utf8.count ?? .max) < 40 } && values.count <= 16
  }

  private static func scalar(_ text: String, isValue: Bool = false) -> Node {
    let style: Node.Scalar.Style
    if text.isEmpty {
      style = isValue ? .plain : .doubleQuoted
    } else if text.utf8.contains(UInt8(ascii: "\n")) {
      style = .literal
    } else {
      style = isMistakable(text) ? .singleQuoted : .any
    }
    return .scalar(Node.Scalar(text, .implicit, style))
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
