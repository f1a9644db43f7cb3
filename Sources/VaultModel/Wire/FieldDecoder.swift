/// Reads a message by going through its fields: they are found once, and then handed out.
///
/// The bytes must outlive the decoder.
package struct FieldDecoder: FieldVisitor {
  private struct Field {
    let tag: WireTag
    /// Where the field's value begins, and where the field does.
    let (value, start): (UInt32, UInt32)
    var isKnown = false
  }

  private var fields: [Field] = []
  private let message: WireReader

  init(_ reader: WireReader) throws(ModelError) {
    message = reader
    // As many as most messages have.
    fields.reserveCapacity(min(16, reader.count / 2))
    var reader = reader
    while true {
      let start = reader.offset
      guard let tag = try reader.next() else { return }
      fields.append(Field(tag: tag, value: UInt32(reader.offset), start: UInt32(start)))
      _ = try reader.skip(tag)
    }
  }

  /// Readers at the values of all fields with this tag, which are known from now on.
  private mutating func take(_ tag: WireTag) -> [WireReader] {
    var found: [WireReader] = []
    for index in fields.indices where fields[index].tag == tag {
      fields[index].isKnown = true
      found.append(message.at(Int(fields[index].value)))
    }
    return found
  }

  /// A reader at the last of them.
  private mutating func last(_ tag: WireTag) -> WireReader? {
    var last: WireReader?
    for index in fields.indices where fields[index].tag == tag {
      fields[index].isKnown = true
      last = message.at(Int(fields[index].value))
    }
    return last
  }

  package mutating func number(
    _ field: Int, _ value: inout UInt64, _: StaticString, check: (UInt64) -> ModelError?
  ) throws(ModelError) {
    var reader = last(.varint(field))
    value = try reader?.varint() ?? 0
    if let error = check(value) { throw error }
  }

  package mutating func bytes(
    _ field: Int, _ value: inout [UInt8], _ name: StaticString, counts: ClosedRange<Int>
  ) throws(ModelError) {
    var reader = last(.bytes(field))
    value = try reader?.byteArray() ?? []
    guard !counts.contains(value.count) else { return }
    let wanted =
      counts.lowerBound == counts.upperBound
      ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
    throw .malformed(what: "\(name)", reason: "it has \(value.count) bytes, not \(wanted)")
  }

  package mutating func text(
    _ field: Int, _ value: inout String, _ name: StaticString, limit: Int
  ) throws(ModelError) {
    var reader = last(.bytes(field))
    value = try reader?.string(name) ?? ""
    try Limits.check(value.utf8.count, limit, name)
  }

  package mutating func id<ID: FixedBytes>(
    _ field: Int, _ value: inout ID, _ name: StaticString
  ) throws(ModelError) {
    guard var reader = last(.bytes(field)) else { throw message.malformed("\(name) is missing") }
    value = try reader.id(name)
  }

  package mutating func id<ID: FixedBytes>(
    _ field: Int, _ value: inout ID?, _ name: StaticString
  ) throws(ModelError) {
    var reader = last(.bytes(field))
    value = try reader?.optionalID(name)
  }

  package mutating func ids<ID: FixedBytes>(
    _ field: Int, _ value: inout [ID], _ name: StaticString
  ) throws(ModelError) {
    value = []
    for var reader in take(.bytes(field)) { value.append(try reader.id(name)) }
  }

  package mutating func message<Message: WireMessage>(
    _ field: Int, _ value: inout Message
  ) throws(ModelError) {
    guard var reader = last(.bytes(field)) else {
      return value = try Message(decoding: [])
    }
    value = try Message(reading: reader.message(Message.what))
  }

  package mutating func messages<Message: WireMessage>(
    _ field: Int, _ value: inout [Message], _ name: StaticString, limit: Int
  ) throws(ModelError) {
    let readers = take(.bytes(field))
    try Limits.check(readers.count, limit, name)
    value = []
    value.reserveCapacity(readers.count)
    for var reader in readers {
      value.append(try Message(reading: reader.message(Message.what)))
    }
  }

  package mutating func unknown(_ value: inout UnknownFields) {
    value = .none
    // Nearly always, and what follows makes two arrays.
    if fields.allSatisfy(\.isKnown) { return }
    let ends = fields.dropFirst().map(\.start) + [UInt32(message.count)]
    for (field, end) in zip(fields, ends) where !field.isKnown {
      value.append(message.part(Int(field.start)..<Int(end)))
    }
  }
}
