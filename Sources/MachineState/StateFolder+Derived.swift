import BlobStore
import VaultErrors
import VaultModel

/// The folder of what is derived: what of it stays, and how long. Docs/Format.md, "What is derived".
extension StateFolder {
  package static let derivedPath: BlobPath = "derived"

  private struct File {
    let path: BlobPath
    let byteCount: UInt64
    let lastUse: UInt64
  }

  /// How many bytes are derived.
  package func derivedByteCount() throws(VaultError) -> UInt64 {
    try derivedFiles().reduce(0) { $0 + $1.byteCount }
  }

  /// Removes all that is derived; whoever needs it makes it again. Nobody's keys are needed for that.
  package func removeDerived() throws(VaultError) {
    try storing(store.removeFolder(Self.derivedPath))
  }

  /// Removes what is derived of others than these members.
  package func removeDerived(but members: Set<MemberID>) throws(VaultError) {
    let kept = Set(members.map(\.hex))
    try storing { () throws(BlobStoreError) in
      for entry in try store.list(Self.derivedPath) where !kept.contains(entry.name) {
        let path = Self.derivedPath.appending(entry.name)
        if entry.isFolder { try store.removeFolder(path) } else { try store.remove(path) }
      }
    }
  }

  /// Removes what was of use longest ago, until no more than so many bytes are left.
  package func trimDerived(to limit: UInt64) throws(VaultError) {
    var files = try derivedFiles()
    var total = files.reduce(0) { $0 + $1.byteCount }
    guard total > limit else { return }
    files.sort { ($0.lastUse, $0.path.string) < ($1.lastUse, $1.path.string) }
    for file in files where total > limit {
      try storing(store.remove(file.path))
      total -= file.byteCount
    }
  }

  private func derivedFiles() throws(VaultError) -> [File] {
    try storing { () throws(BlobStoreError) in
      var files: [File] = []
      for member in try store.list(Self.derivedPath) where member.isFolder {
        let folder = Self.derivedPath.appending(member.name)
        for entry in try store.list(folder) where entry.kind == .blob {
          let path = folder.appending(entry.name)
          let lastUse = try store.lastUse(of: path) ?? 0
          files.append(File(path: path, byteCount: entry.size, lastUse: lastUse))
        }
      }
      return files
    }
  }
}
