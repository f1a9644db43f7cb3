import Glibc

/// Takes `multipart/form-data` apart as it comes (RFC 7578): a form with files, as browsers send it without a script.
struct MultipartReader {
  enum Piece: Equatable {
    /// A field of the form, with the name of a file where it is one.
    case begin(name: String, fileName: String?)
    case bytes([UInt8])
    case end
  }

  struct Malformed: Error {}

  private enum State {
    case before
    case afterDelimiter
    case header
    case content
    case over
  }

  private static let headerLimit = 8 << 10
  /// RFC 2046, section 5.1.1.
  private static let boundaryLimit = 70

  private let delimiter: [UInt8]
  // The first delimiter has no line before it.
  private var buffer: [UInt8] = Array("\r\n".utf8)
  private var state = State.before

  /// - Parameter contentType: Of the request; nil where it names no boundary.
  init?(contentType: String) {
    let parts = contentType.split(separator: ";").map { $0.drop { $0 == " " } }
    guard parts.first?.lowercased() == "multipart/form-data",
      let text = parts.first(where: { $0.hasPrefix("boundary=") })?.dropFirst("boundary=".count)
    else { return nil }
    let boundary = text.filter { $0 != "\"" }
    guard !boundary.isEmpty, boundary.utf8.count <= Self.boundaryLimit else { return nil }
    delimiter = Array("\r\n--\(boundary)".utf8)
  }

  /// Whether all of it has come.
  var isOver: Bool { state == .over }

  /// What the next bytes bring.
  mutating func add(_ bytes: some Collection<UInt8>) throws(Malformed) -> [Piece] {
    buffer += bytes
    var pieces: [Piece] = []
    while try step(&pieces) {}
    return pieces
  }

  /// - Returns: False when more has to come.
  private mutating func step(_ pieces: inout [Piece]) throws(Malformed) -> Bool {
    switch state {
    case .before:
      guard let place = place(of: delimiter) else {
        buffer = buffer.suffix(delimiter.count - 1)
        return false
      }
      buffer.removeFirst(place + delimiter.count)
      state = .afterDelimiter
    case .afterDelimiter:
      guard buffer.count >= 2 else { return false }
      switch buffer.prefix(2) {
      case [UInt8(ascii: "-"), UInt8(ascii: "-")]: state = .over
      case [UInt8(ascii: "\r"), UInt8(ascii: "\n")]: state = .header
      default: throw Malformed()
      }
      buffer.removeFirst(2)
    case .header:
      guard let place = place(of: Array("\r\n\r\n".utf8)) else {
        if buffer.count > Self.headerLimit { throw Malformed() }
        return false
      }
      guard place <= Self.headerLimit else { throw Malformed() }
      pieces.append(try Self.header(buffer.prefix(place)))
      buffer.removeFirst(place + 4)
      state = .content
    case .content: return readContent(&pieces)
    case .over:
      buffer = []
      return false
    }
    return true
  }

  /// - Returns: False when more of the part has to come.
  private mutating func readContent(_ pieces: inout [Piece]) -> Bool {
    guard let place = place(of: delimiter) else {
      let known = buffer.count - (delimiter.count - 1)
      if known > 0 {
        pieces.append(.bytes(Array(buffer.prefix(known))))
        buffer.removeFirst(known)
      }
      return false
    }
    if place > 0 { pieces.append(.bytes(Array(buffer.prefix(place)))) }
    pieces.append(.end)
    buffer.removeFirst(place + delimiter.count)
    state = .afterDelimiter
    return true
  }

  private func place(of pattern: [UInt8]) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      var start = 0
      while start + pattern.count <= bytes.count,
        let found = memchr(base + start, Int32(pattern[0]), bytes.count - pattern.count - start + 1)
      {
        start = UnsafeRawPointer(found) - base
        if memcmp(found, pattern, pattern.count) == 0 { return start }
        start += 1
      }
      return nil
    }
  }

  private static func header(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> Piece {
    guard let text = String(validating: bytes, as: UTF8.self),
      let line = text.split(separator: "\r\n").first(where: {
        $0.lowercased().hasPrefix("content-disposition:")
      }), let name = value(of: "name", in: line)
    else { throw Malformed() }
    return .begin(name: name, fileName: value(of: "filename", in: line))
  }

  /// Browsers write `"` and the ends of lines as `%22`, `%0D` and `%0A` (HTML, "multipart/form-data"), so a quotation mark
  /// ends the value.
  private static func value(of name: String, in line: Substring) -> String? {
    guard let begin = line.firstRange(of: "; \(name)=\"") else { return nil }
    return String(line[begin.upperBound...].prefix { $0 != "\"" })
      .replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
  }
}
