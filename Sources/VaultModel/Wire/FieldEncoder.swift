/// Writes a message by going through its fields. It refuses nothing.
package struct FieldEncoder: FieldVisitor {
  var writer = WireWriter()

  mutating func write(_ message: some WireMessage) {
    var message = message
    do { try message.visit(&self) } catch {
      preconditionFailure("an encoder refuses nothing")
    }
  }

  package mutating func number(
    _ field: Int, _ value: inout UInt64, _: StaticString, check: (UInt64) -> ModelError?
  ) {
    writer.varint(field, value)
  }

  package mutating func bytes(
    _ field: Int, _ value: inout [UInt8], _: StaticString, counts: ClosedRange<Int>
  ) {
    writer.bytes(field, value)
  }

  package mutating func bytes(
    _ field: Int, _ value: inout [[UInt8]], _: StaticString, limit: Int, counts: ClosedRange<Int>
  ) {
    for element in value { writer.element(field, element) }
  }

  package mutating func text(_ field: Int, _ value: inout String, _: StaticString, limit: Int) {
    writer.string(field, value)
  }

  package mutating func id(_ field: Int, _ value: inout some FixedBytes, _: StaticString) {
    writer.id(field, value)
  }

  package mutating func id<ID: FixedBytes>(_ field: Int, _ value: inout ID?, _: StaticString) {
    writer.id(field, value)
  }

  package mutating func ids<ID: FixedBytes>(
    _ field: Int, _ value: inout [ID], _: StaticString, limit: Int, isAscending: Bool
  ) {
    for id in value { writer.elementID(field, id) }
  }

  package mutating func message<Message: WireMessage>(_ field: Int, _ value: inout Message) {
    append(field, value)
  }

  package mutating func messages<Message: WireMessage>(
    _ field: Int, _ value: inout [Message], _: StaticString, limit: Int,
    where isKnown: (Message) -> Bool
  ) {
    for message in value { append(field, message) }
  }

  package mutating func unknown(_ value: inout UnknownFields) {
    writer.unknown(value)
  }

  private mutating func append(_ field: Int, _ message: some WireMessage) {
    writer.message(field) { writer in
      var fields = FieldEncoder()
      swap(&fields.writer, &writer)
      fields.write(message)
      swap(&fields.writer, &writer)
    }
  }
}
