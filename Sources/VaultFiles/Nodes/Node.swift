import VaultModel

/// What an inode number stands for.
///
/// Nodes are part of `TreeState`: whoever has one holds the tree lock. The compiler sees to it, as they cannot be sent:
/// elsewhere a `TreeReference` stands for a node.
class Node {
  let inode: Inode
  /// How often the kernel was told of it and has not forgotten.
  var references: UInt64 = 0
  /// Open handles.
  var openCount = 0
  var owner: Owner
  var modified: FileTimestamp
  /// Kept in memory only: a file that was not changed since the mount began shows its `modified`.
  var changed: FileTimestamp
  /// Kept in memory only; what is shown is never before `modified`.
  var accessed: FileTimestamp?
  var xattrs: [Xattr]

  init(inode: Inode, owner: Owner, modified: FileTimestamp, xattrs: [Xattr]) {
    self.inode = inode
    self.owner = owner
    self.modified = modified
    self.changed = modified
    self.xattrs = xattrs
  }

  /// Whether the kernel or a handle still refers to it.
  var isInUse: Bool { references > 0 || openCount > 0 }

  /// The time of access that is shown.
  var shownAccessed: FileTimestamp { accessed ?? modified }
}
