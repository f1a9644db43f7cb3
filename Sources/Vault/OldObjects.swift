import BlobStore
import VaultModel

/// The names of objects of older epochs that are still to be removed from one remote. Docs/Format.md, "This machine's
/// state".
package struct OldObjects: Sendable {
  private static let title = "kinvault old objects 1"
  private static let byteLimit = 1 << 30
  private let state: StateFolder
  private let path: BlobPath

  package init(of member: MemberID, on remote: RemoteName, state: StateFolder) {
    self.state = state
    path = BlobPath("epochs").appending("\(member.hex).\(remote)")
  }

  /// The names; none when the list is lost or torn: then the objects stay there.
  package func load() throws(VaultError) -> [ObjectName] {
    let bytes: [UInt8]
    do throws(BlobStoreError) { bytes = try state.store.read(path, limit: Self.byteLimit) } catch {
      if case .notFound = error { return [] }
      throw VaultError(error)
    }
    let lines = ChecksummedLines(decoding: bytes, title: Self.title)?.words(upTo: 2) ?? []
    return lines.compactMap { words in
      words.count == 2 && words[0] == "object" ? ObjectName(hex: String(words[1])) : nil
    }
  }

  /// Adds names; on disk when it returns.
  func add(_ names: [ObjectName]) throws(VaultError) {
    let all = Set(try load()).union(names).sorted()
    let bytes = ChecksummedLines.encode(title: Self.title, all.map { "object \($0.hex)" })
    try storing { () throws(BlobStoreError) in
      try state.store.replace(path, bytes, durably: true)
    }
  }

  /// All of them are gone there.
  package func clear() throws(VaultError) {
    try storing { () throws(BlobStoreError) in try state.store.remove(path) }
  }
}
