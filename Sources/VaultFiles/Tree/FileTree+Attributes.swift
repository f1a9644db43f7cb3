import VaultModel

extension FileTree {
  /// - Throws: `stale`.
  package func attributes(_ inode: Inode) throws(FileError) -> Attributes {
    state.lock.lock()
    defer { state.lock.unlock() }
    if inode == Self.root { return topAttributes }
    guard let node = state.nodes[inode] else { throw .stale }
    return attributes(of: node)
  }

  /// Changes mode, owner, times or size; the answer has the attributes after it.
  ///
  /// - Parameters:
  ///   - handle: The open file through which this was asked for, which allows more than its name may.
  ///   - caller: Whose process asked.
  /// - Throws: `notPermitted` for someone else's file, `readOnly`, `isDirectory` for a directory's size.
  package func setAttributes(
    _ inode: Inode, _ change: AttributeChange, through handle: FileHandle?, by caller: Caller? = nil
  ) throws(FileError) -> Attributes {
    try checkIsWritable(inode)
    let node: Node? = handle?.node ?? state.lock.withLock { state.nodes[inode] }
    switch node {
    case let file as FileNode: return try setAttributes(file, change, through: handle, by: caller)
    case let directory as DirectoryNode: return try setAttributes(directory, change)
    default: throw inode == Self.root ? .notPermitted : .stale
    }
  }

  private func setAttributes(
    _ file: FileNode, _ change: AttributeChange, through handle: FileHandle?, by caller: Caller?
  ) throws(FileError) -> Attributes {
    if let size = change.size {
      if let handle {
        try handle.truncate(to: size, by: caller)
      } else {
        try checkAccess(file.inode, mask: 2)
        let handle = try open(file, [.write])
        defer { handle.release() }
        try handle.truncate(to: size, by: caller)
        try handle.flush()
      }
    }
    try lockLoaded(namesOf: file)
    defer { state.lock.unlock() }
    var rest = change
    rest.size = nil
    guard rest != AttributeChange() else { return attributes(of: file) }
    try checkOwnership(of: file, mode: file.mode, rest)
    if let mode = change.mode {
      file.mode = file.type | mode & FileMode.permissionMask
    } else if change.uid != nil || change.gid != nil {
      // As chown(2) does, for everyone: a new owner has not agreed to lend their rights.
      file.dropPrivileges()
    }
    apply(rest, to: file)
    noteChange(of: file)
    return attributes(of: file)
  }

  private func setAttributes(
    _ directory: DirectoryNode, _ change: AttributeChange
  ) throws(FileError) -> Attributes {
    guard change.size == nil else { throw .isDirectory }
    let node = try lockLoaded(directory.inode)
    defer { state.lock.unlock() }
    guard change != AttributeChange() else { return attributes(of: node) }
    try checkOwnership(of: node, mode: node.permissions, change)
    if let mode = change.mode { node.permissions = mode & FileMode.permissionMask }
    apply(change, to: node)
    node.view.willChange(attributesOf: node)
    committer.noteChange()
    return attributes(of: node)
  }

  private func apply(_ change: AttributeChange, to node: Node) {
    let now = FileTimestamp.now()
    if let uid = change.uid { node.owner.uid = uid == options.uid ? nil : uid }
    if let gid = change.gid { node.owner.gid = gid == options.gid ? nil : gid }
    switch change.modified {
    case .now: node.modified = now
    case .to(let time): node.modified = time
    case nil: break
    }
    switch change.accessed {
    case .now: node.accessed = now
    case .to(let time): node.accessed = time
    case nil: break
    }
    node.changed = now
  }

  /// A file's attributes, or its names' items, changed: the next commit takes it. The tree lock has to be held, and the
  /// directories of its names to be loaded.
  func noteChange(of file: FileNode) {
    guard !file.links.isEmpty else { return }
    file.view.willChange(file)
    file.hasOwnState = true
    committer.noteChange()
  }

  // MARK: What is shown. The tree lock has to be held.

  func attributes(of node: Node) -> Attributes {
    var attributes = Attributes(
      inode: node.inode, mode: 0, linkCount: 0, uid: node.owner.uid ?? options.uid,
      gid: node.owner.gid ?? options.gid, size: 0, blockCount: 0, accessed: node.shownAccessed,
      modified: node.modified, changed: node.changed)
    switch node {
    case let file as FileNode:
      attributes.mode = file.mode
      attributes.linkCount = UInt32(clamping: file.links.count)
      attributes.size = file.size
      attributes.blockCount = (min(file.size, file.dataByteCount) + 511) / 512
    case let directory as DirectoryNode:
      attributes.mode = FileMode.directory | directory.permissions
      let children =
        directory.records?.count ?? directory.view.member.childCount(of: directory.record)
      attributes.linkCount = directory.isRemoved ? 0 : 2 + UInt32(clamping: children)
      attributes.size = 4096
      attributes.blockCount = 8
    default: break
    }
    return attributes
  }

  var topAttributes: Attributes {
    Attributes(
      inode: Self.root, mode: FileMode.directory | options.topMode,
      linkCount: 2 + UInt32(clamping: state.members.count), uid: options.uid, gid: options.gid,
      size: 4096, blockCount: 8, accessed: state.topChanged, modified: state.topChanged,
      changed: state.topChanged)
  }

  // MARK: Permissions

  /// Whether anything at all may be changed there.
  ///
  /// - Throws: `readOnly` in a tree that is, and in a member that this person may only read.
  func checkIsWritable(_ inode: Inode) throws(FileError) {
    guard !isReadOnly else { throw .readOnly }
    let view: MemberView? = state.lock.withLock {
      switch state.nodes[inode] {
      case let file as FileNode: file.view
      case let directory as DirectoryNode: directory.view
      default: nil
      }
    }
    if let view, !view.member.mayWrite { throw .readOnly }
  }

  /// Whether the mount's owner may read (4), write (2) or execute and search (1) it.
  ///
  /// - Throws: `accessDenied`, `readOnly` for writing where nothing can be written.
  package func checkAccess(_ inode: Inode, mask: UInt32) throws(FileError) {
    if mask & 2 != 0 { try checkIsWritable(inode) }
    guard inode != Self.root else { return }
    state.lock.lock()
    defer { state.lock.unlock() }
    guard let node = state.nodes[inode] else { throw .stale }
    try checkAccess(node, mask: mask)
  }

  /// The same for a node, with the tree lock held.
  func checkAccess(_ node: Node, mask: UInt32) throws(FileError) {
    guard mask != 0 else { return }
    let attributes = attributes(of: node)
    if options.uid == 0 {
      // Root may do anything but execute what nobody may.
      if mask & 1 != 0, attributes.type == FileMode.regular, attributes.mode & 0o111 == 0 {
        throw .accessDenied
      }
      return
    }
    guard options.checksPermissions else { return }
    let shift: UInt32 = attributes.uid == options.uid ? 6 : attributes.gid == options.gid ? 3 : 0
    guard attributes.mode >> shift & mask == mask else { throw .accessDenied }
  }

  /// A change of a directory's names: it has to be there and be writable. The tree lock has to be held.
  func checkCanChange(_ directory: DirectoryNode) throws(FileError) {
    guard !directory.isRemoved else { throw .notFound }
    try checkAccess(directory, mask: 3)
  }

  private func checkOwnership(
    of node: Node, mode: UInt32, _ change: AttributeChange
  ) throws(FileError) {
    guard options.uid != 0, options.checksPermissions else { return }
    let isOwner = (node.owner.uid ?? options.uid) == options.uid
    let onlyTouches = change == AttributeChange(accessed: .now, modified: .now)
    if !isOwner {
      guard onlyTouches else { throw .notPermitted }
      try checkAccess(node, mask: 2)
    }
    if let uid = change.uid, uid != (node.owner.uid ?? options.uid) { throw .notPermitted }
  }
}
