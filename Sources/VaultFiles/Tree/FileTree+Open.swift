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
      do throws(FileError) {
        let directory = try lockForNewName(parent, name)
        defer { state.lock.unlock() }
        let node = newFile(
          name, in: directory, mode: FileMode.regular | mode & FileMode.permissionMask,
          caller: caller)
        node.references += 1
        return (attributes(of: node), attach(node, flags))
      } catch {
        guard error == .alreadyExists, !flags.contains(.exclusive) else { throw error }
      }
      do throws(FileError) {
        let found = try lookup(parent, name)
        do throws(FileError) {
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
    let node = state.lock.withLock { state.nodes[inode] }
    guard let file = node as? FileNode else {
      throw node == nil && inode != Self.root ? .stale : .isDirectory
    }
    guard file.type == FileMode.regular else { throw .invalidArgument }
    let changes = flags.contains(.write) || flags.contains(.truncate)
    if changes { try checkIsWritable(inode) }
    try state.lock.withLock { () throws(FileError) in
      let mask: UInt32 = (flags.contains(.read) ? 4 : 0) | (changes ? 2 : 0)
      try checkAccess(file, mask: mask)
    }
    let handle = try open(file, flags)
    if flags.contains(.truncate) {
      do throws(FileError) { try handle.truncate(to: 0, by: caller) } catch {
        handle.release()
        throw error
      }
    }
    if flags.contains(.read) {
      let link = state.lock.withLock { file.links.first }
      vault.audit.note(
        .read, member: file.view.member.id, record: link?.record, name: link?.name)
    }
    return handle
  }

  /// Opens without asking whether it is allowed.
  func open(_ file: FileNode, _ flags: OpenFlags) throws(FileError) -> FileHandle {
    if flags.contains(.write) {
      try lockLoaded(namesOf: file)
    } else {
      state.lock.lock()
    }
    defer { state.lock.unlock() }
    return attach(file, flags)
  }

  /// One more handle of a file; the tree lock has to be held.
  private func attach(_ file: FileNode, _ flags: OpenFlags) -> FileHandle {
    file.openCount += 1
    let draft: Draft
    if let present = file.draft {
      draft = present
    } else {
      draft = Draft(
        file.content, size: file.contentSize, objects: file.objects, store: file.view.objects,
        resources: resources)
      file.draft = draft
    }
    return FileHandle(tree: self, node: file, draft: draft, flags: flags)
  }

  /// The last handle of a file may be gone.
  func detach(_ file: FileNode, _ draft: Draft) {
    let isLast = state.lock.withLock { file.openCount == 1 }
    if isLast {
      do throws(FileError) {
        try publish(file, draft)
      } catch {
        // Whoever wrote was told by write or flush. What was sealed last stays.
        state.lock.withLock { revert(file) }
      }
    }
    draft.lock.lock()
    defer { draft.lock.unlock() }
    state.lock.lock()
    defer { state.lock.unlock() }
    file.openCount -= 1
    guard file.openCount == 0 else { return }
    // A file without a name has its content nowhere else, and who still refers to it may open it again.
    if !file.links.isEmpty {
      budget.remove(draft)
      file.draft = nil
    }
    file.draftChanges = nil
    file.view.unsealed[file.file] = nil
    state.collapse(file)
  }

  private func revert(_ file: FileNode) {
    file.size = file.contentSize
    file.isPublished = true
  }

  // MARK: Sealing

  /// Seals what was written and makes it the content that the next commit takes. No lock may be held.
  func publish(_ file: FileNode, _ draft: Draft) throws(FileError) {
    draft.lock.lock()
    defer { draft.lock.unlock() }
    let inlineLimit: Int? = state.lock.withLock {
      guard !file.links.isEmpty else { return nil }
      return file.links.allSatisfy { $0.name == .record } ? Limits.inlineContentBytes : 0
    }
    guard let inlineLimit, draft.isModified || !file.isPublished else { return }
    let wasModified = draft.isModified
    let sealed = try draft.seal(inlineLimit: inlineLimit)
    try lockLoaded(namesOf: file)
    file.isPublished = true
    if wasModified {
      file.content = sealed.content
      file.objects = sealed.objects
      file.contentSize = sealed.size
      file.size = sealed.size
      file.dataByteCount = sealed.dataByteCount
      file.hasUncommittedContent = true
    }
    file.draftChanges = nil
    file.view.unsealed[file.file] = nil
    noteChange(of: file)
    state.lock.unlock()
    budget.remove(draft)
  }

  /// Content that stands in the item itself is for notes only; under any other name it becomes an object.
  private func storeInlineContent(of file: FileNode) throws(FileError) {
    let handle = try open(file, [.write])
    defer { handle.release() }
    let draft = handle.draft
    draft.lock.lock()
    defer { draft.lock.unlock() }
    try draft.markModified()
    let sealed = try draft.seal()
    try lockLoaded(namesOf: file)
    file.content = sealed.content
    file.objects = sealed.objects
    file.hasUncommittedContent = true
    noteChange(of: file)
    state.lock.unlock()
  }

  /// Has a file's new name lead to whole content after a crash.
  func sealBeforeRename(
    _ parent: Inode, _ name: FileName, as newName: FileName
  ) throws(FileError) {
    let directory = try lockLoaded(parent)
    guard case .node(let file) = directory.files?[name] else {
      guard case .stored(let item) = directory.files?[name], case .inline = item.content,
        newName != .record, let file = state.file(name, in: directory)
      else { return state.lock.unlock() }
      state.lock.unlock()
      return try storeInlineContent(of: file)
    }
    let draft = file.draft
    let isInline = if case .inline = file.content { newName != .record } else { false }
    state.lock.unlock()
    if let draft { try publish(file, draft) }
    if isInline { try storeInlineContent(of: file) }
  }
}
