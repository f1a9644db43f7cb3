import Vault
import VaultModel

/// Finding what a request names. What is not loaded is an obstacle.
extension TreeState {
  /// The node of this number.
  func node(_ inode: Inode) throws(TreeObstacle) -> Node {
    guard let node = nodes[inode] else { throw .failed(.stale) }
    return node
  }

  /// The directory of this number.
  func directory(_ inode: Inode) throws(TreeObstacle) -> DirectoryNode {
    switch nodes[inode] {
    case let node as DirectoryNode: return node
    case nil: throw .failed(inode == FileTree.root ? .accessDenied : .stale)
    default: throw .failed(.notDirectory)
    }
  }

  /// The directory with its records and files loaded.
  mutating func loaded(_ inode: Inode) throws(TreeObstacle) -> DirectoryNode {
    let node = try directory(inode)
    if node.files == nil { throw .missing(MissingFiles(of: node, .all(keeping: []))) }
    use(node)
    return node
  }

  /// Two directories with their records and files loaded.
  mutating func loaded(
    _ first: Inode, _ second: Inode
  ) throws(TreeObstacle) -> (DirectoryNode, DirectoryNode) {
    let nodes = (try directory(first), try directory(second))
    try require(nodes.0, beside: [nodes.1])
    try require(nodes.1, beside: [nodes.0])
    use(nodes.0)
    use(nodes.1)
    return nodes
  }

  /// The directory has to be loaded while those others are.
  func require(_ node: DirectoryNode, beside others: [DirectoryNode]) throws(TreeObstacle) {
    guard node.files == nil else { return }
    throw .missing(MissingFiles(of: node, .all(keeping: others.map(TreeReference.init))))
  }

  /// The directory with its files loaded or, where their list is damaged, with those that can be read
  /// (`DirectoryNode.salvage`): for looking and reading.
  mutating func readable(_ inode: Inode) throws(TreeObstacle) -> DirectoryNode {
    let node = try directory(inode)
    if node.files != nil {
      use(node)
      return node
    }
    if let salvage = node.salvage, salvage.isFresh,
      salvage.revision == node.view.member.entry(node.record)?.revision
    {
      return node
    }
    throw .missing(MissingFiles(of: node, .readable))
  }

  /// Has all directories loaded that hold a name of the file, so that the file can be marked as changed.
  mutating func requireNames(of file: FileNode) throws(TreeObstacle) {
    if file.links.count == 1, file.unseenLinkRecords.isEmpty, let link = file.links.first,
      file.view.directories[link.record]?.files != nil
    {
      return
    }
    var needed: [DirectoryNode] = []
    var missing: DirectoryNode?
    for record in file.links.map(\.record) + file.unseenLinkRecords {
      guard let directory = directory(record, of: file.view), !directory.isRemoved else {
        file.unseenLinkRecords.remove(record)
        continue
      }
      needed.append(directory)
      if directory.files == nil {
        missing = directory
        continue
      }
      if file.unseenLinkRecords.contains(record) { gatherLinks(of: file, in: directory) }
    }
    if let missing { try require(missing, beside: needed) }
  }

  /// Has those directories loaded that may hold more names of the file than are known, as far as they can be read.
  mutating func requireUnseenNames(
    of file: FileNode, beside others: [DirectoryNode]
  ) throws(TreeObstacle) {
    for record in file.unseenLinkRecords {
      guard let directory = directory(record, of: file.view), !directory.isRemoved else {
        file.unseenLinkRecords.remove(record)
        continue
      }
      guard directory.files != nil else {
        file.openCount += 1  // so that it stays while the directory is loaded
        let kept = others.map(TreeReference.init)
        throw .missing(
          MissingFiles(of: directory, .names(of: TreeReference(file), keeping: kept)))
      }
      gatherLinks(of: file, in: directory)
    }
  }

  /// The directory loaded, and all that hold other names of this file.
  mutating func loaded(
    _ parent: Inode, with name: FileName
  ) throws(TreeObstacle) -> DirectoryNode {
    let directory = try loaded(parent)
    try requireUnseenNames(of: name, in: directory, beside: [directory])
    return directory
  }

  /// All directories loaded that hold other names of what stands under this name in a directory that is loaded.
  mutating func requireUnseenNames(
    of name: FileName, in directory: DirectoryNode, beside others: [DirectoryNode]
  ) throws(TreeObstacle) {
    guard case .some(let slot) = directory.files?[name], slot.mayHaveUnseenLinks,
      let file = file(name, in: directory)
    else { return }
    try requireUnseenNames(of: file, beside: others)
  }

  /// The directory loaded and the name free, to be made there.
  ///
  /// - Throws: what keeps the member from being saved, besides.
  mutating func loaded(
    _ parent: Inode, without name: FileName
  ) throws(TreeObstacle) -> DirectoryNode {
    let directory = try loaded(parent)
    guard records(in: directory)[name] == nil, directory.files?[name] == nil else {
      throw .failed(.alreadyExists)
    }
    try checkCanChange(directory)
    if let failure = directory.view.failure { throw .failed(failure) }
    return directory
  }

  /// The node of a name in a directory that is loaded or can be read in part.
  mutating func child(_ name: FileName, of directory: DirectoryNode) -> Node? {
    if let record = records(in: directory)[name] {
      return self.directory(record, of: directory.view)
    }
    return file(name, in: directory)
  }
}

extension FileSlot {
  fileprivate var mayHaveUnseenLinks: Bool {
    switch self {
    case .stored(let item): !item.linkRecords.isEmpty
    case .node(let node): !node.unseenLinkRecords.isEmpty
    }
  }
}
