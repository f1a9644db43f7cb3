/// `file:` URIs of this machine's files (RFC 8089).
enum FileURI {
  /// URIs of more bytes are passed over: four times what Linux takes as a path, each byte escaped.
  static let byteLimit = 4 * 3 * 4096

  /// The path that a URI names, percent-decoded. Nil for other schemes and other machines, for an escape that is none,
  /// and for an escaped slash or zero byte, which no path has in a name.
  static func path(of uri: some Collection<UInt8>) -> [UInt8]? {
    guard uri.count <= byteLimit else { return nil }
    let bytes = Array(uri)
    let scheme = Array("file:".utf8)
    guard bytes.prefix(scheme.count).map({ $0 | 0x20 }) == scheme.map({ $0 | 0x20 }) else {
      return nil
    }
    var rest = bytes.dropFirst(scheme.count)
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      let host = rest.prefix { $0 != slash }
      guard host.isEmpty || host.elementsEqual("localhost".utf8) else { return nil }
      rest = rest.dropFirst(host.count)
    }
    return rest.first == slash ? decode(rest) : nil
  }

  /// A path as GLib writes it into a URI (`g_filename_to_uri`), behind `file://`.
  static func escaped(_ path: [UInt8]) -> [UInt8] {
    path.flatMap { byte in
      isLiteral(byte)
        ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }

  private static func isLiteral(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      return true
    default: return punctuation.contains(byte)
    }
  }

  private static let punctuation = Set("!$&'()*+,-./:=@_~".utf8)
  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        result.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
      else { return nil }
      let value = high << 4 | low
      guard value != 0, value != slash else { return nil }
      result.append(value)
    }
    return result
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }

  private static let slash = UInt8(ascii: "/")
}
