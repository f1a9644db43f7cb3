import VaultModel

/// What a cache above the tree has to drop, because another process or device changed it.
package enum Invalidation: Hashable, Sendable {
  /// The name in this directory means something else now, or nothing.
  case entry(parent: Inode, name: FileName)
  /// The file's content and attributes changed.
  case content(Inode)
  /// The attributes changed, the content did not.
  case attributes(Inode)
}
