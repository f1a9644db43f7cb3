/// Up to 1,024 consecutive chunk names of one file; the content of an object of kind `index`.
package struct ChunkIndex: Hashable, Sendable {
  /// The most names of one index; all indexes of a file but the last hold as many.
  package static let capacity = 1_024

  /// Nil is a hole, which reads as zeros.
  package var chunks: [ContentDigest?]
  package var unknown: UnknownFields

  package init(chunks: [ContentDigest?], unknown: UnknownFields = .none) {
    self.chunks = chunks
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(
      bytes, what: "chunk index", limit: Limits.contentBytes(of: .index)
    ) { (reader) throws(ModelError) in
      var index = ChunkIndex(chunks: [])
      while let tag = try reader.next() {
        switch tag {
        case .bytes(1): index.chunks.append(try reader.optionalID("chunk"))
        default: index.unknown.append(try reader.skip(tag))
        }
        try Limits.check(index.chunks.count, ChunkIndex.capacity, "number of chunks in an index")
      }
      return index
    }
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter(capacity: chunks.count * 34)
    for name in chunks { writer.elementID(1, name) }
    writer.unknown(unknown)
    return writer.bytes
  }
}
