/// A message that lists its fields once, for reading and for writing.
///
/// `visit` calls the visitor once for each field, in ascending order of their numbers, and at last `unknown`, if the
/// message keeps what it does not know. Writing goes through the list with a `FieldEncoder`, reading with a
/// `FieldDecoder`, so the two cannot differ. Messages that come by the hundred thousand (entries, items, revisions) and
/// redo records have code of their own over `WireReader` and `WireWriter`: the fastest way to read a message is not
/// the shortest way to write it down.
package protocol WireMessage: Sendable {
  /// What errors call the message.
  static var what: StaticString { get }
  /// The message whose fields are all absent. It is what reading begins with, and seldom a message that may stand
  /// anywhere.
  static var blank: Self { get }
  /// How many bytes the message may have where it stands by itself; 1 MiB mostly.
  static var byteLimit: Int { get }
  /// Calls `fields` for each field.
  ///
  /// - Throws: What the visitor refuses. `FieldEncoder` refuses nothing.
  mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError)
  /// Throws what forbids these fields in one message. Reading calls it at the end, writing never does.
  func check() throws(ModelError)
}

extension WireMessage {
  package static var byteLimit: Int { Limits.signedFileBytes }

  package func check() throws(ModelError) {}

  /// Reads the message that these bytes, at most `byteLimit`, encode.
  ///
  /// - Throws: `malformed`, `limit`, and what the message throws for its fields.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(bytes, what: Self.what, limit: Self.byteLimit) {
      (reader) throws(ModelError) in try Self(reading: reader)
    }
  }

  init(reading reader: WireReader) throws(ModelError) {
    self = .blank
    var fields = try FieldDecoder(reader)
    try visit(&fields)
    try check()
  }

  /// Fields in ascending order of their numbers, absent ones left out, unknown ones last.
  package func encoded() -> [UInt8] {
    var fields = FieldEncoder()
    fields.write(self)
    return fields.writer.bytes
  }
}
