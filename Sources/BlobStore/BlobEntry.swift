/// One line of a folder's list.
package struct BlobEntry: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case blob
    case folder
    /// A link, pipe, socket or device, which no call of a store opens.
    case other
  }

  /// Text that is not UTF-8 arrives with replacement characters, so it names nothing that a store could open.
  package var name: String
  package var kind: Kind
  /// In bytes; 0 unless it is a blob.
  package var size: UInt64
  /// Differs after a blob was replaced, written or exchanged under this name, as well as the store can tell; says
  /// nothing by itself. Where the file system's times are coarse, a blob replaced twice within a tick whose second
  /// file got the first one's place on disk may show the same.
  package var fingerprint: UInt64

  package init(name: String, kind: Kind, size: UInt64, fingerprint: UInt64) {
    self.name = name
    self.kind = kind
    self.size = size
    self.fingerprint = fingerprint
  }

  package var isFolder: Bool { kind == .folder }
}

extension [BlobEntry] {
  /// A folder's entries as a store gives them: sorted by name, each blob and each folder once. Some servers list one
  /// twice after a race.
  package func listed() -> [BlobEntry] {
    var result: [BlobEntry] = []
    result.reserveCapacity(count)
    for entry in sorted(by: { $0.name < $1.name }) {
      let namesakes = result.reversed().prefix { $0.name == entry.name }
      if !namesakes.contains(where: { $0.kind == entry.kind }) { result.append(entry) }
    }
    return result
  }
}
