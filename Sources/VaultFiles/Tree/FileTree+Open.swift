import Log
import Threads
import Vault
import VaultModel

extension FileTree {
  /// Makes a file and opens it; opens the one that is there unless `.exclusive`. Counts one reference of the kernel.
  ///
  /// The file is part of a commit from its first `flush` on.
  ///
  /// - Throws: `alreadyExists`, `isDirectory`, `accessDenied` (also at the top), `readOnly`, `notFound`.
  package func create(
    _ parent: Inode, _ name: FileName, mode: UInt32, flags: OpenFlags, caller: Caller? = nil
  ) throws(FileError) -> (attributes: Attributes, handle: FileHandle) {
    try checkIsWritable(parent)
    while true {
      do {
        return try look { (tree) throws(TreeObstacle) in
          let directory = try tree.loaded(parent, without: name)
          let file = NewFile(
            mode: FileMode.regular | mode & FileMode.permissionMask, caller: caller)
          let node = tree.newFile(name, in: directory, as: file)
          return (tree.entry(of: node), attach(node, flags))
        }
      } catch {
        guard error == .alreadyExists, !flags.contains(.exclusive) else { throw error }
      }
      do throws(FileError) {
        let found = try lookup(parent, name)
        do {
          let handle = try open(found.inode, flags, by: caller)
          return (try attributes(found.inode), handle)
        } catch {
          forget(found.inode, 1)
          throw error
        }
      } catch {
        guard error == .notFound else { throw error }  // removed meanwhile: make it
      }
    }
  }

  /// Opens a regular file. Opening for reading is noted in the audit log.
  ///
  /// - Throws: `isDirectory`, `accessDenied`, `readOnly`, `stale`, `invalidArgument` for what is no regular file.
  package func open(
    _ inode: Inode, _ flags: OpenFlags, by caller: Caller? = nil
  ) throws(FileError) -> FileHandle {
    let changes = flags.contains(.write) || flags.contains(.truncate)
    let file = try look { (tree) throws(TreeObstacle) in
      guard inode != Self.root, let file = try tree.node(inode) as? FileNode else {
        throw .failed(.isDirectory)
      }
      guard file.type == FileMode.regular else { throw .failed(.invalidArgument) }
      if changes, !mayChange(file.view) { throw .failed(.readOnly) }
      let mask: UInt32 = (flags.contains(.read) ? 4 : 0) | (changes ? 2 : 0)
      try tree.checkAccess(file, mask: mask)
      return TreeReference(file)
    }
    let handle = try open(file, flags)
    if flags.contains(.truncate) {
      do { try handle.truncate(to: 0, by: caller) } catch {
        handle.release()
        throw error
      }
    }
    if flags.contains(.read) {
      let link = withTree { $0[file].links.first }
      vault.audit.note(
        .read, member: handle.member.member.id, record: link?.record, name: link?.name)
    }
    return handle
  }

  /// Opens without asking whether it is allowed.
  func open(
    _ file: TreeReference<FileNode>, _ flags: OpenFlags
  ) throws(FileError) -> FileHandle {
    try look { (tree) throws(TreeObstacle) in
      let file = tree[file]
      if flags.contains(.write) { try tree.requireNames(of: file) }
      return attach(file, flags)
    }
  }

  /// One more handle of a file.
  private func attach(_ file: FileNode, _ flags: OpenFlags) -> FileHandle {
    file.openCount += 1
    let draft =
      file.draft
      ?? Draft(
        file.content, size: file.contentSize, objects: file.objects, store: file.view.objects,
        resources: resources)
    let mark = file.cacheMark ?? CacheMark()
    (file.draft, file.cacheMark) = (draft, mark)
    if flags.isSuperset(of: [.read, .write]) { file.mayBeMapped = true }
    return FileHandle(tree: self, file: file, draft: draft, cacheMark: mark, flags: flags)
  }

  /// A handle of a file is gone, which may be the last.
  ///
  /// - Parameter waits: Whether for a remote, if that has a part which this needs.
  /// - Returns: False, with nothing done, where it would have to wait.
  func detach(
    _ file: TreeReference<FileNode>, _ draft: Draft, of member: ShownMember, waits: Bool
  ) -> Bool {
    while true {
      let isLast = withTree { $0[file].openCount == 1 }
      let sealed = isLast ? sealAtLast(file, draft, of: member, waits: waits) : End.sealed
      guard let end = sealed else { return false }
      guard letGo(of: file, draft, isLast: isLast, isKept: end == .kept) else { continue }
      switch end {
      case .sealed: break
      case .kept: noteUnsealed(in: member)
      case .reverted:
        // A cache above would go on showing what was written, as if it were saved.
        invalidate([.content(withTree { $0[file].inode })])
        // What others have made of it meanwhile shows with the next commit.
        committer.noteChange()
      }
      return true
    }
  }

  /// What becomes of that which was written when the last handle goes.
  private enum End {
    case sealed
    /// It could not be sealed, and stays to be tried again.
    case kept
    /// It could not be sealed, and is lost: the file shows what was sealed last.
    case reverted
  }

  /// Seals what was written before the last handle goes; nil where a remote has a part which that needs, and is not waited for.
  private func sealAtLast(
    _ file: TreeReference<FileNode>, _ draft: Draft, of member: ShownMember, waits: Bool
  ) -> End? {
    do throws(FileError) {
      do throws(FileError) { try publish(file, draft, waits: waits) } catch {
        guard error == .stale else { throw error }
        let changed = try look { (tree) throws(TreeObstacle) in
          try tree.giveAnotherName(to: tree[file])
        }
        invalidate(changed)
        try publish(file, draft, waits: waits)
      }
    } catch {
      if error == .away, !waits { return nil }
      log.failed(.seal, error, of: LogIdentity(member.member.id))
      return withTree { $0[file].keepOrRevert(after: error) } ? .kept : .reverted
    }
    return .sealed
  }

  /// - Returns: False, with nothing done, if the handle is the last one by now and was not when that was asked: another one
  ///   has gone meanwhile, and neither has sealed what was written.
  private func letGo(
    of file: TreeReference<FileNode>, _ draft: Draft, isLast: Bool, isKept: Bool
  ) -> Bool {
    draft.content.withLock { _ in
      withTree { tree in
        let file = tree[file]
        guard isLast || file.openCount > 1 else { return false }
        file.openCount -= 1
        guard file.openCount == 0 else { return true }
        file.mayBeMapped = false
        if isKept { return true }
        // A file without a name has its content nowhere else, and who still refers to it may open it again.
        if !file.links.isEmpty {
          budget.remove(draft)
          file.draft = nil
        }
        file.noteSealed()
        tree.collapse(file)
        return true
      }
    }
  }
}

extension FileNode {
  /// What could not be sealed when the last handle went stays, and is tried again, if nobody was told: such as pages of a
  /// mapping, which come when the descriptor is closed. Else it is not shown any more, but what was sealed last.
  ///
  /// - Returns: Whether it stays.
  fileprivate func keepOrRevert(after error: FileError) -> Bool {
    guard draftChanges != nil, !isToldUnsealed, !links.isEmpty else {
      size = contentSize
      isPublished = true
      // Its time and mode are of what was written, too: the next look sees what they are.
      view.unread.formUnion(links.map(\.record))
      return false
    }
    pendingError = error
    return true
  }
}
