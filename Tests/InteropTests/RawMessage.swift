/// A Protocol Buffers message whose fields are to be written again as they stood: the fields in their order, each with its bytes.
struct RawMessage {
  struct Field {
    let number: UInt64
    /// With the tag and the length.
    let bytes: [UInt8]
    /// What of these is the value.
    let value: [UInt8]
  }

  var fields: [Field] = []

  init(_ encoded: [UInt8]) throws {
    var input = encoded[...]
    while let first = input.indices.first {
      let tag = try WireMessage.varint(&input)
      var value = input
      switch tag & 7 {
      case 0: _ = try WireMessage.varint(&input)
      case 1: try Self.skip(8, &input)
      case 2:
        let count = try WireMessage.varint(&input)
        value = input
        try Self.skip(count, &input)
      default: throw Refused("wire type \(tag & 7)")
      }
      fields.append(
        Field(
          number: tag >> 3, bytes: Array(encoded[first..<input.startIndex]),
          value: Array(value[..<input.startIndex])))
    }
  }

  /// The bytes of these fields, as they stood.
  func bytes(where isWanted: (UInt64) -> Bool) -> [UInt8] {
    fields.filter { isWanted($0.number) }.flatMap(\.bytes)
  }

  func bytes(_ numbers: UInt64...) -> [UInt8] { bytes { numbers.contains($0) } }

  func values(_ number: UInt64) -> [[UInt8]] {
    fields.filter { $0.number == number }.map(\.value)
  }

  // MARK: Writing

  static func field(_ number: UInt64, _ value: [UInt8]) -> [UInt8] {
    varint(number << 3 | 2) + varint(UInt64(value.count)) + value
  }

  static func number(_ number: UInt64, _ value: UInt64) -> [UInt8] {
    varint(number << 3) + varint(value)
  }

  private static func varint(_ value: UInt64) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7f) | 0x80] + varint(value >> 7)
  }

  // MARK: Reading

  private static func skip(_ count: UInt64, _ input: inout ArraySlice<UInt8>) throws {
    try Refused.unless(count <= UInt64(input.count), "a field is cut off")
    input = input.dropFirst(Int(count))
  }
}
