/// Reads a message by going through its fields, in the order in which `visit` asks for them.
///
/// It allocates nothing for a message whose fields stand in ascending order, as every writer of ours and Google's has
/// them. The bytes must outlive the decoder.
package struct FieldDecoder: FieldVisitor {
  private let message: WireReader
  /// Where the fields that were not asked for yet begin, in the message or, where that is not in order, among `sorted`.
  private var position = 0
  /// Where each field begins, by its number and then as they stand; nil where they stand so.
  private var sorted: [Int]?
  /// What stands before `position` and was not asked for.
  private var passedOver = UnknownFields.none
  private var asked = 0

  init(_ reader: WireReader) throws(ModelError) {
    message = reader
    if try !Self.isInOrder(reader) { sorted = try Self.starts(reader) }
  }

  /// Goes through the whole message, so that one that is cut or malformed is refused wherever that is.
  private static func isInOrder(_ message: WireReader) throws(ModelError) -> Bool {
    var reader = message
    var last = 0
    var isInOrder = true
    while let tag = try reader.next() {
      isInOrder = isInOrder && tag.number >= last
      last = tag.number
      _ = try reader.skip(tag)
    }
    return isInOrder
  }

  private static func starts(_ message: WireReader) throws(ModelError) -> [Int] {
    var reader = message
    var fields: [(number: Int, start: Int)] = []
    while true {
      let start = reader.offset
      guard let tag = try reader.next() else { break }
      fields.append((tag.number, start))
      _ = try reader.skip(tag)
    }
    return fields.sorted { $0 < $1 }.map(\.start)
  }

  /// The tag of the next field that was not asked for yet, and a reader at its value; nil at the end.
  private func next() throws(ModelError) -> (tag: WireTag, value: WireReader)? {
    var reader = message.at(position)
    if let sorted {
      guard position < sorted.count else { return nil }
      reader = message.at(sorted[position])
    }
    guard let tag = try reader.next() else { return nil }
    return (tag, reader)
  }

  /// Goes on behind the field that `next` gave.
  ///
  /// - Returns: The whole field.
  private mutating func pass(
    _ tag: WireTag, _ value: WireReader
  ) throws(ModelError) -> UnsafeRawBufferPointer {
    var reader = value
    let field = try reader.skip(tag)
    position = sorted == nil ? reader.offset : position + 1
    return field
  }

  /// A reader at the value of the next field with this tag, which is known from now on; nil where there is none any more.
  private mutating func take(_ tag: WireTag) throws(ModelError) -> WireReader? {
    precondition(tag.number >= asked, "a message visits its fields in ascending order")
    asked = tag.number
    while let (found, value) = try next(), found.number <= tag.number {
      let field = try pass(found, value)
      if found == tag { return value }
      passedOver.append(field)
    }
    return nil
  }

  /// A reader at the last of them.
  private mutating func last(_ tag: WireTag) throws(ModelError) -> WireReader? {
    var last: WireReader?
    while let reader = try take(tag) { last = reader }
    return last
  }

  package mutating func number(
    _ field: Int, _ value: inout UInt64, _: StaticString, check: (UInt64) -> ModelError?
  ) throws(ModelError) {
    var reader = try last(.varint(field))
    value = try reader?.varint() ?? 0
    if let error = check(value) { throw error }
  }

  package mutating func bytes(
    _ field: Int, _ value: inout [UInt8], _ name: StaticString, counts: ClosedRange<Int>
  ) throws(ModelError) {
    var reader = try last(.bytes(field))
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
    var reader = try last(.bytes(field))
    value = try reader?.string(name) ?? ""
    try Limits.check(value.utf8.count, limit, name)
  }

  package mutating func id<ID: FixedBytes>(
    _ field: Int, _ value: inout ID, _ name: StaticString
  ) throws(ModelError) {
    guard var reader = try last(.bytes(field)) else {
      throw message.malformed("\(name) is missing")
    }
    value = try reader.id(name)
  }

  package mutating func id<ID: FixedBytes>(
    _ field: Int, _ value: inout ID?, _ name: StaticString
  ) throws(ModelError) {
    var reader = try last(.bytes(field))
    value = try reader?.optionalID(name)
  }

  package mutating func ids<ID: FixedBytes>(
    _ field: Int, _ value: inout [ID], _ name: StaticString
  ) throws(ModelError) {
    value = []
    while var reader = try take(.bytes(field)) { value.append(try reader.id(name)) }
  }

  package mutating func message<Message: WireMessage>(
    _ field: Int, _ value: inout Message
  ) throws(ModelError) {
    guard var reader = try last(.bytes(field)) else {
      return value = try Message(decoding: [])
    }
    value = try Message(reading: reader.message(Message.what))
  }

  package mutating func messages<Message: WireMessage>(
    _ field: Int, _ value: inout [Message], _ name: StaticString, limit: Int
  ) throws(ModelError) {
    value = []
    while var reader = try take(.bytes(field)) {
      try Limits.check(value.count + 1, limit, name)
      value.append(try Message(reading: reader.message(Message.what)))
    }
  }

  package mutating func unknown(_ value: inout UnknownFields) {
    // Nothing is thrown: the whole message was gone through at the beginning.
    while let (tag, field) = try? next(), let whole = try? pass(tag, field) {
      passedOver.append(whole)
    }
    value = passedOver
  }
}
