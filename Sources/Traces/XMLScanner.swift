/// The tags of an XML text with their positions, in one pass. Comments, CDATA and instructions are passed over; a
/// declaration with rules or entities of its own (`<!DOCTYPE … [`) is refused.
struct XMLScanner {
  struct Tag {
    enum Kind {
      case opening
      case closing
      /// `<name/>`
      case empty
    }

    var kind: Kind
    var name: ArraySlice<UInt8>
    /// From `<` to behind `>`.
    var range: Range<Int>
    /// What stands between the name and the end.
    var attributes: ArraySlice<UInt8>
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next tag; nil at the end of the text.
  mutating func nextTag() throws(MalformedList) -> Tag? {
    while let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
      let rest = bytes[start...]
      if rest.starts(with: "<!--".utf8) {
        try skip(from: start + 4, to: "-->")
      } else if rest.starts(with: "<![CDATA[".utf8) {
        try skip(from: start + 9, to: "]]>")
      } else if rest.starts(with: "<?".utf8) {
        try skip(from: start + 2, to: "?>")
      } else if rest.starts(with: "<!".utf8) {
        let end = try endOfTag(from: start)
        guard !bytes[start..<end].contains(UInt8(ascii: "[")) else {
          throw MalformedList(reason: "it declares entities of its own")
        }
        position = end
      } else {
        return try tag(from: start)
      }
    }
    return nil
  }

  /// An attribute's value with its entities resolved; nil where the tag has none of that name.
  func value(of name: String, in tag: Tag) throws(MalformedList) -> [UInt8]? {
    guard let value = try writtenValue(of: name, in: tag) else { return nil }
    return try Self.resolve(value)
  }

  /// An attribute's value as it stands in the text; nil where the tag has none of that name.
  func writtenValue(of name: String, in tag: Tag) throws(MalformedList) -> ArraySlice<UInt8>? {
    var rest = tag.attributes
    while true {
      rest = rest.drop(while: Self.isBlank)
      if rest.isEmpty { return nil }
      let found = rest.prefix { !Self.isBlank($0) && $0 != UInt8(ascii: "=") }
      rest = rest.dropFirst(found.count).drop(while: Self.isBlank)
      guard rest.popFirst() == UInt8(ascii: "=") else { throw Self.badAttribute }
      rest = rest.drop(while: Self.isBlank)
      guard let quote = rest.popFirst(), Self.isQuote(quote), let end = rest.firstIndex(of: quote)
      else { throw Self.badAttribute }
      if found.elementsEqual(name.utf8) { return rest[..<end] }
      rest = rest[(end + 1)...]
    }
  }

  private mutating func tag(from start: Int) throws(MalformedList) -> Tag {
    let end = try endOfTag(from: start)
    position = end
    var inside = bytes[(start + 1)..<(end - 1)]
    var kind = Tag.Kind.opening
    if inside.first == UInt8(ascii: "/") {
      kind = .closing
      inside = inside.dropFirst()
    } else if inside.last == UInt8(ascii: "/") {
      kind = .empty
      inside = inside.dropLast()
    }
    let name = inside.prefix { !Self.isBlank($0) }
    return Tag(
      kind: kind, name: name, range: start..<end, attributes: inside.dropFirst(name.count))
  }

  /// Behind the `>` that is in no quotes.
  private func endOfTag(from start: Int) throws(MalformedList) -> Int {
    var quote: UInt8?
    for index in start..<bytes.count {
      let byte = bytes[index]
      if let open = quote {
        if byte == open { quote = nil }
      } else if Self.isQuote(byte) {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return index + 1
      }
    }
    throw MalformedList(reason: "a tag has no end")
  }

  private mutating func skip(from start: Int, to mark: String) throws(MalformedList) {
    let mark = Array(mark.utf8)
    var index = start
    while index + mark.count <= bytes.count {
      if bytes[index] == mark[0], bytes[index...].starts(with: mark) {
        position = index + mark.count
        return
      }
      index += 1
    }
    throw MalformedList(reason: "a comment or section has no end")
  }

  /// What a text or a value says.
  static func resolve(_ text: ArraySlice<UInt8>) throws(MalformedList) -> [UInt8] {
    var result: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "&") else {
        result.append(byte)
        continue
      }
      let name = String(decoding: rest.prefix(12).prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
      rest = rest.dropFirst(name.utf8.count)
      guard rest.popFirst() == UInt8(ascii: ";"), let character = entity(name) else {
        throw MalformedList(reason: "an entity is not one of XML's")
      }
      result += Array(String(character).utf8)
    }
    return result
  }

  private static func entity(_ name: String) -> Unicode.Scalar? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    if name.hasPrefix("#x") {
      return UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
    }
    return name.hasPrefix("#") ? UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init) : nil
  }

  private static let badAttribute = MalformedList(reason: "an attribute has no value in quotes")

  private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }
}
