import VaultModel

extension FileTree {
  /// Removes a file's name. The file lives on while another name, or an open handle, has it.
  ///
  /// - Throws: `notFound`, `isDirectory`, `accessDenied`, `readOnly`.
  package func unlink(_ parent: Inode, _ name: FileName) throws(FileError) {
    try checkIsWritable(parent)
    guard parent != Self.root else { throw .isDirectory }
    let directory = try lockForFile(parent, name)
    defer { state.lock.unlock() }
    try checkCanChange(directory)
    if state.records(in: directory)[name] != nil { throw .isDirectory }
    guard let file = state.file(name, in: directory) else { throw .notFound }
    removeLink(name, of: file, in: directory)
    touch(directory)
    state.collapse(file)
  }

  /// Takes the tree lock with the directory loaded, and all directories that hold other names of this file. When it
  /// throws the lock is free.
  func lockForFile(_ parent: Inode, _ name: FileName) throws(FileError) -> DirectoryNode {
    while true {
      let directory = try lockLoaded(parent)
      guard case .some(let slot) = directory.files?[name], slot.mayHaveUnseenLinks,
        let file = state.file(name, in: directory), let unseen = unseenDirectory(of: file)
      else { return directory }
      state.lock.unlock()
      try loadLinks(of: file, in: unseen)
    }
  }

  /// Takes a name away from a file. The tree lock has to be held, the directories of all its names to be loaded.
  func removeLink(_ name: FileName, of file: FileNode, in directory: DirectoryNode) {
    let view = directory.view
    // The other names' items say where the file's names are, so they change too.
    if file.links.count > 1 { view.willChange(file) }
    view.willChange(item: name, of: directory.record, exists: true)
    state.setSlot(nil, name, in: directory)
    file.links.removeAll { $0 == Link(record: directory.record, name: name) }
    file.changed = .now()
    view.forgetUncommitted(item: name, of: directory.record)
  }

  /// Removes an empty record.
  ///
  /// - Throws: `notPermitted` for a member, `notEmpty`, `notDirectory`, `notFound`, `accessDenied`, `readOnly`.
  package func removeDirectory(_ parent: Inode, _ name: FileName) throws(FileError) {
    try checkIsWritable(parent)
    guard parent != Self.root else { throw .notPermitted }
    while true {
      let directory = try lockLoaded(parent)
      defer { state.lock.unlock() }
      guard let record = state.records(in: directory)[name] else {
        throw directory.files?[name] == nil ? .notFound : .notDirectory
      }
      guard let node = state.directory(record, of: directory.view) else { throw .notFound }
      guard node.files != nil else {
        // To know whether it is empty.
        state.lock.unlock()
        defer { state.lock.lock() }
        try load(node, keeping: [directory])
        continue
      }
      try checkCanChange(directory)
      try remove(node, named: name, from: directory)
      return
    }
  }

  /// Removes an empty loaded record. The tree lock has to be held.
  func remove(
    _ node: DirectoryNode, named name: FileName, from directory: DirectoryNode
  ) throws(FileError) {
    _ = state.records(in: node)
    guard node.isEmpty else { throw .notEmpty }
    let view = node.view
    node.isRemoved = true
    node.changed = .now()
    directory.forgetRecord(named: name)
    if view.pending[node.record]?.isNew == true, view.inFlight[node.record] == nil {
      view.pending[node.record] = nil  // nobody ever heard of it
    } else {
      view.willChange(placeOf: node)
    }
    touch(directory)
    state.collapse(node)
  }
}

extension FileSlot {
  var mayHaveUnseenLinks: Bool {
    switch self {
    case .stored(let item): !item.linkRecords.isEmpty
    case .node(let node): !node.unseenLinkRecords.isEmpty
    }
  }
}
