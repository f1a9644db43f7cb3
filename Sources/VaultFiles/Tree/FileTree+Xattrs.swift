import Vault
import VaultModel

extension FileTree {
  /// - Throws: `noAttribute`, `notSupported` for names that do not begin with `user.`.
  package func xattr(_ inode: Inode, _ name: [UInt8]) throws(FileError) -> [UInt8] {
    guard Xattr.isValid(name: name) else { throw .notSupported }
    let found = try xattrs(inode).first { $0.name == name }
    guard let found else { throw .noAttribute }
    return found.value
  }

  /// The names, in order.
  package func xattrNames(_ inode: Inode) throws(FileError) -> [[UInt8]] {
    try xattrs(inode).map(\.name)
  }

  private func xattrs(_ inode: Inode) throws(FileError) -> [Xattr] {
    if inode == Self.root { return [] }
    return try look { (tree) throws(TreeObstacle) in try tree.nodeWithXattrs(inode).xattrs }
  }

  /// - Throws: `notSupported` for names that do not begin with `user.`, and at the top; `alreadyExists` and `noAttribute`
  ///   as `mode` says; `attributesTooLarge` beyond 64 KiB in all; `readOnly`, `accessDenied`; `stale` as `setAttributes` does.
  package func setXattr(
    _ inode: Inode, _ name: [UInt8], _ value: [UInt8], mode: XattrMode
  ) throws(FileError) {
    guard Xattr.isValid(name: name) else { throw .notSupported }
    try changeXattrs(inode) { (xattrs) throws(TreeObstacle) in
      let position = xattrs.firstIndex { !$0.name.lexicographicallyPrecedes(name) } ?? xattrs.count
      let isPresent = position < xattrs.count && xattrs[position].name == name
      if mode == .create, isPresent { throw .failed(.alreadyExists) }
      if mode == .replace, !isPresent { throw .failed(.noAttribute) }
      if isPresent { xattrs.remove(at: position) }
      xattrs.insert(Xattr(name: name, value: value), at: position)
      let total = xattrs.reduce(0) { $0 + $1.name.count + $1.value.count }
      guard total <= Limits.xattrBytes else { throw .failed(.attributesTooLarge) }
    }
  }

  /// - Throws: `noAttribute`, `notSupported`, `readOnly`, `accessDenied`; `stale` as `setAttributes` does.
  package func removeXattr(_ inode: Inode, _ name: [UInt8]) throws(FileError) {
    guard Xattr.isValid(name: name) else { throw .notSupported }
    try changeXattrs(inode) { (xattrs) throws(TreeObstacle) in
      guard let position = xattrs.firstIndex(where: { $0.name == name }) else {
        throw .failed(.noAttribute)
      }
      xattrs.remove(at: position)
    }
  }

  private func changeXattrs(
    _ inode: Inode, _ change: (inout [Xattr]) throws(TreeObstacle) -> Void
  ) throws(FileError) {
    try checkIsWritable(inode)
    guard inode != Self.root else { throw .notSupported }
    let changed: [Invalidation] = try look { (tree) throws(TreeObstacle) in
      let node = try tree.nodeWithXattrs(inode)
      try tree.checkAccess(node, mask: 2)
      var xattrs = node.xattrs
      try change(&xattrs)
      let (file, directory) = (node as? FileNode, node as? DirectoryNode)
      if let directory, directory.isTaken { throw .failed(.stale) }
      var changed: [Invalidation] = []
      if let file { changed = try tree.putBack(file) }
      node.xattrs = xattrs
      node.changed = .now
      if let file { tree.noteChange(of: file) }
      if let directory { tree.noteChange(ofAttributesOf: directory) }
      return changed
    }
    invalidate(changed)
  }
}

extension TreeState {
  /// The node with what is needed loaded to read its attributes, and to mark it as changed.
  fileprivate mutating func nodeWithXattrs(_ inode: Inode) throws(TreeObstacle) -> Node {
    guard let file = try node(inode) as? FileNode else { return try loaded(inode) }
    try requireNames(of: file)
    return file
  }
}
