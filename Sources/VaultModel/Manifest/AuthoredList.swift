/// The revisions of one member that devices had signed before their person left them out; the content of an object of that
/// kind. Docs/Format.md, "Whose a revision is".
package struct AuthoredList: Hashable, Sendable {
  /// In order.
  package var revisions: [ContentDigest]
  package var unknown: UnknownFields

  /// How many one object of ours holds.
  package static let capacity = 262_144

  package init(revisions: [ContentDigest], unknown: UnknownFields = .none) {
    self.revisions = revisions.sorted()
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(
      bytes, what: "list of revisions", limit: Limits.contentBytes(of: .authored)
    ) { (reader) throws(ModelError) in
      var list = AuthoredList(revisions: [])
      while let tag = try reader.next() {
        switch tag {
        case .bytes(1):
          let next: ContentDigest = try reader.id("revision")
          if let last = list.revisions.last, last >= next {
            throw reader.malformed("the revisions are not in order")
          }
          list.revisions.append(next)
        default: list.unknown.append(try reader.skip(tag))
        }
      }
      return list
    }
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter(capacity: revisions.count * 34)
    for revision in revisions { writer.elementID(1, revision) }
    writer.unknown(unknown)
    return writer.bytes
  }
}
