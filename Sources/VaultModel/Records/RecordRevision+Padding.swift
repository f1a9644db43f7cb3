/// A revision that deletes a record is as large as the one that it replaces: Docs/Format.md, "8. Records".
///
/// The padding stands among the fields that a reader does not know: so it is joined as these are.
extension RecordRevision {
  private static let paddingField = 21
  private static let paddingLimit = 4096

  /// Pads a revision that is not signed yet.
  package mutating func pad(toSizeOf replaced: RecordRevision) {
    removePadding()
    let room = replaced.unsignedSize - unsignedSize
    // A field of fewer than 128 bytes takes three bytes besides, a longer one four.
    let count = room < 128 + 3 ? room - 3 : room - 4
    guard count > 0 else { return }
    var field = WireWriter()
    field.bytes(
      Self.paddingField, [UInt8](repeating: 0, count: min(count, Self.paddingLimit)))
    var padded = UnknownFields(bytes: field.bytes)
    padded.append(unknown)
    unknown = padded
  }

  package mutating func removePadding() { unknown.remove(Self.paddingField) }

  /// What it encodes to without its signature, in bytes.
  private var unsignedSize: Int {
    var copy = self
    copy.signature = nil
    return copy.encode(storingPages: { _ in ContentDigest.zero }).count
  }
}
