import Vault
import VaultModel

extension FileTree {
  // MARK: Lookup

  /// What a name in a directory stands for. Counts one reference of the kernel.
  ///
  /// - Throws: `notFound`, `notDirectory`, `accessDenied`; `inputOutput` if the name may be in a part of the directory's record
  ///   that is damaged.
  package func lookup(_ parent: Inode, _ name: FileName) throws(FileError) -> Attributes {
    if parent == Self.root { return try lookupMember(name) }
    if let record = try lookupRecord(parent, name) { return record }
    while true {
      let directory = try lockReadable(parent)
      defer { state.lock.unlock() }
      if let node = child(name, of: directory) {
        if let file = node as? FileNode, let unseen = unseenDirectory(of: file) {
          file.openCount += 1  // so that it stays while its other directories are read
          state.lock.unlock()
          defer {
            state.lock.lock()
            file.openCount -= 1
          }
          try loadLinks(of: file, in: unseen)
          continue
        }
        node.references += 1
        return attributes(of: node)
      }
      let mayBeThere = directory.files == nil && directory.salvage?.mayLack(name) ?? true
      throw mayBeThere ? .inputOutput : .notFound
    }
  }

  private func lookupMember(_ name: FileName) throws(FileError) -> Attributes {
    state.lock.lock()
    defer { state.lock.unlock() }
    guard let view = state.members[name], let node = state.directory(.root, of: view) else {
      throw .notFound
    }
    node.references += 1
    return attributes(of: node)
  }

  /// Answers for records without loading the directory's files.
  private func lookupRecord(_ parent: Inode, _ name: FileName) throws(FileError) -> Attributes? {
    state.lock.lock()
    defer { state.lock.unlock() }
    let directory = try directory(parent)
    try checkAccess(directory, mask: 1)
    guard let record = state.records(in: directory)[name],
      let node = state.directory(record, of: directory.view)
    else { return nil }
    node.references += 1
    return attributes(of: node)
  }

  /// The node of a name in a directory that is loaded or can be read in part; the tree lock has to be held.
  func child(_ name: FileName, of directory: DirectoryNode) -> Node? {
    if let record = state.records(in: directory)[name] {
      return state.directory(record, of: directory.view)
    }
    return state.file(name, in: directory)
  }

  /// A directory that may hold more names of the file and is not loaded; gathers the names in those that are. The
  /// tree lock has to be held.
  func unseenDirectory(of file: FileNode) -> DirectoryNode? {
    for record in file.unseenLinkRecords {
      guard let directory = state.directory(record, of: file.view), !directory.isRemoved else {
        file.unseenLinkRecords.remove(record)
        continue
      }
      if directory.files == nil { return directory }
      state.gatherLinks(of: file, in: directory)
    }
    return nil
  }

  /// Loads such a directory. What cannot be read is left out, so that damage there does not hide the file here.
  func loadLinks(of file: FileNode, in directory: DirectoryNode) throws(FileError) {
    do throws(FileError) {
      try load(directory)
    } catch {
      _ = state.lock.withLock { file.unseenLinkRecords.remove(directory.record) }
    }
  }

  /// The kernel gives up references that it was given before.
  package func forget(_ inode: Inode, _ count: UInt64) {
    state.lock.lock()
    defer { state.lock.unlock() }
    guard let node = state.nodes[inode] else { return }
    node.references -= min(count, node.references)
    state.collapse(node)
  }

  // MARK: Making

  /// Makes a record, or a member at the top. Counts one reference of the kernel.
  ///
  /// - Throws: `alreadyExists`, `accessDenied`, `readOnly`, `notFound` in a removed directory.
  package func makeDirectory(
    _ parent: Inode, _ name: FileName, mode: UInt32, caller: Caller? = nil
  ) throws(FileError) -> Attributes {
    try checkIsWritable(parent)
    if parent == Self.root { return try makeMember(name) }
    let directory = try lockForNewName(parent, name)
    defer { state.lock.unlock() }
    try checkDepth(below: directory)
    let view = directory.view
    let record = RecordID.random()
    let node = DirectoryNode(
      inode: state.freeInode(view, record), view: view, record: record,
      place: RecordPlace(parent: directory.record, title: name, isDeleted: false),
      permissions: mode & FileMode.permissionMask | directory.permissions & FileMode.setGroupID,
      owner: owner(of: caller, in: directory), now: .now())
    state.add(node)
    view.pending[record] = PendingRecord(isNew: true, place: true, attributes: true)
    directory.records?[name] = record
    touch(directory)
    node.references += 1
    return attributes(of: node)
  }

  /// Records stand in one another only so deep (Docs/Format.md, "Limits"). The tree lock has to be held.
  func checkDepth(below directory: DirectoryNode) throws(FileError) {
    var depth = 1
    var current = directory.parent
    while let record = current {
      depth += 1
      guard depth < Self.depthLimit else { throw .nameTooLong }
      current = directory.view.place(of: record)?.parent
    }
  }

  private func makeMember(_ name: FileName) throws(FileError) -> Attributes {
    topLock.lock()
    defer { topLock.unlock() }
    guard state.lock.withLock({ state.members[name] == nil }) else { throw .alreadyExists }
    do throws(VaultError) { _ = try vault.addMember(named: name) } catch { throw FileError(error) }
    state.lock.withLock {
      state.adopt(vault.members, audit: vault.audit)
      state.topChanged = .now()
    }
    return try lookupMember(name)
  }

  /// Makes an empty regular file, a fifo or a socket, as the type bits of `mode` say (none: a regular file). Counts one
  /// reference of the kernel.
  ///
  /// - Throws: `notPermitted` for devices; what `makeDirectory` throws.
  package func makeNode(
    _ parent: Inode, _ name: FileName, mode: UInt32, caller: Caller? = nil
  ) throws(FileError) -> Attributes {
    let type = mode & FileMode.typeMask
    guard [0, FileMode.regular, FileMode.fifo, FileMode.socket].contains(type) else {
      throw .notPermitted
    }
    let full = (type == 0 ? FileMode.regular : type) | mode & FileMode.permissionMask
    return try makeFile(parent, name, mode: full, caller: caller)
  }

  /// Makes a symbolic link. Counts one reference of the kernel.
  ///
  /// - Throws: `nameTooLong` for a target of more than 4,095 bytes, `invalidArgument` for one that is empty or has a
  ///   NUL; what `makeDirectory` throws.
  package func symlink(
    _ parent: Inode, _ name: FileName, target: [UInt8], caller: Caller? = nil
  ) throws(FileError) -> Attributes {
    guard target.count <= Limits.symlinkTargetBytes else { throw .nameTooLong }
    guard !target.isEmpty, !target.contains(0) else { throw .invalidArgument }
    return try makeFile(
      parent, name, mode: FileMode.symlink | 0o777, content: .symlink(target), caller: caller)
  }

  private func makeFile(
    _ parent: Inode, _ name: FileName, mode: UInt32, content: Item.Content = .none,
    caller: Caller?
  ) throws(FileError) -> Attributes {
    try checkIsWritable(parent)
    let directory = try lockForNewName(parent, name)
    defer { state.lock.unlock() }
    let node = newFile(name, in: directory, mode: mode, content: content, caller: caller)
    node.isPublished = true
    node.references += 1
    return attributes(of: node)
  }

  /// Takes the tree lock with the directory loaded and the name free, to be made there. When it throws the lock is free.
  ///
  /// - Throws: what keeps the member from being saved, besides.
  func lockForNewName(_ parent: Inode, _ name: FileName) throws(FileError) -> DirectoryNode {
    let directory = try lockLoaded(parent)
    do throws(FileError) {
      guard state.records(in: directory)[name] == nil, directory.files?[name] == nil else {
        throw .alreadyExists
      }
      try checkCanChange(directory)
      if let failure = directory.view.failure { throw failure }
      return directory
    } catch {
      state.lock.unlock()
      throw error
    }
  }

  /// Adds a file that no commit has yet. The tree lock has to be held.
  func newFile(
    _ name: FileName, in directory: DirectoryNode, mode: UInt32, content: Item.Content = .none,
    caller: Caller?
  ) -> FileNode {
    let view = directory.view
    var item = Item(
      name: name, file: .random(), mode: mode, modified: .now(),
      mediaType: MediaType.of(name, mode: mode), content: content, time: .zero,
      owner: owner(of: caller, in: directory))
    if case .symlink(let target) = content { item.size = UInt64(target.count) }
    let node = FileNode(
      inode: state.freeInode(view, item.file), view: view, item: item, in: directory.record)
    node.isPublished = false
    node.hasOwnState = true
    view.willChange(item: name, of: directory.record, exists: false)
    state.add(node)
    state.setSlot(.node(node), name, in: directory)
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

  /// A directory's names changed. The tree lock has to be held.
  func touch(_ directory: DirectoryNode) {
    directory.modified = .now()
    directory.changed = directory.modified
    directory.view.willChange(attributesOf: directory)
    committer.noteChange()
  }

  /// What a symbolic link points at.
  package func readLink(_ inode: Inode) throws(FileError) -> [UInt8] {
    state.lock.lock()
    defer { state.lock.unlock() }
    guard let node = state.nodes[inode] as? FileNode, case .symlink(let target) = node.content
    else { throw .invalidArgument }
    return target
  }
}
