/// A part of a revision whose bytes decide between two of one time.
protocol CanonicalBytes {
  /// Equal exactly when the parts are.
  var canonicalBytes: [UInt8] { get }
}

extension UnknownFields: CanonicalBytes {
  var canonicalBytes: [UInt8] { bytes }
}

extension RecordPlace: CanonicalBytes {
  /// The fields of the place as a `RecordRevision` message holds them.
  var canonicalBytes: [UInt8] {
    var writer = WireWriter()
    writer.id(2, parent)
    writer.fileName(3, title)
    writer.bool(8, isDeleted)
    return writer.bytes
  }
}

extension RecordAttributes: CanonicalBytes {
  /// The fields of the attributes as a `RecordRevision` message holds them.
  var canonicalBytes: [UInt8] {
    var writer = WireWriter()
    writer.varint(9, UInt64(mode))
    modified.encode(10, to: &writer)
    xattrs.encode(11, to: &writer)
    writer.varint(16, UInt64(owner.uidPlusOne))
    writer.varint(17, UInt64(owner.gidPlusOne))
    return writer.bytes
  }
}
