/// What kind of value a field has, and the field's number.
package enum WireTag: Equatable {
  case varint(Int)
  case fixed64(Int)
  case bytes(Int)
  case fixed32(Int)

  var number: Int {
    switch self {
    case .varint(let number), .fixed64(let number), .bytes(let number), .fixed32(let number): number
    }
  }
}

/// Reads a Protocol Buffers message field by field, without copying it.
///
/// What it refuses it refuses with a `ModelError` that names the message; it allocates nothing itself and advances with
/// every call, so hostile bytes can neither trap it nor keep it busy. The bytes must outlive the reader.
package struct WireReader {
  private let what: StaticString
  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  private var fieldStart = 0

  init(_ bytes: UnsafeRawBufferPointer, what: StaticString) {
    self.bytes = bytes
    self.what = what
  }

  /// Reads `bytes` as a message of the kind `what`.
  package static func read<Value>(
    _ bytes: [UInt8], what: StaticString, limit: Int,
    _ body: (inout WireReader) throws(ModelError) -> Value
  ) throws(ModelError) -> Value {
    try Limits.check(bytes.count, limit, what)
    return try bytes.withUnsafeBufferPointer { (buffer) throws(ModelError) in
      var reader = WireReader(UnsafeRawBufferPointer(buffer), what: what)
      return try body(&reader)
    }
  }

  package var isAtEnd: Bool { position == bytes.count }

  /// How much of the message was read, in bytes.
  var offset: Int { position }

  /// A reader of the same message that goes on at `offset`, which a reader of it has had.
  func at(_ offset: Int) -> WireReader {
    var reader = self
    reader.position = offset
    return reader
  }

  package func malformed(_ reason: String) -> ModelError {
    .malformed(what: "\(what)", reason: reason)
  }

  /// The next field's tag; nil at the end of the message.
  package mutating func next() throws(ModelError) -> WireTag? {
    guard position < bytes.count else { return nil }
    fieldStart = position
    let tag = try varint()
    guard tag >> 3 != 0, tag >> 3 < 1 << 29 else { throw malformed("a field number is invalid") }
    let number = Int(tag >> 3)
    switch tag & 7 {
    case 0: return .varint(number)
    case 1: return .fixed64(number)
    case 2: return .bytes(number)
    case 5: return .fixed32(number)
    default: throw malformed("a field has a wire type that the format does not use")
    }
  }

  package mutating func varint() throws(ModelError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      guard shift < 63 || byte <= 1 else { break }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw malformed("a number is cut short or too long")
  }

  mutating func uint32() throws(ModelError) -> UInt32 {
    guard let value = UInt32(exactly: try varint()) else {
      throw malformed("a number is above 32 bits")
    }
    return value
  }

  mutating func bool() throws(ModelError) -> Bool { try varint() != 0 }

  mutating func zigzag() throws(ModelError) -> Int64 {
    let value = try varint()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// A hybrid time, of the year 9999 at the latest.
  mutating func time(_ name: String) throws(ModelError) -> HybridTime {
    let time = HybridTime(rawValue: try fixed64())
    guard time <= .last else { throw malformed("\(name) is later than the year 9999") }
    return time
  }

  mutating func fixed64() throws(ModelError) -> UInt64 {
    let field = try take(8)
    return UInt64(littleEndian: field.loadUnaligned(as: UInt64.self))
  }

  /// The bytes of a length-delimited field, in place.
  package mutating func bytesInPlace() throws(ModelError) -> UnsafeRawBufferPointer {
    guard let count = Int(exactly: try varint()) else { throw malformed("a length is too large") }
    return try take(count)
  }

  mutating func byteArray() throws(ModelError) -> [UInt8] { [UInt8](try bytesInPlace()) }

  package mutating func id<ID: FixedBytes>(_ field: StaticString) throws(ModelError) -> ID {
    let bytes = try bytesInPlace()
    guard bytes.count == ID.byteCount, let base = bytes.baseAddress else {
      throw malformed("\(field) has \(bytes.count) bytes, not \(ID.byteCount)")
    }
    return ID(storage: ID.Storage(loadingFrom: base))
  }

  /// An id, or nil where the field is there but empty.
  mutating func optionalID<ID: FixedBytes>(_ field: StaticString) throws(ModelError) -> ID? {
    var ahead = self
    if try ahead.bytesInPlace().isEmpty {
      self = ahead
      return nil
    }
    return try id(field)
  }

  mutating func fileName(_ field: StaticString) throws(ModelError) -> FileName {
    guard let name = FileName(try bytesInPlace()) else {
      throw malformed("\(field) is not a file name")
    }
    return name
  }

  mutating func string(_ field: StaticString) throws(ModelError) -> String {
    guard let text = String(validating: try bytesInPlace(), as: UTF8.self) else {
      throw malformed("\(field) is not UTF-8")
    }
    return text
  }

  /// A reader of the message in a length-delimited field.
  package mutating func message(_ what: StaticString) throws(ModelError) -> WireReader {
    WireReader(try bytesInPlace(), what: what)
  }

  /// Passes over the field that `next` announced; returns the whole field, its tag included.
  package mutating func skip(_ tag: WireTag) throws(ModelError) -> UnsafeRawBufferPointer {
    switch tag {
    case .varint: _ = try varint()
    case .fixed64: _ = try take(8)
    case .bytes: _ = try bytesInPlace()
    case .fixed32: _ = try take(4)
    }
    return UnsafeRawBufferPointer(rebasing: bytes[fieldStart..<position])
  }

  private mutating func take(_ count: Int) throws(ModelError) -> UnsafeRawBufferPointer {
    guard count <= bytes.count - position else { throw malformed("a field is cut short") }
    let start = position
    position += count
    return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
  }
}
