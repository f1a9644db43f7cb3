import BlobStore
import MachineState
import VaultErrors
import VaultModel

/// The names of objects of one member that were removed here and are still to be removed from one remote.
/// Docs/Format.md, "Removing objects" and "This machine's state".
package struct RemoteRemovals: Sendable {
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
    do { bytes = try state.store.read(path, limit: Self.byteLimit) } catch {
      if case .notFound = error { return [] }
      throw VaultError(error)
    }
    let lines = ChecksummedLines(decoding: bytes, title: Self.title)?.words(upTo: 2) ?? []
    return lines.compactMap { words in
      words.count == 2 && words[0] == "object" ? ObjectName(hex: String(words[1])) : nil
    }
  }

  /// Adds names; on disk when it returns. The caller holds the commit lock.
  func add(_ names: [ObjectName]) throws(VaultError) {
    try store(Set(try load()).union(names))
  }

  /// Forgets names that are gone there, or needed again.
  package func remove(_ names: [ObjectName]) throws(VaultError) {
    try state.withCommitLock { () throws(VaultError) in
      try store(Set(try load()).subtracting(names))
    }
  }

  private func store(_ names: Set<ObjectName>) throws(VaultError) {
    try storing { () throws(BlobStoreError) in
      guard !names.isEmpty else { return try state.store.remove(path) }
      let bytes = ChecksummedLines.encode(
        title: Self.title, names.sorted().map { "object \($0.hex)" })
      try state.store.replace(path, bytes, durably: true)
    }
  }
}

extension StateFolder {
  /// Whether a sync with this remote has to see to epochs or removals: one that was begun is not brought to its end, or
  /// objects are still to be removed there.
  package func hasWorkLeft(on remote: RemoteName) throws(VaultError) -> Bool {
    let entries = try storing(store.list(PendingEpoch.folder))
    return entries.contains { entry in
      !entry.name.contains(".") || entry.name.hasSuffix(".\(remote)")
    }
  }
}
