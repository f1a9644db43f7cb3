/// The fields of a message that this version does not know, as they stood in it.
///
/// They are kept through decoding, changing and encoding, so that older and newer devices can
/// share a vault.
package struct UnknownFields: Hashable, Sendable {
  /// The fields one after the other, in Protocol Buffers encoding.
  package private(set) var bytes: [UInt8]

  package static let none = UnknownFields()

  package init() { bytes = [] }

  init(bytes: [UInt8]) { self.bytes = bytes }

  package var isEmpty: Bool { bytes.isEmpty }

  mutating func append(_ field: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: field)
  }

  mutating func append(_ others: UnknownFields) { bytes += others.bytes }

  /// Leaves the fields with this number out.
  mutating func remove(_ number: Int) {
    if isEmpty { return }
    let kept = try? WireReader.read(bytes, what: "unknown fields", limit: .max) {
      (reader) throws(ModelError) in
      var kept = UnknownFields()
      while let tag = try reader.next() {
        let field = try reader.skip(tag)
        if tag.number != number { kept.append(field) }
      }
      return kept
    }
    // What was read as fields once is fields still.
    if let kept { self = kept }
  }
}
