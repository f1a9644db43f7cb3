import Vault
import VaultModel

/// Directories' content.
extension TreeState {
  /// The records in a directory by the names they show under.
  func records(in directory: DirectoryNode) -> [FileName: RecordID] {
    if let records = directory.records { return records }
    let (names, areRenamed) = directory.view.recordNames(in: directory.record) {
      directory.slot($0) != nil
    }
    directory.records = names
    directory.hasRenamedRecords = areRenamed
    return names
  }

  /// Finds the names of the records in a directory anew, if a cache above may know some.
  ///
  /// - Parameter invalidations: Gets the names that it may know otherwise.
  func renewRecords(in directory: DirectoryNode, _ invalidations: inout [Invalidation]) {
    guard directory.records != nil || !directory.formerNames.isEmpty else { return }
    let (before, former) = (directory.records ?? [:], directory.formerNames)
    directory.records = nil
    directory.formerNames = []
    let after = records(in: directory)
    let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    for name in changed.union(former) {
      invalidations.append(.entry(parent: directory.inode, name: name))
    }
  }

  /// Puts the files of a directory in their place as they are stored.
  ///
  /// - Returns: What a cache above has to drop.
  mutating func install(
    _ items: [Item], xattrs: [Xattr], in directory: DirectoryNode
  ) -> [Invalidation] {
    var invalidations: [Invalidation] = []
    var files: [FileName: FileSlot] = [:]
    files.reserveCapacity(items.count)
    for item in items { files[item.name] = slot(for: item, in: directory, &invalidations) }
    directory.files = files
    directory.salvage = nil
    directory.xattrs = xattrs
    loadedItemCount += directory.loadedCost
    if let records = directory.records, records.keys.contains(where: { files[$0] != nil }) {
      directory.dropRecords()
    }
    use(directory)
    return invalidations
  }

  /// What stands for an item: its node if it has one.
  func slot(
    for item: Item, in directory: DirectoryNode, _ invalidations: inout [Invalidation]
  ) -> FileSlot {
    slot(showing: shown(item, in: directory), in: directory, &invalidations)
  }

  /// What stands for an item of which it is known as which file it shows.
  func slot(
    showing item: Item, in directory: DirectoryNode, _ invalidations: inout [Invalidation]
  ) -> FileSlot {
    guard let node = directory.view.files[item.file] else { return .stored(item) }
    let link = Link(record: directory.record, name: item.name)
    // While its directory was forgotten, nobody has told it of changes, nor whoever has it in a cache.
    if node.links.isEmpty || node.links == [link], let old = node.catchUp(with: item) {
      invalidations.append(old)
    }
    node.add(link, knowing: item.linkRecords)
    return .node(node)
  }

  /// The item, as another file where the file that is here under its id has no such name: together with the names that it knows of
  /// where it shows what these show, else by itself. So it does not hang on which of them somebody has looked at first.
  private func shown(_ item: Item, in directory: DirectoryNode) -> Item {
    let view = directory.view
    let file = view.files[item.file]
    let link = Link(record: directory.record, name: item.name)
    if let file, file.links.contains(link) { return item }
    if view.partedFiles.contains(item.file), let together = partedWithNames(item),
      let node = view.files[together.file], !node.links.isEmpty,
      node.hasName(together, in: directory.record)
    {
      return together
    }
    guard let file, !file.hasName(item, in: directory.record) else { return item }
    return parted(item, in: directory)
  }

  /// The item as another file than the one that is here under its id.
  func parted(_ item: Item, in directory: DirectoryNode) -> Item {
    directory.view.partedFiles.insert(item.file)
    if let together = partedWithNames(item) {
      guard let node = directory.view.files[together.file] else { return together }
      // What was changed here of the others was not changed of this one.
      let isChanged =
        node.hasOwnState || directory.view.hasOwnChanges(node) || isPending(node)
      if node.isLeft || !isChanged && node.hasName(together, in: directory.record) {
        return together
      }
    }
    return partedAlone(item, in: directory)
  }

  /// The item as one of several names of another file; nil for one that knows of no others.
  private func partedWithNames(_ item: Item) -> Item? {
    if item.linkRecords.isEmpty { return nil }
    var item = item
    item.file = .parted(item.file, into: item.linkRecords)
    return item
  }

  private func partedAlone(_ item: Item, in directory: DirectoryNode) -> Item {
    var item = item
    item.file = .parted(item.file, in: directory.record, item.name)
    item.linkRecords = []
    return item
  }

  /// The item as it may stand in its directory: under its own id, or as another file.
  func forms(of item: Item, in directory: DirectoryNode) -> [Item] {
    guard directory.view.partedFiles.contains(item.file) else { return [item] }
    return [item] + (partedWithNames(item).map { [$0] } ?? [])
      + [partedAlone(item, in: directory)]
  }

  mutating func setSlot(_ slot: FileSlot?, _ name: FileName, in directory: DirectoryNode) {
    let hadOne = directory.files?[name] != nil
    directory.files?[name] = slot
    if hadOne != (slot != nil), directory.hasRenamedRecords { directory.dropRecords() }
    loadedItemCount += (slot == nil ? 0 : 1) - (hadOne ? 1 : 0)
  }

  mutating func use(_ directory: DirectoryNode) {
    clock += 1
    directory.lastUse = clock
  }

  /// The node of a file in a directory that is loaded or can be read in part, made if nobody looked at the file yet.
  mutating func file(_ name: FileName, in directory: DirectoryNode) -> FileNode? {
    switch directory.slot(name) {
    case nil: return nil
    case .node(let node): return node
    case .stored(let stored):
      let item = shown(stored, in: directory)
      let node: FileNode
      // One that is left and showed something else goes on showing that to whoever still refers to it.
      if let present = directory.view.files[item.file],
        !present.isLeft || present.hasName(item, in: directory.record)
      {
        node = present
        node.add(Link(record: directory.record, name: name), knowing: item.linkRecords)
      } else {
        node = FileNode(
          inode: freeInode(directory.view, item.file), view: directory.view, item: item,
          in: directory.record)
        add(node)
      }
      directory.files?[name] = .node(node)
      return node
    }
  }

  /// Adds the names of a hard-linked file in a directory that was loaded.
  mutating func gatherLinks(of node: FileNode, in directory: DirectoryNode) {
    let parted = node.view.partedFiles
    for case (let name, .stored(let item)) in directory.files ?? [:] {
      let item = parted.contains(item.file) && item.file != node.file ? partedWithNames(item) : item
      guard let item, item.file == node.file, node.hasName(item, in: directory.record) else {
        continue
      }
      node.add(Link(record: directory.record, name: name), knowing: item.linkRecords)
      directory.files?[name] = .node(node)
    }
    node.unseenLinkRecords.remove(directory.record)
  }
}

extension FileSlot {
  var node: FileNode? {
    if case .node(let node) = self { node } else { nil }
  }

  var file: FileID {
    switch self {
    case .stored(let item): item.file
    case .node(let node): node.file
    }
  }

  /// A file that no commit has, which only the directory's table leads to.
  var isUnsaved: Bool {
    guard case .node(let node) = self else { return false }
    return !node.isPublished || node.draft != nil || node.openCount > 0
  }
}
