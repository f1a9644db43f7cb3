import VaultModel

/// What was written becomes objects, and the content that the next commit takes.
extension FileTree {
  /// Seals what was written and makes it the content that the next commit takes. No lock may be held.
  ///
  /// - Parameter waits: Whether for a remote, if that has a part which this needs.
  /// - Throws: what sealing throws; `stale` for a file that others have removed, where it cannot have its name back.
  func publish(
    _ file: TreeReference<FileNode>, _ draft: Draft, waits: Bool = true
  ) throws(FileError) {
    let changed: [Invalidation] = try look { (tree) throws(TreeObstacle) in
      let file = tree[file]
      return try file.draftChanges == nil ? [] : tree.putBack(file)
    }
    invalidate(changed)
    try draft.changing(waits: waits) { (content) throws(FileError) in
      let found: (isPublished: Bool, inlineLimit: Int)? = withTree { tree in
        let file = tree[file]
        // What nobody has open any more was let go of meanwhile, and the file may have been written anew since.
        guard !file.links.isEmpty, file.draft === draft else { return nil }
        let isNote = file.links.allSatisfy { $0.name == .record }
        return (file.isPublished, isNote ? Limits.inlineContentBytes : 0)
      }
      guard let found, content.isModified || !found.isPublished else { return }
      let wasModified = content.isModified
      try look { (tree) throws(TreeObstacle) in try tree.requireNames(of: tree[file]) }
      let sealed = try content.seal(inlineLimit: found.inlineLimit)
      do throws(FileError) {
        try look { (tree) throws(TreeObstacle) in
          let file = tree[file]
          try tree.requireNames(of: file)
          file.isPublished = true
          if wasModified { file.take(sealed) }
          file.noteSealed()
          // It was kept for what could not be sealed.
          if file.openCount == 0 {
            file.draft = nil
            file.pendingError = nil
          }
          tree.noteChange(of: file)
        }
      } catch {
        if wasModified { content.noteNotTaken() }
        throw error
      }
      budget.remove(draft)
    }
  }

  /// Content that stands in the item itself is for notes only; under any other name it becomes an object. What was written has to
  /// be sealed.
  func storeInlineContent(
    of file: TreeReference<FileNode>, as name: FileName
  ) throws(FileError) {
    guard name != .record, withTree({ $0[file].content.isInline }) else { return }
    let handle = try open(file, [.write])
    defer { handle.release() }
    try handle.draft.changing { (content) throws(FileError) in
      try content.markModified()
      let sealed = try content.seal()
      do throws(FileError) {
        try look { (tree) throws(TreeObstacle) in
          let file = tree[file]
          try tree.requireNames(of: file)
          file.take(sealed)
          tree.noteChange(of: file)
        }
      } catch {
        content.noteNotTaken()
        throw error
      }
    }
  }

  /// Has a file's new name lead to whole content after a crash.
  func sealBeforeRename(
    _ parent: Inode, _ name: FileName, as newName: FileName
  ) throws(FileError) {
    let found = try look { (tree) throws(TreeObstacle) in
      try tree.contentToSeal(parent, name, as: newName)
    }
    guard let found else { return }
    if let draft = found.draft { try publish(found.file, draft) }
    try storeInlineContent(of: found.file, as: newName)
  }

  // MARK: Several files

  /// When a draft was first and last changed since it was last sealed.
  typealias DraftChanges = (first: ContinuousClock.Instant, last: ContinuousClock.Instant)

  /// What came of sealing several files.
  struct Sealing {
    /// The first one.
    var failure: FileError?
    /// Of some a remote has a part that they need, for which nobody waited. It is brought here meanwhile.
    var lacksSome = false
    /// Nobody has one of these open: it was said by now that it is not saved.
    var lacksClosed = false
  }

  /// Seals files of which `condition` says so.
  ///
  /// - Parameter waits: Whether for remotes, too.
  func seal(
    _ member: ShownMember, waits: Bool = false, where condition: (DraftChanges) -> Bool
  ) -> Sealing {
    let unsealed: [(TreeReference<FileNode>, Draft, DraftChanges)] = withTree { tree in
      tree[member.view].unsealed.values.compactMap { file in
        guard let changes = file.draftChanges, let draft = file.draft else { return nil }
        return (TreeReference(file), draft, changes)
      }
    }
    var sealing = Sealing()
    for (file, draft, changes) in unsealed where condition(changes) {
      do { try publish(file, draft, waits: waits) } catch {
        if error == .away, !waits {
          sealing.lacksSome = true
          // Who has it open is told when they wait for it.
          if withTree({ $0[file].openCount == 0 }) { sealing.lacksClosed = true }
          continue
        }
        sealing.failure = sealing.failure ?? error
        withTree { $0[file].pendingError = error }
      }
    }
    return sealing
  }
}

/// What has to come into the store before a file has another name.
private struct ContentToSeal {
  let file: TreeReference<FileNode>
  let draft: Draft?
}

extension TreeState {
  fileprivate mutating func contentToSeal(
    _ parent: Inode, _ name: FileName, as newName: FileName
  ) throws(TreeObstacle) -> ContentToSeal? {
    let directory = try loaded(parent)
    switch directory.files?[name] {
    case nil: return nil
    case .node(let file): return ContentToSeal(file: TreeReference(file), draft: file.draft)
    case .stored(let item):
      guard newName != .record, item.content.isInline, let file = file(name, in: directory) else {
        return nil
      }
      return ContentToSeal(file: TreeReference(file), draft: nil)
    }
  }
}

extension FileNode {
  /// This is its content now, and no commit has it.
  fileprivate func take(_ sealed: Draft.Sealed) {
    content = sealed.content
    objects = sealed.objects
    contentSize = sealed.size
    size = sealed.size
    dataByteCount = sealed.dataByteCount
    hasUncommittedContent = true
  }

  /// Its draft has nothing that is not sealed.
  func noteSealed() {
    draftChanges = nil
    isToldUnsealed = false
    view.unsealed[file] = nil
  }
}

extension Item.Content {
  fileprivate var isInline: Bool { if case .inline = self { true } else { false } }
}
