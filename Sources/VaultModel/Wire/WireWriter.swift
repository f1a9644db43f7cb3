/// Writes a Protocol Buffers message: fields in the order of the calls, defaults left out.
///
/// With fields written in ascending order and unknown fields last, the result is byte for byte what Google's encoders
/// write, so the form of a message is canonical.
package struct WireWriter {
  package private(set) var bytes: [UInt8] = []

  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  mutating func varint(_ field: Int, _ value: UInt64) {
    guard value != 0 else { return }
    tag(field, 0)
    append(value)
  }

  mutating func bool(_ field: Int, _ value: Bool) {
    varint(field, value ? 1 : 0)
  }

  mutating func zigzag(_ field: Int, _ value: Int64) {
    varint(field, UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  mutating func fixed64(_ field: Int, _ value: UInt64) {
    guard value != 0 else { return }
    tag(field, 1)
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func bytes(_ field: Int, _ value: [UInt8]) {
    guard !value.isEmpty else { return }
    element(field, value)
  }

  mutating func string(_ field: Int, _ value: String) {
    guard !value.isEmpty else { return }
    tag(field, 2)
    append(UInt64(value.utf8.count))
    bytes.append(contentsOf: value.utf8)
  }

  mutating func id(_ field: Int, _ value: (some FixedBytes)?) {
    guard let value else { return }
    elementID(field, value)
  }

  mutating func fileName(_ field: Int, _ value: FileName) {
    tag(field, 2)
    append(UInt64(value.byteCount))
    value.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// An element of a repeated field of bytes: written even when it is empty.
  package mutating func element(_ field: Int, _ value: [UInt8]) {
    tag(field, 2)
    append(UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  /// An element of a repeated field of ids; nil is written as empty bytes.
  package mutating func elementID<ID: FixedBytes>(_ field: Int, _ value: ID?) {
    tag(field, 2)
    guard let value else { return append(0) }
    append(UInt64(ID.byteCount))
    value.storage.append(to: &bytes)
  }

  /// A packed repeated field of numbers.
  package mutating func packed(_ field: Int, _ values: some Collection<UInt64>) {
    guard !values.isEmpty else { return }
    delimited(field) { writer in
      for value in values { writer.append(value) }
    }
  }

  /// An embedded message; written even when it is empty.
  package mutating func message(_ field: Int, _ body: (inout WireWriter) -> Void) {
    delimited(field, body)
  }

  mutating func unknown(_ fields: UnknownFields) {
    bytes.append(contentsOf: fields.bytes)
  }

  private mutating func delimited(_ field: Int, _ body: (inout WireWriter) -> Void) {
    tag(field, 2)
    // Most messages are shorter than 128 bytes, whose length takes one byte; make room when not.
    let lengthAt = bytes.count
    bytes.append(0)
    body(&self)
    let length = bytes.count - lengthAt - 1
    if length < 0x80 {
      bytes[lengthAt] = UInt8(length)
    } else {
      var prefix = WireWriter()
      prefix.append(UInt64(length))
      bytes.replaceSubrange(lengthAt...lengthAt, with: prefix.bytes)
    }
  }

  private mutating func tag(_ field: Int, _ type: UInt64) {
    append(UInt64(field) << 3 | type)
  }

  private mutating func append(_ value: UInt64) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(value))
  }
}
