import Glibc
import Threads
import Vault
import VaultModel

/// The nodes of a mount. Everything is protected by `lock`, the tree lock.
final class TreeState: @unchecked Sendable {
  let lock = Monitor()
  /// Directories and files by inode number; the top is not among them.
  private(set) var nodes: [Inode: Node] = [:]
  private(set) var views: [MemberID: MemberView] = [:]
  /// The members by the names they show under.
  private(set) var members: [FileName: MemberView] = [:]
  /// The top directory's times.
  var topChanged: FileTimestamp
  /// Files of loaded directories, and for each of these as much as it costs beside.
  private(set) var loadedItemCount = 0
  private var clock: UInt64 = 0

  private let memberNames: ShownNames

  init(memberNames: ShownNames) {
    self.memberNames = memberNames
    topChanged = .now()
  }

  /// What could not be saved so far, of all members.
  var unsaved: [Unsaved] { views.values.flatMap(\.unsaved) }

  // MARK: Members

  /// Whether what is shown are these members, as they are open now.
  func shows(_ members: [Member]) -> Bool {
    views.count == members.count && members.allSatisfy { views[$0.id]?.member === $0 }
  }

  /// Takes in members that are not there yet, and names that changed.
  ///
  /// Those that an owner has taken from this person are not shown any more, but for one in which something was changed
  /// and not saved: that can be copied elsewhere until the mount ends.
  func adopt(_ members: [Member], audit: AuditLog) {
    let present = Set(members.map(ObjectIdentifier.init))
    for view in views.values { view.hasEnded = !present.contains(ObjectIdentifier(view.member)) }
    views = views.filter { !$0.value.hasEnded || $0.value.holdsUnsaved }
    for member in members where views[member.id] == nil {
      let view = MemberView(
        member: member, objects: MemberObjects(member: member, audit: audit))
      views[member.id] = view
    }
    nameMembers()
  }

  /// Builds the names of the top directory anew.
  func nameMembers() {
    let names = memberNames.names(
      of: views.mapValues { $0.place(of: .root)?.title ?? $0.member.name },
      own: Set(views.filter { $0.value.member.isOwn }.keys))
    members = [:]
    for (id, view) in views { if let name = names[id] { members[name] = view } }
  }

  /// Its person has given a member this name.
  func noteName(_ name: FileName, of view: MemberView) {
    memberNames.free(name, for: view.member.id, present: Set(views.keys))
  }

  // MARK: Nodes

  /// The node of a record; nil if there is no such record.
  func directory(_ record: RecordID, of view: MemberView) -> DirectoryNode? {
    if let node = view.directories[record] { return node }
    guard let entry = view.member.entry(record) else { return nil }
    let node = DirectoryNode(inode: freeInode(view, record), view: view, entry: entry)
    add(node)
    return node
  }

  func add(_ node: DirectoryNode) {
    nodes[node.inode] = node
    node.view.directories[node.record] = node
    loadedItemCount += node.loadedCost
  }

  func add(_ node: FileNode) {
    nodes[node.inode] = node
    node.view.files[node.file] = node
  }

  private func remove(_ node: FileNode) {
    nodes[node.inode] = nil
    if node.view.files[node.file] === node { node.view.files[node.file] = nil }
  }

  private func remove(_ node: DirectoryNode) {
    nodes[node.inode] = nil
    if node.view.directories[node.record] === node { node.view.directories[node.record] = nil }
    loadedItemCount -= node.loadedCost
  }

  /// The number that a record or file has unless another took it: the same in every mount.
  static func usualInode(_ view: MemberView, _ id: some FixedBytes) -> Inode {
    let inode = view.member.id.firstWord ^ id.firstWord
    return inode <= FileTree.root ? inode + 2 : inode
  }

  func freeInode(_ view: MemberView, _ id: some FixedBytes) -> Inode {
    var inode = Self.usualInode(view, id)
    while nodes[inode] != nil || inode <= FileTree.root { inode &+= 1 }
    return inode
  }

  // MARK: Directories' content

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

  /// Puts the files of a directory in their place as they are stored.
  func install(_ items: [Item], xattrs: [Xattr], in directory: DirectoryNode) {
    var files: [FileName: FileSlot] = [:]
    files.reserveCapacity(items.count)
    for item in items { files[item.name] = slot(for: item, in: directory) }
    directory.files = files
    directory.salvage = nil
    directory.xattrs = xattrs
    loadedItemCount += directory.loadedCost
    if let records = directory.records, records.keys.contains(where: { files[$0] != nil }) {
      directory.records = nil
    }
    use(directory)
  }

  /// What stands for an item: its node if it has one.
  func slot(for item: Item, in directory: DirectoryNode) -> FileSlot {
    let item = shown(item, in: directory)
    guard let node = directory.view.files[item.file] else { return .stored(item) }
    let link = Link(record: directory.record, name: item.name)
    // While its directory was forgotten, nobody has told it of changes.
    if node.links.isEmpty || node.links == [link] { node.catchUp(with: item) }
    node.add(link, knowing: item.linkRecords)
    return .node(node)
  }

  /// The item, as a file by itself where the file that is here under its id has no such name.
  private func shown(_ item: Item, in directory: DirectoryNode) -> Item {
    guard let node = directory.view.files[item.file],
      !node.hasName(item, in: directory.record)
    else { return item }
    return parted(item, in: directory)
  }

  /// The item as a file by itself.
  func parted(_ item: Item, in directory: DirectoryNode) -> Item {
    var item = item
    item.file = .parted(item.file, in: directory.record, item.name)
    item.linkRecords = []
    return item
  }

  func setSlot(_ slot: FileSlot?, _ name: FileName, in directory: DirectoryNode) {
    let hadOne = directory.files?[name] != nil
    directory.files?[name] = slot
    if hadOne != (slot != nil), directory.hasRenamedRecords { directory.records = nil }
    loadedItemCount += (slot == nil ? 0 : 1) - (hadOne ? 1 : 0)
  }

  func use(_ directory: DirectoryNode) {
    clock += 1
    directory.lastUse = clock
  }

  /// The node of a file in a directory that is loaded or can be read in part, made if nobody looked at the file yet.
  func file(_ name: FileName, in directory: DirectoryNode) -> FileNode? {
    switch directory.slot(name) {
    case nil: return nil
    case .node(let node): return node
    case .stored(let stored):
      let item = shown(stored, in: directory)
      let node: FileNode
      if let present = directory.view.files[item.file] {
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
  func gatherLinks(of node: FileNode, in directory: DirectoryNode) {
    for case (let name, .stored(let item)) in directory.files ?? [:]
    where item.file == node.file && node.hasName(item, in: directory.record) {
      node.add(Link(record: directory.record, name: name), knowing: item.linkRecords)
      directory.files?[name] = .node(node)
    }
    node.unseenLinkRecords.remove(directory.record)
  }

  // MARK: Letting go

  /// Lets go of a node that nobody refers to, where it can be had again.
  func collapse(_ node: Node) {
    guard !node.isInUse, nodes[node.inode] === node else { return }
    if let file = node as? FileNode { collapse(file) }
    if let directory = node as? DirectoryNode, directory.files == nil || directory.isRemoved {
      drop(directory)
    }
  }

  private func collapse(_ file: FileNode) {
    if file.links.isEmpty {
      // Nothing leads to it any more.
      file.draft = nil
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
      directory.files?[link.name] = .stored(file.item(named: link.name))
    }
    remove(file)
  }

  func isPending(_ file: FileNode) -> Bool {
    file.links.contains { file.view.isItemPending($0.name, of: $0.record) }
  }

  private func drop(_ directory: DirectoryNode) {
    guard !directory.isInUse, !directory.view.isPending(directory.record) else { return }
    remove(directory)
  }

  /// Forgets loaded directories that are whole on disk, the least recently used first, until at most
  /// three quarters of `limit` files are loaded; does nothing up to `limit`. The one used last and those in `kept` stay,
  /// however large. The kernel keeps what it knows of them.
  func evict(limit: Int, keeping kept: [DirectoryNode] = []) {
    guard loadedItemCount > limit else { return }
    let loaded = views.values.flatMap { view in
      view.directories.values.filter {
        $0.files != nil && $0.openCount == 0 && !view.isPending($0.record)
      }
    }
    for directory in loaded.sorted(by: { $0.lastUse < $1.lastUse }) where directory.lastUse < clock
    {
      if loadedItemCount <= limit / 4 * 3 { return }
      if kept.contains(where: { $0 === directory }) { continue }
      if directory.files?.values.contains(where: \.isUnsaved) ?? false { continue }
      loadedItemCount -= directory.loadedCost
      let files = directory.files?.values.compactMap(\.node) ?? []
      directory.files = nil
      files.forEach(forget)
      directory.sequence = FolderSequence()
      directory.wasEvicted = true
      drop(directory)
    }
  }

  /// Lets go of a file that nobody refers to when none of its names is loaded.
  private func forget(_ file: FileNode) {
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
    for record in unseen { view.directories[record]?.records = nil }
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
  func recall(_ files: [FileName: FileNode], in directory: DirectoryNode) {
    directory.files = files.mapValues { .node($0) }
    directory.salvage = nil
    loadedItemCount += directory.loadedCost
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

extension FileTimestamp {
  /// What the clock says.
  static func now() -> FileTimestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTimestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(time.tv_nsec))
  }
}
