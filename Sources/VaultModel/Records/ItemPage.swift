/// A node of the item tree as it is stored; the content of an object of kind `page`.
package enum ItemPage: Hashable, Sendable {
  /// Items sorted by name.
  case leaf([Item])
  /// Sixteen names of pages, nil where there is no item.
  case branch([ContentDigest?])

  static let childCount = 16

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(
      bytes, what: "item page", limit: Limits.contentBytes(of: .page)
    ) { (reader) throws(ModelError) in try ItemPage.decode(reader) }
  }

  static func decode(_ reader: WireReader) throws(ModelError) -> ItemPage {
    var reader = reader
    var items: [Item] = []
    var children: [ContentDigest?] = []
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): items.append(try Item.decode(reader.message("item")))
      case .bytes(2):
        children.append(try reader.optionalID("child"))
        guard children.count <= childCount else { throw reader.malformed("too many children") }
      default: _ = try reader.skip(tag)
      }
    }
    for (item, next) in zip(items, items.dropFirst()) where item.name >= next.name {
      throw reader.malformed("the items are not sorted")
    }
    if children.isEmpty { return .leaf(items) }
    guard items.isEmpty, children.count == childCount else {
      throw reader.malformed("it is neither a leaf nor a branch")
    }
    return .branch(children)
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    encode(to: &writer)
    return writer.bytes
  }

  func encode(to writer: inout WireWriter) {
    switch self {
    case .leaf(let items):
      for item in items { writer.message(1, item.encode) }
    case .branch(let children):
      for child in children { writer.elementID(2, child) }
    }
  }
}
