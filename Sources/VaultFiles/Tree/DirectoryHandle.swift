import VaultModel

/// One name in a directory.
package struct DirectoryEntry: Sendable {
  /// `.` and `..` included.
  package let name: [UInt8]
  package let inode: Inode
  /// The type bits of `st_mode`.
  package let type: UInt32
  /// Where a later read goes on after this entry.
  package let nextCookie: UInt64
}

/// An open directory: a snapshot of its names, taken when it is opened, and whenever reading begins again at the first.
package final class DirectoryHandle: @unchecked Sendable {
  package let inode: Inode
  private let tree: FileTree
  private let monitor = Monitor()
  /// Protected by `monitor`; the names but `.` and `..`.
  private var names: [FileTree.Name] = []
  private var parent: Inode
  private var isFresh = true
  private var isReleased = false

  init(tree: FileTree, inode: Inode) throws(FileError) {
    self.tree = tree
    self.inode = inode
    (names, parent) = try tree.names(in: inode)
  }

  /// Entries from `cookie` (0: the first) on, `.` and `..` included, until `body` answers false.
  package func read(
    from cookie: UInt64, _ body: (DirectoryEntry) -> Bool
  ) throws(FileError) {
    let (names, parent) = try snapshot(from: cookie)
    for position in Int(clamping: cookie)..<max(Int(clamping: cookie), names.count + 2) {
      guard body(entry(position, names, parent)) else { return }
    }
  }

  /// The same with attributes. Counts one reference of the kernel for each entry that `body` took, except `.` and `..`.
  /// What was removed since the snapshot is left out.
  package func readWithAttributes(
    from cookie: UInt64, _ body: (DirectoryEntry, Attributes) -> Bool
  ) throws(FileError) {
    let (names, parent) = try snapshot(from: cookie)
    for position in Int(clamping: cookie)..<max(Int(clamping: cookie), names.count + 2) {
      let entry = entry(position, names, parent)
      guard position >= 2 else {
        guard body(entry, try tree.attributes(entry.inode)) else { return }
        continue
      }
      let attributes: Attributes
      do throws(FileError) {
        attributes = try tree.lookup(inode, names[position - 2].name)
      } catch {
        guard error == .notFound else { throw error }
        continue
      }
      let found = DirectoryEntry(
        name: entry.name, inode: attributes.inode, type: attributes.type,
        nextCookie: entry.nextCookie)
      guard body(found, attributes) else { return tree.forget(attributes.inode, 1) }
    }
  }

  private func snapshot(
    from cookie: UInt64
  ) throws(FileError) -> (names: [FileTree.Name], parent: Inode) {
    monitor.lock()
    defer { monitor.unlock() }
    if cookie == 0, !isFresh { (names, parent) = try tree.names(in: inode) }
    isFresh = false
    return (names, parent)
  }

  private func entry(
    _ position: Int, _ names: [FileTree.Name], _ parent: Inode
  ) -> DirectoryEntry {
    let next = UInt64(position + 1)
    switch position {
    case 0:
      return DirectoryEntry(
        name: Array(".".utf8), inode: inode, type: FileMode.directory, nextCookie: next)
    case 1:
      return DirectoryEntry(
        name: Array("..".utf8), inode: parent, type: FileMode.directory, nextCookie: next)
    default:
      let name = names[position - 2]
      return DirectoryEntry(
        name: name.name.bytes, inode: name.inode, type: name.type, nextCookie: next)
    }
  }

  /// The handle is no longer used.
  package func release() {
    let isFirst = monitor.withLock {
      defer { isReleased = true }
      return !isReleased
    }
    if isFirst { tree.closeDirectory(inode) }
  }
}

extension FileTree {
  /// What a listing tells of one name.
  struct Name: Sendable {
    let name: FileName
    let inode: Inode
    let type: UInt32
  }

  /// - Throws: `notDirectory`, `stale`, `accessDenied`; `inputOutput` if the directory's record is damaged.
  package func openDirectory(_ inode: Inode) throws(FileError) -> DirectoryHandle {
    if inode != Self.root {
      let node = try lockLoaded(inode)
      defer { state.lock.unlock() }
      try checkAccess(node, mask: 4)
      node.openCount += 1
    }
    do throws(FileError) {
      return try DirectoryHandle(tree: self, inode: inode)
    } catch {
      closeDirectory(inode)
      throw error
    }
  }

  func closeDirectory(_ inode: Inode) {
    state.lock.withLock {
      guard let node = state.nodes[inode] as? DirectoryNode else { return }
      node.openCount -= 1
      state.collapse(node)
    }
  }

  /// The names in a directory, in order, and its parent's number.
  func names(in inode: Inode) throws(FileError) -> (names: [Name], parent: Inode) {
    if inode == Self.root { return state.lock.withLock { (memberNames, Self.root) } }
    let node = try lockLoaded(inode)
    defer { state.lock.unlock() }
    guard !node.isRemoved else { return ([], Self.root) }
    let view = node.view
    var names: [Name] = []
    let records = state.records(in: node)
    names.reserveCapacity(records.count + (node.files?.count ?? 0))
    for (name, record) in records {
      names.append(
        Name(name: name, inode: inodeNumber(of: record, in: view), type: FileMode.directory))
    }
    for (name, slot) in node.files ?? [:] where records[name] == nil {
      switch slot {
      case .node(let file): names.append(Name(name: name, inode: file.inode, type: file.type))
      case .stored(let item):
        let inode = view.files[item.file]?.inode ?? TreeState.usualInode(view, item.file)
        names.append(Name(name: name, inode: inode, type: item.mode & FileMode.typeMask))
      }
    }
    names.sort { $0.name < $1.name }
    let parent = node.parent.map { inodeNumber(of: $0, in: view) } ?? Self.root
    return (names, parent)
  }

  private func inodeNumber(of record: RecordID, in view: MemberView) -> Inode {
    view.directories[record]?.inode ?? TreeState.usualInode(view, record)
  }

  private var memberNames: [Name] {
    state.members.map { name, view in
      Name(name: name, inode: inodeNumber(of: .root, in: view), type: FileMode.directory)
    }.sorted { $0.name < $1.name }
  }
}
