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
    let node = try lockForXattrs(inode)
    defer { state.lock.unlock() }
    return node.xattrs
  }

  /// - Throws: `notSupported` for names that do not begin with `user.`, and at the top; `alreadyExists` and `noAttribute`
  ///   as `mode` says; `attributesTooLarge` beyond 64 KiB in all; `readOnly`, `accessDenied`.
  package func setXattr(
    _ inode: Inode, _ name: [UInt8], _ value: [UInt8], mode: XattrMode
  ) throws(FileError) {
    guard Xattr.isValid(name: name) else { throw .notSupported }
    try changeXattrs(inode) { (xattrs) throws(FileError) in
      let position = xattrs.firstIndex { !$0.name.lexicographicallyPrecedes(name) } ?? xattrs.count
      let isPresent = position < xattrs.count && xattrs[position].name == name
      if mode == .create, isPresent { throw .alreadyExists }
      if mode == .replace, !isPresent { throw .noAttribute }
      if isPresent { xattrs.remove(at: position) }
      xattrs.insert(Xattr(name: name, value: value), at: position)
      let total = xattrs.reduce(0) { $0 + $1.name.count + $1.value.count }
      guard total <= Limits.xattrBytes else { throw .attributesTooLarge }
    }
  }

  /// - Throws: `noAttribute`, `notSupported`, `readOnly`, `accessDenied`.
  package func removeXattr(_ inode: Inode, _ name: [UInt8]) throws(FileError) {
    guard Xattr.isValid(name: name) else { throw .notSupported }
    try changeXattrs(inode) { (xattrs) throws(FileError) in
      guard let position = xattrs.firstIndex(where: { $0.name == name }) else {
        throw .noAttribute
      }
      xattrs.remove(at: position)
    }
  }

  private func changeXattrs(
    _ inode: Inode, _ change: (inout [Xattr]) throws(FileError) -> Void
  ) throws(FileError) {
    try checkIsWritable(inode)
    guard inode != Self.root else { throw .notSupported }
    let node = try lockForXattrs(inode)
    defer { state.lock.unlock() }
    try checkAccess(node, mask: 2)
    var xattrs = node.xattrs
    try change(&xattrs)
    node.xattrs = xattrs
    node.changed = .now()
    if let file = node as? FileNode {
      noteChange(of: file)
    } else if let directory = node as? DirectoryNode {
      directory.view.willChange(attributesOf: directory)
      committer.noteChange()
    }
  }

  /// Takes the tree lock with what is needed loaded. When it throws the lock is free.
  private func lockForXattrs(_ inode: Inode) throws(FileError) -> Node {
    switch state.lock.withLock({ state.nodes[inode] }) {
    case let file as FileNode:
      try lockLoaded(namesOf: file)
      return file
    case is DirectoryNode: return try lockLoaded(inode)
    default: throw .stale
    }
  }
}
