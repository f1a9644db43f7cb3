import BlobStore
import Vault
import VaultErrors
import VaultModel

/// The signed files in the vault's own folder.
struct LocalLook: Sendable {
  var files: Set<VaultPath> = []
  var members: Set<MemberID> = []

  /// Lists them.
  static func ofFolder(_ store: any BlobStore) throws(SyncError) -> LocalLook {
    do { return try list(store) } catch { throw .vault(VaultError(error)) }
  }

  private static func list(_ store: any BlobStore) throws(BlobStoreError) -> LocalLook {
    var files: Set<VaultPath> = []
    var members: Set<MemberID> = []
    try store.walk(under: "people", depth: 6) { path, entry in
      if let path, entry.kind == .blob, let known = VaultPath(parsing: path.string) {
        files.insert(known)
      }
      return .goOn
    }
    for entry in try store.list("members") {
      guard entry.isFolder, let member = MemberID(hex: entry.name) else { continue }
      members.insert(member)
      let folder = BlobPath("members/\(member.hex)")
      if try store.size(of: folder.appending("root")) != nil { files.insert(.memberRoot(member)) }
      for part in ["links", "wraps", "heads"] {
        try store.walk(under: folder.appending(part), depth: 4) { path, entry in
          if let path, entry.kind == .blob, let known = VaultPath(parsing: path.string) {
            files.insert(known)
          }
          return .goOn
        }
      }
    }
    return LocalLook(files: files, members: members)
  }
}
