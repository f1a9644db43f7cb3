/// What makes the reader refuse a file.
struct Refused: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  static func unless(_ condition: Bool, _ reason: @autoclosure () -> String) throws {
    guard condition else { throw Refused(reason()) }
  }
}

/// A Protocol Buffers message as it stands on the wire: values by field number, without a schema.
struct WireMessage {
  private enum Value {
    case number(UInt64)
    case bytes([UInt8])
  }

  private var values: [UInt64: [Value]] = [:]

  init(_ encoded: [UInt8]) throws {
    var input = encoded[...]
    while !input.isEmpty {
      let tag = try Self.varint(&input)
      try Refused.unless(tag >> 3 != 0, "field number 0")
      let value: Value
      switch tag & 7 {
      case 0: value = .number(try Self.varint(&input))
      case 1:
        value = .number(try Self.take(8, &input).reversed().reduce(0) { $0 << 8 | UInt64($1) })
      case 2: value = .bytes(try Self.take(try Self.varint(&input), &input))
      default: throw Refused("wire type \(tag & 7)")
      }
      values[tag >> 3, default: []].append(value)
    }
  }

  /// Every occurrence of a field of bytes.
  func all(_ field: UInt64) throws -> [[UInt8]] {
    try values[field, default: []].map {
      guard case .bytes(let bytes) = $0 else { throw Refused("field \(field) is no bytes") }
      return bytes
    }
  }

  /// A field of bytes; the last one counts, and an absent one is empty.
  func bytes(_ field: UInt64) throws -> [UInt8] { try all(field).last ?? [] }

  func text(_ field: UInt64) throws -> String { String(decoding: try bytes(field), as: UTF8.self) }

  /// A number; an absent one is 0.
  func number(_ field: UInt64) throws -> UInt64 {
    guard let value = values[field]?.last else { return 0 }
    guard case .number(let number) = value else { throw Refused("field \(field) is no number") }
    return number
  }

  /// The numbers of a packed field.
  func numbers(_ field: UInt64) throws -> [UInt64] {
    var input = try bytes(field)[...]
    var numbers: [UInt64] = []
    while !input.isEmpty { numbers.append(try Self.varint(&input)) }
    return numbers
  }

  /// A number with its sign in the lowest bit (`sint64`).
  func signed(_ field: UInt64) throws -> Int64 {
    let number = try number(field)
    return Int64(number >> 1) ^ -Int64(number & 1)
  }

  func message(_ field: UInt64) throws -> WireMessage { try WireMessage(try bytes(field)) }

  func messages(_ field: UInt64) throws -> [WireMessage] { try all(field).map(WireMessage.init) }

  func has(_ field: UInt64) -> Bool { values[field] != nil }

  func without(_ fields: Set<UInt64>) -> WireMessage {
    var copy = self
    for field in fields { copy.values[field] = nil }
    return copy
  }

  static func varint(_ input: inout ArraySlice<UInt8>) throws -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = input.popFirst() else { throw Refused("a number is cut off") }
      number |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return number }
    }
    throw Refused("a number is too long")
  }

  private static func take(_ count: UInt64, _ input: inout ArraySlice<UInt8>) throws -> [UInt8] {
    try Refused.unless(count <= UInt64(input.count), "a field is cut off")
    defer { input = input.dropFirst(Int(count)) }
    return Array(input.prefix(Int(count)))
  }
}
