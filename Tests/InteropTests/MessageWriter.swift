/// Writes the little of Protocol Buffers that made-up messages need.
struct MessageWriter {
  private(set) var bytes: [UInt8] = []

  init(_ write: (inout MessageWriter) -> Void = { _ in }) { write(&self) }

  var message: WireMessage { get throws { try WireMessage(bytes) } }

  mutating func add(_ field: UInt64, _ value: [UInt8]) {
    add(varint: field << 3 | 2)
    add(varint: UInt64(value.count))
    bytes += value
  }

  mutating func add(_ field: UInt64, _ write: (inout MessageWriter) -> Void) {
    add(field, MessageWriter(write).bytes)
  }

  mutating func add(_ field: UInt64, number: UInt64) {
    add(varint: field << 3)
    add(varint: number)
  }

  private mutating func add(varint number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
