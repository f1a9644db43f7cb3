import VaultModel

extension FileTree {
  /// Moves a file or record within its member, or renames a member.
  ///
  /// A file that was written is sealed first, so that after a crash the new name has its content.
  ///
  /// - Throws: `crossDevice` between members, and between the top and a member: copy instead. `alreadyExists` for
  ///   `.noReplace`; `notFound`, `notEmpty`, `isDirectory`, `notDirectory`, `accessDenied`, `readOnly`;
  ///   `invalidArgument` for moving a directory into itself.
  package func rename(
    _ parent: Inode, _ name: FileName, to newParent: Inode, _ newName: FileName, mode: RenameMode
  ) throws(FileError) {
    try checkIsWritable(parent)
    try checkIsWritable(newParent)
    if parent == Self.root || newParent == Self.root {
      return try renameAtTop(parent, name, newParent, newName, mode)
    }
    try sealBeforeRename(parent, name, as: newName)
    if mode == .exchange { try sealBeforeRename(newParent, newName, as: name) }
    while true {
      let (from, to) = try lockForFiles(parent, name, newParent, newName)
      let move = Move(from: from, name: name, to: to, newName: newName, mode: mode)
      let missing: DirectoryNode?
      do {
        defer { state.lock.unlock() }
        missing = try run(move)
      }
      guard let missing else { return }
      try load(missing, keeping: [from, to])
    }
  }

  private struct Move {
    let from: DirectoryNode
    let name: FileName
    let to: DirectoryNode
    let newName: FileName
    let mode: RenameMode
  }

  /// Takes the tree lock with both directories loaded, and those with other names of the two files. When it throws
  /// the lock is free.
  private func lockForFiles(
    _ parent: Inode, _ name: FileName, _ newParent: Inode, _ newName: FileName
  ) throws(FileError) -> (DirectoryNode, DirectoryNode) {
    while true {
      _ = try lockForFile(newParent, newName)
      state.lock.unlock()
      _ = try lockForFile(parent, name)
      state.lock.unlock()
      let (from, to) = try lockLoaded(parent, newParent)
      let slots = [from.files?[name], to.files?[newName]]
      let isReady = slots.allSatisfy { slot in
        guard case .node(let node) = slot else { return !(slot?.mayHaveUnseenLinks ?? false) }
        return node.unseenLinkRecords.isEmpty
      }
      if isReady { return (from, to) }
      state.lock.unlock()
    }
  }

  /// Moves, with the tree lock held. Returns a directory that has to be loaded first, if any.
  private func run(_ move: Move) throws(FileError) -> DirectoryNode? {
    let (from, to) = (move.from, move.to)
    guard from.view === to.view else { throw .crossDevice }
    try checkCanChange(from)
    try checkCanChange(to)
    guard let source = child(move.name, of: from) else { throw .notFound }
    let target = child(move.newName, of: to)
    if source === target { return nil }
    if let directory = source as? DirectoryNode { try checkPlace(of: directory, in: to) }
    guard let target else {
      if move.mode == .exchange { throw .notFound }
      place(source, move.newName, in: to, from: move.name, of: from)
      return nil
    }
    switch move.mode {
    case .noReplace: throw .alreadyExists
    case .exchange:
      if let directory = target as? DirectoryNode { try checkPlace(of: directory, in: from) }
      exchange(source, target, move)
      return nil
    case .replace:
      if let missing = try removeTarget(target, for: source, move) { return missing }
      place(source, move.newName, in: to, from: move.name, of: from)
      return nil
    }
  }

  private func removeTarget(
    _ target: Node, for source: Node, _ move: Move
  ) throws(FileError) -> DirectoryNode? {
    if let file = target as? FileNode {
      guard source is FileNode else { throw .notDirectory }
      removeLink(move.newName, of: file, in: move.to)
      state.collapse(file)
    } else if let directory = target as? DirectoryNode {
      guard source is DirectoryNode else { throw .isDirectory }
      guard directory.files != nil else { return directory }
      try remove(directory, named: move.newName, from: move.to)
    }
    return nil
  }

  /// A directory must not come to stand in itself, nor too deep.
  private func checkPlace(
    of directory: DirectoryNode, in target: DirectoryNode
  ) throws(FileError) {
    var depth = 0
    var current: RecordID? = target.record
    while let record = current {
      guard record != directory.record else { throw .invalidArgument }
      depth += 1
      guard depth < Self.depthLimit else { throw .invalidArgument }
      current = directory.view.place(of: record)?.parent
    }
  }

  /// The deepest that records stand in one another (Docs/Format.md, "Limits").
  static let depthLimit = 1000

  /// Gives a node its new name; the old one is gone.
  private func place(
    _ node: Node, _ newName: FileName, in to: DirectoryNode, from name: FileName,
    of from: DirectoryNode
  ) {
    let view = to.view
    if let file = node as? FileNode {
      if file.links.count > 1 { view.willChange(file) }
      view.willChange(item: name, of: from.record, exists: true)
      view.willChange(item: newName, of: to.record, exists: false)
      state.setSlot(nil, name, in: from)
      file.links.removeAll { $0 == Link(record: from.record, name: name) }
      view.forgetUncommitted(item: name, of: from.record)
      file.links.append(Link(record: to.record, name: newName))
      state.setSlot(.node(file), newName, in: to)
      file.mediaType = MediaType.of(newName, mode: file.mode)
    } else if let directory = node as? DirectoryNode {
      _ = (state.records(in: from), state.records(in: to))
      from.forgetRecord(named: name)
      to.records?[newName] = directory.record
      directory.parent = to.record
      directory.title = newName
      view.willChange(placeOf: directory)
    }
    node.changed = .now()
    touch(from)
    if to !== from { touch(to) }
  }

  private func exchange(_ source: Node, _ target: Node, _ move: Move) {
    // Over a name that nothing can have: item and record names are never empty in a directory's tables.
    detach(source, move.name, from: move.from)
    detach(target, move.newName, from: move.to)
    attach(source, move.newName, to: move.to)
    attach(target, move.name, to: move.from)
    touch(move.from)
    if move.to !== move.from { touch(move.to) }
  }

  private func detach(_ node: Node, _ name: FileName, from directory: DirectoryNode) {
    let view = directory.view
    if let file = node as? FileNode {
      if file.links.count > 1 { view.willChange(file) }
      view.willChange(item: name, of: directory.record, exists: true)
      state.setSlot(nil, name, in: directory)
      file.links.removeAll { $0 == Link(record: directory.record, name: name) }
    } else {
      _ = state.records(in: directory)
      directory.forgetRecord(named: name)
    }
  }

  private func attach(_ node: Node, _ name: FileName, to directory: DirectoryNode) {
    let view = directory.view
    if let file = node as? FileNode {
      view.willChange(item: name, of: directory.record, exists: false)
      file.links.append(Link(record: directory.record, name: name))
      state.setSlot(.node(file), name, in: directory)
    } else if let moved = node as? DirectoryNode {
      directory.records?[name] = moved.record
      moved.parent = directory.record
      moved.title = name
      view.willChange(placeOf: moved)
    }
    node.changed = .now()
  }

  // MARK: Members

  private func renameAtTop(
    _ parent: Inode, _ name: FileName, _ newParent: Inode, _ newName: FileName, _ mode: RenameMode
  ) throws(FileError) {
    guard parent == newParent else {
      if parent == Self.root { throw .crossDevice }
      let directory = try lockLoaded(parent)
      defer { state.lock.unlock() }
      throw directory.files?[name] == nil ? .crossDevice : .accessDenied
    }
    topLock.lock()
    defer { topLock.unlock() }
    // A record's attributes are written with its place, so the files beside them have to be loaded.
    for member in [name, newName] {
      let root = state.lock.withLock {
        state.members[member].map { state.directory(.root, of: $0) }
      }
      if case let node?? = root {
        _ = try lockLoaded(node.inode)
        state.lock.unlock()
      }
    }
    state.lock.lock()
    defer { state.lock.unlock() }
    guard let source = state.members[name] else { throw .notFound }
    if name == newName { return }
    let target = state.members[newName]
    guard source.member.mayWrite, target?.member.mayWrite ?? true else { throw .readOnly }
    switch (mode, target) {
    case (.exchange, nil): throw .notFound
    case (.noReplace, .some): throw .alreadyExists
    case (.replace, .some): throw .notEmpty
    default: break
    }
    retitle(source, newName)
    if let target {
      retitle(target, name)
    } else {
      state.noteName(newName, of: source)
    }
    state.nameMembers()
    state.topChanged = .now()
  }

  private func retitle(_ view: MemberView, _ title: FileName) {
    guard let root = state.directory(.root, of: view) else { return }
    root.title = title
    root.changed = .now()
    view.willChange(placeOf: root)
    committer.noteChange()
  }
}
