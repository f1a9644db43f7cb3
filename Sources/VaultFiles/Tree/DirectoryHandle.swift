import Synchronization
import Threads
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

/// An open directory: a snapshot of its names, taken whenever reading begins at the first.
package final class DirectoryHandle: Sendable {
  package let inode: Inode
  private let tree: FileTree
  /// What was read last. Held while it is read.
  private let listing = Guarded<FileTree.Listing?>(nil)
  private let isReleased = Atomic(false)

  init(tree: FileTree, inode: Inode) {
    self.tree = tree
    self.inode = inode
  }

  /// Entries from `cookie` (0: the first) on, `.` and `..` included, until `body` answers false.
  ///
  /// - Throws: `inputOutput` behind the last entry, when there may be others in a part of the directory's record that is
  ///   damaged.
  package func read(
    from cookie: UInt64, _ body: (DirectoryEntry) -> Bool
  ) throws(FileError) {
    let listing = try snapshot(from: cookie)
    for position in try listing.positions(from: cookie) {
      guard body(entry(position, listing)) else { return }
    }
  }

  /// Entries from `cookie` on, with their attributes. Counts one reference of the kernel for each entry that `body` took,
  /// except `.` and `..`. What was removed since the snapshot is left out. An error behind an entry that was taken ends the
  /// reading there, since whoever hears of an error takes none of them; reading on from there throws it.
  package func readWithAttributes(
    from cookie: UInt64, _ body: (DirectoryEntry, Attributes) -> Bool
  ) throws(FileError) {
    let listing = try snapshot(from: cookie)
    var hasTaken = false
    for position in try listing.positions(from: cookie) {
      let entry = entry(position, listing)
      guard position >= 2 else {
        guard body(entry, try tree.attributes(entry.inode)) else { return }
        hasTaken = true
        continue
      }
      let attributes: Attributes
      do {
        attributes = try tree.lookup(inode, listing.names[position - 2].name)
      } catch {
        if error == .notFound { continue }
        if hasTaken { return }
        throw error
      }
      let found = DirectoryEntry(
        name: entry.name, inode: attributes.inode, type: attributes.type,
        nextCookie: entry.nextCookie)
      guard body(found, attributes) else { return tree.forget(attributes.inode, 1) }
      hasTaken = true
    }
  }

  private func snapshot(from cookie: UInt64) throws(FileError) -> FileTree.Listing {
    try listing.withLock { (listing) throws(FileError) in
      if cookie != 0, let listing { return listing }
      let now = try tree.listing(of: inode)
      listing = now
      return now
    }
  }

  private func entry(_ position: Int, _ listing: FileTree.Listing) -> DirectoryEntry {
    let next = UInt64(position + 1)
    switch position {
    case 0:
      return DirectoryEntry(
        name: Array(".".utf8), inode: inode, type: FileMode.directory, nextCookie: next)
    case 1:
      return DirectoryEntry(
        name: Array("..".utf8), inode: listing.parent, type: FileMode.directory, nextCookie: next)
    default:
      let name = listing.names[position - 2]
      return DirectoryEntry(
        name: name.name.bytes, inode: name.inode, type: name.type, nextCookie: next)
    }
  }

  /// The handle is no longer used.
  package func release() {
    if !isReleased.exchange(true, ordering: .relaxed) { tree.closeDirectory(inode) }
  }
}

extension FileTree {
  /// What a listing tells of one name.
  struct Name: Sendable {
    let name: FileName
    let inode: Inode
    let type: UInt32
  }

  /// What is in a directory.
  struct Listing: Sendable {
    /// In order, `.` and `..` left out.
    var names: [Name] = []
    var parent: Inode = FileTree.root
    /// False when a part of the directory's record is damaged.
    var isWhole = true

    /// Where the entries from `cookie` on stand, `.` and `..` included.
    ///
    /// - Throws: `inputOutput` when there are no more of a directory that is not whole.
    func positions(from cookie: UInt64) throws(FileError) -> Range<Int> {
      let (first, end) = (Int(clamping: cookie), names.count + 2)
      if first < end { return first..<end }
      guard isWhole else { throw .inputOutput }
      return first..<first
    }
  }

  /// - Throws: `notDirectory`, `stale`, `accessDenied`; `inputOutput` if nothing of the directory's record can be read.
  package func openDirectory(_ inode: Inode) throws(FileError) -> DirectoryHandle {
    if inode != Self.root {
      try look { (tree) throws(TreeObstacle) in
        let node = try tree.readable(inode)
        try tree.checkAccess(node, mask: 4)
        node.openCount += 1
      }
      loadAhead(after: inode)
    }
    return DirectoryHandle(tree: self, inode: inode)
  }

  func closeDirectory(_ inode: Inode) {
    withTree { tree in
      guard let node = tree.nodes[inode] as? DirectoryNode else { return }
      node.openCount -= 1
      tree.collapse(node)
    }
  }

  func listing(of inode: Inode) throws(FileError) -> Listing {
    var listing = try look { (tree) throws(TreeObstacle) in
      inode == Self.root
        ? Listing(names: tree.memberNames) : tree.listing(of: try tree.readable(inode))
    }
    listing.names.sort { $0.name < $1.name }
    return listing
  }
}

extension TreeState {
  fileprivate func listing(of node: DirectoryNode) -> FileTree.Listing {
    guard !node.isRemoved else { return FileTree.Listing() }
    let view = node.view
    var listing = FileTree.Listing(isWhole: node.files != nil)
    let records = records(in: node)
    listing.names.reserveCapacity(records.count + (node.files?.count ?? 0))
    for (name, record) in records {
      listing.names.append(
        FileTree.Name(
          name: name, inode: inodeNumber(of: record, in: view), type: FileMode.directory))
    }
    func add(_ item: Item) {
      let inode = view.files[item.file]?.inode ?? Self.usualInode(view, item.file)
      listing.names.append(
        FileTree.Name(name: item.name, inode: inode, type: item.mode & FileMode.typeMask))
    }
    for (name, slot) in node.files ?? [:] where records[name] == nil {
      switch slot {
      case .node(let file):
        listing.names.append(
          FileTree.Name(name: name, inode: file.inode, type: file.type))
      case .stored(let item): add(item)
      }
    }
    if let salvage = node.salvage {
      for (name, item) in salvage.files where records[name] == nil { add(item) }
    }
    if let parent = node.parent { listing.parent = inodeNumber(of: parent, in: view) }
    return listing
  }

  private func inodeNumber(of record: RecordID, in view: MemberView) -> Inode {
    view.directories[record]?.inode ?? Self.usualInode(view, record)
  }

  fileprivate var memberNames: [FileTree.Name] {
    members.map { name, view in
      FileTree.Name(name: name, inode: inodeNumber(of: .root, in: view), type: FileMode.directory)
    }
  }
}
