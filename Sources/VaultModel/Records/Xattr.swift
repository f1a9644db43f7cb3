/// An extended attribute of a file or directory.
package struct Xattr: Hashable, Sendable {
  /// Starts with `user.`, at most 255 bytes, no NUL.
  package var name: [UInt8]
  package var value: [UInt8]

  package init(name: [UInt8], value: [UInt8]) {
    self.name = name
    self.value = value
  }

  /// Whether a file may have an attribute of this name.
  package static func isValid(name: [UInt8]) -> Bool {
    let prefix = "user.".utf8
    return name.count > prefix.count && name.count <= Limits.nameBytes
      && name.starts(with: prefix) && !name.contains(0)
  }
}

extension [Xattr] {
  /// Sorted by name, each name once, the form in which they are kept; throws when they break the
  /// limits of `Docs/Format.md` section 12.
  package func validated() throws(ModelError) -> [Xattr] {
    guard !isEmpty else { return [] }
    let size = reduce(0) { $0 + $1.name.count + $1.value.count }
    try Limits.check(size, Limits.xattrBytes, "size of the extended attributes of a file")
    guard allSatisfy({ Xattr.isValid(name: $0.name) }) else {
      throw .malformed(what: "extended attribute", reason: "its name is invalid")
    }
    let sorted = sorted { $0.name.lexicographicallyPrecedes($1.name) }
    for (xattr, next) in zip(sorted, sorted.dropFirst()) where xattr.name == next.name {
      throw .malformed(what: "extended attribute", reason: "a name stands twice")
    }
    return sorted
  }

  func encode(_ field: Int, to writer: inout WireWriter) {
    for xattr in self {
      writer.message(field) {
        $0.bytes(1, xattr.name)
        $0.bytes(2, xattr.value)
      }
    }
  }
}

extension Xattr {
  static func decode(_ reader: WireReader) throws(ModelError) -> Xattr {
    var reader = reader
    var xattr = Xattr(name: [], value: [])
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): xattr.name = try reader.byteArray()
      case .bytes(2): xattr.value = try reader.byteArray()
      default: _ = try reader.skip(tag)
      }
    }
    return xattr
  }
}
