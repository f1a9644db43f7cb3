import Vault
import VaultModel

extension FileTree {
  /// - Throws: `stale`.
  package func attributes(_ inode: Inode) throws(FileError) -> Attributes {
    try look { (tree) throws(TreeObstacle) in
      inode == Self.root ? tree.topAttributes : tree.attributes(of: try tree.node(inode))
    }
  }

  /// Changes mode, owner, times or size; the answer has the attributes after it.
  ///
  /// - Parameters:
  ///   - handle: The open file through which this was asked for, which allows more than its name may.
  ///   - caller: Whose process asked.
  /// - Throws: `notPermitted` for someone else's file, `readOnly`, `isDirectory` for a directory's size; `stale` for a directory that
  ///   others have removed, and for a file where it cannot have its name back.
  package func setAttributes(
    _ inode: Inode, _ change: AttributeChange, through handle: FileHandle?, by caller: Caller? = nil
  ) throws(FileError) -> Attributes {
    try checkIsWritable(inode)
    if let handle { return try setAttributes(handle.file, change, through: handle, by: caller) }
    let file: TreeReference<FileNode>? = try look { (tree) throws(TreeObstacle) in
      if inode == Self.root { throw .failed(.notPermitted) }
      return (try tree.node(inode) as? FileNode).map(TreeReference.init)
    }
    if let file { return try setAttributes(file, change, through: nil, by: caller) }
    return try setAttributes(ofDirectory: inode, change)
  }

  /// The same without waiting for a remote; nil where that may have a part which this needs, and then nothing was done.
  package func setAttributesIfHere(
    _ inode: Inode, _ change: AttributeChange, through handle: FileHandle?, by caller: Caller?
  ) throws(FileError) -> Attributes? {
    // A file that nobody has open is sealed at once, and so may need its last part. What is open waits for its close.
    if let size = change.size, size > 0, handle == nil, vault.lazyChunks != nil { return nil }
    return try setAttributes(inode, change, through: handle, by: caller)
  }

  private func setAttributes(
    _ file: TreeReference<FileNode>, _ change: AttributeChange, through handle: FileHandle?,
    by caller: Caller?
  ) throws(FileError) -> Attributes {
    if let size = change.size {
      if let handle {
        try handle.truncate(to: size, by: caller)
      } else {
        try truncate(file, to: size, by: caller)
      }
    }
    var rest = change
    rest.size = nil
    let done: (attributes: Attributes, changed: [Invalidation]) = try look {
      [rest] (tree) throws(TreeObstacle) in
      let file = tree[file]
      try tree.requireNames(of: file)
      guard rest != AttributeChange() else { return (tree.attributes(of: file), []) }
      try tree.checkOwnership(of: file, rest)
      let changed = try rest.isKept ? tree.putBack(file) : []
      if let mode = rest.mode {
        file.mode = file.type | mode & FileMode.permissionMask
      } else if rest.uid != nil || rest.gid != nil {
        // As chown(2) does, for everyone: a new owner has not agreed to lend their rights.
        file.dropPrivileges()
      }
      tree.apply(rest, to: file)
      if rest.isKept { tree.noteChange(of: file) }
      return (tree.attributes(of: file), changed)
    }
    invalidate(done.changed)
    return done.attributes
  }

  private func truncate(
    _ file: TreeReference<FileNode>, to size: UInt64, by caller: Caller?
  ) throws(FileError) {
    try checkAccess(withTree { $0[file].inode }, mask: 2)
    let handle = try open(file, [.write])
    defer { handle.release() }
    try handle.truncate(to: size, by: caller)
    try handle.flush()
  }

  private func setAttributes(
    ofDirectory inode: Inode, _ change: AttributeChange
  ) throws(FileError) -> Attributes {
    guard change.size == nil else { throw .isDirectory }
    return try look { (tree) throws(TreeObstacle) in
      let node = try tree.loaded(inode)
      guard change != AttributeChange() else { return tree.attributes(of: node) }
      try tree.checkOwnership(of: node, change)
      if node.isTaken, change.isKept { throw .failed(.stale) }
      if let mode = change.mode { node.permissions = mode & FileMode.permissionMask }
      tree.apply(change, to: node)
      if change.isKept { tree.noteChange(ofAttributesOf: node) }
      return tree.attributes(of: node)
    }
  }

  // MARK: Permissions

  /// Whether anything at all may be changed there.
  ///
  /// - Throws: `readOnly` in a tree that is, and in a member that this person may only read.
  func checkIsWritable(_ inode: Inode) throws(FileError) {
    guard !isReadOnly else { throw .readOnly }
    let isAllowed = withTree { tree in
      let view: MemberView? =
        switch tree.nodes[inode] {
        case let file as FileNode: file.view
        case let directory as DirectoryNode: directory.view
        default: nil
        }
      guard let view else { return true }
      return mayChange(view)
    }
    if !isAllowed { throw .readOnly }
  }

  /// The same of what is shown of a member: of one whose access has ended nothing new is begun, also where this person has
  /// access again, and it is about to show anew.
  func mayChange(_ view: MemberView) -> Bool { !view.hasEnded && mayChange(view.member) }

  /// Whether anything of the member may be changed by way of this tree.
  func mayChange(_ member: Member) -> Bool { !options.isReadOnly && member.refusal == nil }

  /// Whether the mount's owner may read (4), write (2) or execute and search (1) it.
  ///
  /// - Throws: `accessDenied`, `readOnly` for writing where nothing can be written.
  package func checkAccess(_ inode: Inode, mask: UInt32) throws(FileError) {
    if mask & 2 != 0 { try checkIsWritable(inode) }
    guard inode != Self.root else { return }
    try look { (tree) throws(TreeObstacle) in
      try tree.checkAccess(try tree.node(inode), mask: mask)
    }
  }
}

extension TreeState {
  /// A file's attributes, or its names' items, changed: the next commit takes it. The directories of its names have to be
  /// loaded.
  func noteChange(of file: FileNode) {
    guard !file.links.isEmpty else { return }
    file.view.willChange(file)
    file.hasOwnState = true
    committer.noteChange()
  }

  /// A directory's attributes changed: the next commit takes it, unless it was removed here.
  func noteChange(ofAttributesOf directory: DirectoryNode) {
    guard !directory.isRemoved else { return }
    directory.view.willChange(attributesOf: directory)
    committer.noteChange()
  }

  func apply(_ change: AttributeChange, to node: Node) {
    let now = FileTimestamp.now
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

  // MARK: What is shown

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
      inode: FileTree.root, mode: FileMode.directory | options.topMode,
      linkCount: 2 + UInt32(clamping: members.count), uid: options.uid, gid: options.gid,
      size: 4096, blockCount: 8, accessed: topChanged, modified: topChanged,
      changed: topChanged)
  }

  // MARK: Permissions

  /// Whether the mount's owner may read (4), write (2) or execute and search (1) it.
  func checkAccess(_ node: Node, mask: UInt32) throws(TreeObstacle) {
    guard mask != 0 else { return }
    let attributes = attributes(of: node)
    if options.uid == 0 {
      // Root may do anything but execute what nobody may.
      if mask & 1 != 0, attributes.type == FileMode.regular, attributes.mode & 0o111 == 0 {
        throw .failed(.accessDenied)
      }
      return
    }
    guard options.checksPermissions else { return }
    let shift: UInt32 = attributes.uid == options.uid ? 6 : attributes.gid == options.gid ? 3 : 0
    guard attributes.mode >> shift & mask == mask else { throw .failed(.accessDenied) }
  }

  /// A change of a directory's names: it has to be there and be writable.
  func checkCanChange(_ directory: DirectoryNode) throws(TreeObstacle) {
    guard !directory.isRemoved else { throw .failed(.notFound) }
    try checkAccess(directory, mask: 3)
  }

  func checkOwnership(
    of node: Node, _ change: AttributeChange
  ) throws(TreeObstacle) {
    guard options.uid != 0, options.checksPermissions else { return }
    let isOwner = (node.owner.uid ?? options.uid) == options.uid
    let onlyTouches = change == AttributeChange(accessed: .now, modified: .now)
    if !isOwner {
      guard onlyTouches else { throw .failed(.notPermitted) }
      try checkAccess(node, mask: 2)
    }
    if let uid = change.uid, uid != (node.owner.uid ?? options.uid) { throw .failed(.notPermitted) }
  }
}
