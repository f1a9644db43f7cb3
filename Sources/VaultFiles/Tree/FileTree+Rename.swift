import Threads
import Vault
import VaultModel

extension FileTree {
  /// Moves a file or record within its member, or renames a member.
  ///
  /// A file that was written is sealed first, so that after a crash the new name has its content.
  ///
  /// - Throws: `crossDevice` between members, and between the top and a member: copy instead. `alreadyExists` for
  ///   `.noReplace`; `notFound`, `notEmpty`, `isDirectory`, `notDirectory`, `accessDenied`, `readOnly`;
  ///   `invalidArgument` for moving a directory into itself, or where it or what is in it would stand too deep.
  package func rename(
    _ parent: Inode, _ name: FileName, to newParent: Inode, _ newName: FileName, mode: RenameMode
  ) throws(FileError) {
    try checkIsWritable(parent)
    try checkIsWritable(newParent)
    if parent == Self.root, newParent == Self.root {
      return try renameMember(name, to: newName, mode)
    }
    if parent == Self.root { throw .crossDevice }
    if newParent == Self.root {
      let isFile = try look { (tree) throws(TreeObstacle) in
        try tree.loaded(parent).files?[name] != nil
      }
      throw isFile ? .accessDenied : .crossDevice
    }
    try sealBeforeRename(parent, name, as: newName)
    if mode == .exchange { try sealBeforeRename(newParent, newName, as: name) }
    try look { (tree) throws(TreeObstacle) in
      let (from, to) = try tree.loaded(parent, newParent)
      try tree.requireUnseenNames(of: newName, in: to, beside: [from, to])
      try tree.requireUnseenNames(of: name, in: from, beside: [from, to])
      try tree.run(Move(from: from, name: name, to: to, newName: newName, mode: mode))
    }
  }

  /// The deepest that records stand in one another (Docs/Format.md, "Limits").
  static let depthLimit = 1000

  // MARK: Members

  private func renameMember(
    _ name: FileName, to newName: FileName, _ mode: RenameMode
  ) throws(FileError) {
    try top.withLock { _ throws(FileError) in
      let given: (name: FileName, member: MemberID)? = try look { (tree) throws(TreeObstacle) in
        guard let source = tree.members[name] else { throw .failed(.notFound) }
        let target = tree.members[newName]
        // A record's attributes are written with its place, so the files beside them have to be loaded.
        try tree.requireRoots(of: [source, target].compactMap(\.self))
        if name == newName { return nil }
        guard mayChange(source.member), target.map({ mayChange($0.member) }) ?? true else {
          throw .failed(.readOnly)
        }
        switch (mode, target) {
        case (.exchange, nil): throw .failed(.notFound)
        case (.noReplace, .some): throw .failed(.alreadyExists)
        case (.replace, .some): throw .failed(.notEmpty)
        default: break
        }
        tree.retitle(source, newName)
        if let target { tree.retitle(target, name) }
        return target == nil ? (name: newName, member: source.member.id) : nil
      }
      renewNames(given: given, besides: [name, newName])
    }
  }
}

/// What a rename is to do, with both directories loaded.
private struct Move {
  let from: DirectoryNode
  let name: FileName
  let to: DirectoryNode
  let newName: FileName
  let mode: RenameMode
}

extension TreeState {
  /// Moves, or throws with nothing changed.
  fileprivate mutating func run(_ move: Move) throws(TreeObstacle) {
    let (from, to) = (move.from, move.to)
    guard from.view === to.view else { throw .failed(.crossDevice) }
    try checkCanChange(from)
    try checkCanChange(to)
    guard let source = child(move.name, of: from) else { throw .failed(.notFound) }
    let target = child(move.newName, of: to)
    if source === target { return }
    if let directory = source as? DirectoryNode { try checkPlace(of: directory, in: to) }
    guard let target else {
      if move.mode == .exchange { throw .failed(.notFound) }
      place(source, move)
      return
    }
    switch move.mode {
    case .noReplace: throw .failed(.alreadyExists)
    case .exchange:
      if let directory = target as? DirectoryNode { try checkPlace(of: directory, in: from) }
      exchange(source, target, move)
    case .replace:
      try removeTarget(target, for: source, move)
      place(source, move)
    }
  }

  private mutating func removeTarget(
    _ target: Node, for source: Node, _ move: Move
  ) throws(TreeObstacle) {
    if let file = target as? FileNode {
      guard source is FileNode else { throw .failed(.notDirectory) }
      removeLink(move.newName, of: file, in: move.to)
      collapse(file)
    } else if let directory = target as? DirectoryNode {
      guard source is DirectoryNode else { throw .failed(.isDirectory) }
      try require(directory, beside: [move.from, move.to])
      try remove(directory, named: move.newName, from: move.to)
    }
  }

  /// A directory must not come to stand in itself, nor it or what is in it too deep.
  private func checkPlace(
    of directory: DirectoryNode, in target: DirectoryNode
  ) throws(TreeObstacle) {
    let view = directory.view
    let above = view.recordsAbove(target.record)
    let room = FileTree.depthLimit - above.count
    guard !above.contains(directory.record), room > 0 else { throw .failed(.invalidArgument) }
    // What goes no deeper than it is may stay as deep as it is.
    if let parent = directory.parent, above.count <= view.recordsAbove(parent).count { return }
    guard view.levelCount(from: directory.record, atMost: room + 1) <= room else {
      throw .failed(.invalidArgument)
    }
  }

  /// Gives a node its new name; the old one is gone.
  private mutating func place(_ node: Node, _ move: Move) {
    let (from, to) = (move.from, move.to)
    // The new name is put among those that the directory has already.
    if node is DirectoryNode { _ = records(in: to) }
    detach(node, move.name, from: from)
    attach(node, move.newName, to: to)
    touch(from)
    if to !== from { touch(to) }
  }

  private mutating func exchange(_ source: Node, _ target: Node, _ move: Move) {
    // Over a name that nothing can have: item and record names are never empty in a directory's tables.
    detach(source, move.name, from: move.from)
    detach(target, move.newName, from: move.to)
    attach(source, move.newName, to: move.to)
    attach(target, move.name, to: move.from)
    touch(move.from)
    if move.to !== move.from { touch(move.to) }
  }

  private mutating func detach(_ node: Node, _ name: FileName, from directory: DirectoryNode) {
    let view = directory.view
    if let file = node as? FileNode {
      if file.links.count > 1 { view.willChange(file) }
      view.willChange(item: name, of: directory.record, exists: true)
      setSlot(nil, name, in: directory)
      file.links.removeAll { $0 == Link(record: directory.record, name: name) }
      view.forgetUncommitted(item: name, of: directory.record)
    } else {
      _ = records(in: directory)
      directory.forgetRecord(named: name)
    }
  }

  private mutating func attach(_ node: Node, _ name: FileName, to directory: DirectoryNode) {
    let view = directory.view
    if let file = node as? FileNode {
      view.willChange(item: name, of: directory.record, exists: false)
      file.links.append(Link(record: directory.record, name: name))
      setSlot(.node(file), name, in: directory)
      file.mediaType = MediaType.of(name, mode: file.mode)
    } else if let moved = node as? DirectoryNode {
      directory.records?[name] = moved.record
      view.willChange(placeOf: moved)
      moved.parent = directory.record
      moved.title = name
    }
    node.changed = .now
  }

  // MARK: Members

  fileprivate mutating func requireRoots(of views: [MemberView]) throws(TreeObstacle) {
    let roots = views.compactMap { directory(.root, of: $0) }
    for root in roots { try require(root, beside: roots) }
  }

  fileprivate mutating func retitle(_ view: MemberView, _ title: FileName) {
    guard let root = directory(.root, of: view) else { return }
    view.willChange(placeOf: root)
    root.title = title
    root.changed = .now
    committer.noteChange()
  }
}

extension MemberView {
  /// A record and those that it stands in, from below; no more than may stand in one another.
  fileprivate func recordsAbove(_ record: RecordID) -> [RecordID] {
    var found: [RecordID] = []
    var current: RecordID? = record
    while let record = current, found.count < FileTree.depthLimit {
      found.append(record)
      current = place(of: record)?.parent
    }
    return found
  }

  /// How many records stand in one another from this one down, counted up to `limit`. It looks at every record below.
  fileprivate func levelCount(from top: RecordID, atMost limit: Int) -> Int {
    var moved: [RecordID: [RecordID]] = [:]
    for record in Set(pending.keys).union(inFlight.keys) where isPlacePending(record) {
      guard let node = directories[record], !node.isRemoved, let parent = node.parent else {
        continue
      }
      moved[parent, default: []].append(record)
    }
    var count = 0
    var level = [top]
    var seen: Set<RecordID> = [top]
    while !level.isEmpty, count < limit {
      count += 1
      var below: [RecordID] = []
      for record in level {
        member.visitChildren(of: record) { child in
          if !isPlacePending(child.record) { below.append(child.record) }
        }
        below += moved[record] ?? []
      }
      level = below.filter { seen.insert($0).inserted }
    }
    return count
  }
}
