import BlobStore
import VaultModel

/// What stands at the root of a remote that has no `vault.json`.
package enum RemoteRoot {
  /// Folders of a vault.
  static let vaultFolders: Set = ["people", "members", "audit", "staging"]

  /// What a system makes at the root of every disk, in lower case: a disk with nothing else is empty.
  private static let systemNames: Set = [
    "lost+found", "system volume information", "$recycle.bin", "recycler", "recycled",
  ]

  /// The first name that neither an interrupted first push nor a system has left, nil where there is none.
  package static func stranger(among entries: [BlobEntry]) -> BlobEntry? {
    entries.first { entry in
      // Hidden files are a system's own, or what an interrupted program left.
      !entry.name.hasPrefix(".") && !(entry.isFolder && vaultFolders.contains(entry.name))
        && !(entry.isFolder && systemNames.contains(entry.name.lowercased()))
        && entry.name != VaultPath.vault.string
    }
  }
}
