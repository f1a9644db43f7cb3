/// How a tree is shown, and to whom.
package struct FileTreeOptions: Sendable {
  /// The owner of everything that has no owner of its own.
  package var uid: UInt32
  package var gid: UInt32
  /// The permission bits of the top directory, which nobody can change.
  package var topMode: UInt32 = 0o700
  /// Refuses every change with EROFS. A read-only vault does so by itself.
  package var isReadOnly = false
  /// Checks permission bits for `uid` here. Off where the kernel does it (`default_permissions`), and
  /// without effect for root.
  package var checksPermissions = true
  /// The longest time that a change waits for its commit.
  package var commitDelay: Duration = .seconds(1)
  /// How long a directory's own time waits for another change of the directory, before any commit of the member takes it.
  package var timeDelay: Duration = .seconds(3600)
  /// How often other processes' and devices' commits are looked for.
  package var pollInterval: Duration = .milliseconds(500)
  /// The most unsealed content kept in memory, in bytes.
  package var dirtyByteLimit = 64 << 20
  /// The most files of loaded directories kept in memory beyond those in use.
  package var loadedItemLimit = 60_000
  /// Which versions stay that only this mount has seen; nil for all of them.
  package var thinning: Thinning?

  package init(uid: UInt32, gid: UInt32) {
    self.uid = uid
    self.gid = gid
  }
}
