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

  package mutating func number(
    _ field: Int, _ value: inout UInt64, _: StaticString, check: (UInt64) -> ModelError?
  ) throws(ModelError) {
    var next = try take(.varint(field))
    repeat {
      value = try next?.varint() ?? 0
      if let error = check(value) { throw error }
      next = try take(.varint(field))
    } while next != nil
  }

  package mutating func bytes(
    _ field: Int, _ value: inout [UInt8], _ name: StaticString, counts: ClosedRange<Int>
  ) throws(ModelError) {
    var next = try take(.bytes(field))
    repeat {
      value = try Self.copied(try next?.bytesInPlace(), name, counts)
      next = try take(.bytes(field))
    } while next != nil
  }

  package mutating func bytes(
    _ field: Int, _ value: inout [[UInt8]], _ name: StaticString, limit: Int,
    counts: ClosedRange<Int>
  ) throws(ModelError) {
    value = []
    while var reader = try take(.bytes(field)) {
      try Limits.check(value.count + 1, limit, name)
      value.append(try Self.copied(reader.bytesInPlace(), name, counts))
    }
  }

  /// These bytes, if there are as many as there have to be; none where the field is absent.
  private static func copied(
    _ bytes: UnsafeRawBufferPointer?, _ name: StaticString, _ counts: ClosedRange<Int>
  ) throws(ModelError) -> [UInt8] {
    let count = bytes?.count ?? 0
    guard !counts.contains(count) else { return bytes.map { [UInt8]($0) } ?? [] }
    let wanted =
      counts.lowerBound == counts.upperBound
      ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
    throw .malformed(what: "\(name)", reason: "it has \(count) bytes, not \(wanted)")
  }

  package mutating func text(
    _ field: Int, _ value: inout String, _ name: StaticString, limit: Int
  ) throws(ModelError) {
    value = ""
    while var reader = try take(.bytes(field)) {
      value = try reader.string(name)
      try Limits.check(value.utf8.count, limit, name)
    }
  }

  package mutating func id<ID: FixedBytes>(
    _ field: Int, _ value: inout ID, _ name: StaticString
  ) throws(ModelError) {
    var read: ID?
    while var reader = try take(.bytes(field)) { read = try reader.id(name) }
    guard let read else { throw message.malformed("\(name) is missing") }
    value = read
  }

  package mutating func id<ID: FixedBytes>(
    _ field: Int, _ value: inout ID?, _ name: StaticString
  ) throws(ModelError) {
    value = nil
    while var reader = try take(.bytes(field)) { value = try reader.optionalID(name) }
  }

  package mutating func ids<ID: FixedBytes>(
    _ field: Int, _ value: inout [ID], _ name: StaticString, limit: Int, isAscending: Bool
  ) throws(ModelError) {
    value = []
    while var reader = try take(.bytes(field)) {
      try Limits.check(value.count + 1, limit, name)
      let next: ID = try reader.id(name)
      if isAscending, let last = value.last, last >= next {
        throw message.malformed("\(name) is not in order")
      }
      value.append(next)
    }
  }

  package mutating func message<Message: WireMessage>(
    _ field: Int, _ value: inout Message
  ) throws(ModelError) {
    var read: Message?
    while var reader = try take(.bytes(field)) {
      read = try Message(reading: reader.message(Message.what))
    }
    guard let read else { return value = try Message(decoding: []) }
    value = read
  }

  package mutating func messages<Message: WireMessage>(
    _ field: Int, _ value: inout [Message], _ name: StaticString, limit: Int,
    where isKnown: (Message) -> Bool
  ) throws(ModelError) {
    value = []
    while var reader = try take(.bytes(field)) {
      try Limits.check(value.count + 1, limit, name)
      let message = try Message(reading: reader.message(Message.what))
      if isKnown(message) { value.append(message) }
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
