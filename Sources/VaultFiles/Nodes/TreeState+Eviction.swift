import VaultModel

/// Letting go of what can be had again.
extension TreeState {
  /// Lets go of a node that nobody refers to, where it can be had again.
  mutating func collapse(_ node: Node) {
    guard !node.isInUse, nodes[node.inode] === node else { return }
    if let file = node as? FileNode { collapse(file) }
    if let directory = node as? DirectoryNode, directory.files == nil || directory.isRemoved {
      drop(directory)
    }
  }

  private mutating func collapse(_ file: FileNode) {
    if file.links.isEmpty {
      // Nothing leads to it any more.
      file.draft = nil
      file.view.unsealed[file.file] = nil
      return remove(file)
    }
    // The objects of what is not committed are held by the node.
    guard file.draft == nil, file.isPublished, !file.hasUncommittedContent, !file.hasOwnState,
      file.links.count == 1 || !isPending(file)
    else { return }
    for link in file.links {
      guard let directory = file.view.directories[link.record], directory.files != nil else {
        continue
      }
      // What is stored still says where it had other names: one that others bring back there is its own again.
      let item = file.item(named: link.name).knowing(file.linkRecords)
      directory.files?[link.name] = .stored(item)
    }
    remove(file)
  }

  func isPending(_ file: FileNode) -> Bool {
    file.links.contains { file.view.isItemPending($0.name, of: $0.record) }
  }

  private mutating func drop(_ directory: DirectoryNode) {
    guard !directory.isInUse, !directory.view.isToBeKept(directory.record) else { return }
    remove(directory)
  }

  /// Forgets loaded directories that are whole on disk, the least recently used first, until at most
  /// three quarters of `loadedItemLimit` files are loaded; does nothing up to that limit. The one used last and those in
  /// `kept` stay, however large. The kernel keeps what it knows of them.
  mutating func evict(keeping kept: [TreeReference<DirectoryNode>] = []) {
    let limit = options.loadedItemLimit
    guard loadedItemCount > limit else { return }
    let loaded = allViews.flatMap { view in
      view.directories.values.filter {
        $0.files != nil && $0.openCount == 0 && !view.isPending($0.record)
      }
    }
    for directory in loaded.sorted(by: { $0.lastUse < $1.lastUse }) where directory.lastUse < clock
    {
      if loadedItemCount <= limit / 4 * 3 { return }
      if kept.contains(where: { self[$0] === directory }) { continue }
      if directory.files?.values.contains(where: \.isUnsaved) ?? false { continue }
      loadedItemCount -= directory.loadedCost
      let files = directory.files?.values.compactMap(\.node) ?? []
      directory.files = nil
      for file in files { forget(file) }
      directory.sequence = FolderSequence()
      directory.wasEvicted = true
      drop(directory)
    }
  }

  /// Lets go of a file that nobody refers to when none of its names is loaded.
  private mutating func forget(_ file: FileNode) {
    let isLoaded = file.links.contains { file.view.directories[$0.record]?.files != nil }
    if !file.isInUse, !isLoaded { remove(file) }
  }

  /// Whether somebody may see files of a record: they are loaded, or the kernel was told of them.
  func showsFiles(of record: RecordID, in view: MemberView) -> Bool {
    guard let node = view.directories[record] else { return false }
    return node.files != nil || node.wasEvicted && node.isInUse
  }

  /// Has files that may have names in these records look for them again, as far as the records are not shown.
  func lookAgain(in records: Set<RecordID>, of view: MemberView) {
    let unseen = records.filter { !showsFiles(of: $0, in: view) }
    guard !unseen.isEmpty else { return }
    for file in view.files.values { unseen.forEach(file.lookAgain) }
    for record in unseen {
      guard let directory = view.directories[record] else { continue }
      // Where no files are known, none of them has taken the name of a record.
      if directory.salvage != nil || directory.hasRenamedRecords { directory.dropRecords() }
    }
  }

  /// The files that the kernel was told of in those directories that were forgotten here meanwhile.
  func evictedFiles(
    _ records: Set<RecordID>, of view: MemberView
  ) -> [RecordID: [FileName: FileNode]] {
    var known: [RecordID: [FileName: FileNode]] = [:]
    for record in records {
      if let node = view.directories[record], node.wasEvicted, node.isInUse { known[record] = [:] }
    }
    guard !known.isEmpty else { return [:] }
    for file in view.files.values {
      for link in file.links { known[link.record]?[link.name] = file }
    }
    return known
  }

  /// Has a directory that was forgotten hold those files, all that the kernel may have of it.
  mutating func recall(_ files: [FileName: FileNode], in directory: DirectoryNode) {
    directory.files = files.mapValues { .node($0) }
    directory.salvage = nil
    loadedItemCount += directory.loadedCost
  }
}
