import Vault
import VaultModel

/// Names in directories, as the kernel asks for them and as they are made.
extension TreeState {
  /// The attributes of a node that the kernel is told of. Counts one reference of the kernel.
  func entry(of node: Node) -> Attributes {
    node.references += 1
    return attributes(of: node)
  }

  /// The record of this name in a directory whose files need not be loaded for it; nil if there is none.
  mutating func record(
    _ name: FileName, in parent: Inode
  ) throws(TreeObstacle) -> DirectoryNode? {
    let directory = try directory(parent)
    try checkAccess(directory, mask: 1)
    return records(in: directory)[name].flatMap { self.directory($0, of: directory.view) }
  }

  /// Adds a record that no commit has yet.
  mutating func newDirectory(
    _ name: FileName, in directory: DirectoryNode, mode: UInt32, caller: Caller?
  ) -> DirectoryNode {
    let view = directory.view
    let record = freeFolder(named: name, in: directory) ?? .random()
    let node = DirectoryNode(
      inode: freeInode(view, record), view: view, record: record,
      place: RecordPlace(parent: directory.record, title: name, isDeleted: false),
      permissions: mode & FileMode.permissionMask | directory.permissions & FileMode.setGroupID,
      owner: owner(of: caller, in: directory), now: .now)
    add(node)
    view.pending[record] = PendingRecord(isNew: true, place: true, attributes: true)
    directory.records?[name] = record
    touch(directory)
    return node
  }

  /// The record that a folder of this name becomes, as `Member.freeFolder` says; nil also where something that is shown or
  /// not yet saved is that record.
  private func freeFolder(named name: FileName, in directory: DirectoryNode) -> RecordID? {
    let view = directory.view
    guard directory.record == .root, let record = view.member.freeFolder(named: name),
      view.directories[record] == nil, view.pending[record] == nil, view.inFlight[record] == nil
    else { return nil }
    return record
  }

  /// Adds a file that no commit has yet.
  mutating func newFile(
    _ name: FileName, in directory: DirectoryNode, as new: NewFile
  ) -> FileNode {
    let view = directory.view
    var item = Item(
      name: name, file: .random(), mode: new.mode, modified: .now,
      mediaType: MediaType.of(name, mode: new.mode), content: new.content, time: .zero,
      owner: owner(of: new.caller, in: directory))
    if case .symlink(let target) = new.content { item.size = UInt64(target.count) }
    let node = FileNode(
      inode: freeInode(view, item.file), view: view, item: item, in: directory.record)
    node.isPublished = false
    node.hasOwnState = true
    view.willChange(item: name, of: directory.record, exists: false)
    add(node)
    setSlot(.node(node), name, in: directory)
    touch(directory)
    return node
  }

  /// Whose something new is: the caller's and, in a directory with the set-group-id bit, of the directory's group.
  private func owner(of caller: Caller?, in directory: DirectoryNode) -> Owner {
    var owner = Owner.mounter
    if let caller {
      owner.uid = caller.uid == options.uid ? nil : caller.uid
      owner.gid = caller.gid == options.gid ? nil : caller.gid
    }
    if directory.permissions & FileMode.setGroupID != 0 { owner.gid = directory.owner.gid }
    return owner
  }

  /// A directory's names changed. Its time alone is not worth a revision: it waits for another change of the directory.
  func touch(_ directory: DirectoryNode) {
    directory.modified = .now
    directory.changed = directory.modified
    directory.view.willChange(timeOf: directory)
    committer.noteChange()
  }

  /// Records stand in one another only so deep (Docs/Format.md, "Limits").
  func checkDepth(below directory: DirectoryNode) throws(TreeObstacle) {
    var depth = 1
    var current = directory.parent
    while let record = current {
      depth += 1
      guard depth < FileTree.depthLimit else { throw .failed(.nameTooLong) }
      current = directory.view.place(of: record)?.parent
    }
  }
}

/// What a caller of the kernel wants made: a file, a link, a fifo or a socket.
struct NewFile: Sendable {
  /// With the bits of its type.
  var mode: UInt32
  var content: Item.Content = .none
  /// Whose it is; nil: the mounter's.
  var caller: Caller?
}
