import Synchronization
import Vault
import VaultModel

/// An open file. Safe to use from several threads; reads of sealed content run in parallel.
package final class FileHandle: Sendable {
  package let flags: OpenFlags
  package let inode: Inode
  let tree: FileTree
  let file: TreeReference<FileNode>
  let member: ShownMember
  let draft: Draft
  private let cacheMark: CacheMark
  private let isReleased = Atomic(false)

  init(tree: FileTree, file: FileNode, draft: Draft, cacheMark: CacheMark, flags: OpenFlags) {
    self.tree = tree
    self.file = TreeReference(file)
    inode = file.inode
    member = file.view.shown
    self.draft = draft
    self.cacheMark = cacheMark
    self.flags = flags
  }

  /// Fills the buffer from `offset` on; returns how many bytes, fewer than asked for only at the end of the file.
  ///
  /// - Throws: `inputOutput` if the range touches a damaged object, `away` for what cannot be had now, `badHandle`.
  package func read(
    at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) -> Int {
    if let count = try readIfHere(at: offset, into: buffer) { return count }
    return try readFromAfar(at: offset, into: buffer)
  }

  /// The same of what is on this machine; nil where a lazy vault keeps a part elsewhere. Waits for no remote.
  package func readIfHere(
    at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) -> Int? {
    guard flags.contains(.read) else { throw .badHandle }
    if offset == 0 { tree.readAhead(after: file, of: member.objects) }
    return try draft.readIfHere(at: offset, into: buffer)
  }

  /// The same where `readIfHere` has just said nil. May take as long as a remote does, which may never answer.
  package func readFromAfar(
    at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileError) -> Int {
    try draft.readFromAfar(at: offset, into: buffer)
  }

  /// Writes all of it or throws. What a mapping has is taken also where it cannot be saved, and the mount keeps it.
  ///
  /// - Throws: `noSpace`, also for what was written before and could not be sealed; but for what a mapping has, what keeps the
  ///   member from being saved, and a failure to save this file that nobody was told of yet; `fileTooLarge`, `badHandle`.
  package func write(
    at offset: UInt64, _ bytes: UnsafeRawBufferPointer, as kind: WriteKind = .atOffset,
    by caller: Caller? = nil
  ) throws(FileError) {
    _ = try write(bytes, at: offset, Write(kind: kind, caller: caller, waits: true))
  }

  /// The same without waiting for a remote; false where that has a part which this needs, and then nothing was written.
  package func writeIfHere(
    at offset: UInt64, _ bytes: UnsafeRawBufferPointer, as kind: WriteKind, by caller: Caller?
  ) throws(FileError) -> Bool {
    try write(bytes, at: offset, Write(kind: kind, caller: caller, waits: false))
  }

  private struct Write {
    let kind: WriteKind
    let caller: Caller?
    let waits: Bool
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ write: Write
  ) throws(FileError) -> Bool {
    guard flags.contains(.write) else { throw .badHandle }
    if write.kind != .ofMapping { try checkIsSaved() }
    do { try take(bytes, at: offset, write) } catch {
      if error == .away, !write.waits { return false }
      if write.kind == .ofMapping { tree.noteLost(file, error, of: member) }
      throw error
    }
    return true
  }

  private func take(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ write: Write
  ) throws(FileError) {
    try tree.budget.makeRoom()
    var isElsewhere = false
    // Only used before this returns.
    nonisolated(unsafe) let bytes = bytes
    try change(by: write.caller, waits: write.waits) { (content) throws(FileError) in
      let start = write.kind == .atEnd ? content.size : offset
      isElsewhere = start != offset
      guard start <= Self.sizeLimit, UInt64(bytes.count) <= Self.sizeLimit - start else {
        throw .fileTooLarge
      }
      try content.write(bytes, at: start)
      return UInt64(bytes.count)
    }
    // A cache above takes what was written to be where it took the end to be.
    if isElsewhere { tree.invalidate([.content(inode)]) }
  }

  /// The largest file, in bytes: 16 TiB, so that a file's table of chunks stays within bounds.
  static let sizeLimit: UInt64 = 1 << 44

  /// Sets the size.
  func truncate(to size: UInt64, by caller: Caller? = nil) throws(FileError) {
    guard size <= Self.sizeLimit else { throw .fileTooLarge }
    try change(by: caller) { (content) throws(FileError) in
      if content.size != size { try content.truncate(to: size) }
      return 0
    }
  }

  /// Runs a change of the content, with the draft's lock held; it returns how many bytes it added at most. As `changing` does, it
  /// may run it again.
  ///
  /// Drops set-user-id bits unless root asks, as any Linux file system does. The kernel leaves that to us
  /// (`FUSE_HANDLE_KILLPRIV`), but tells only programs that know more of its interface than libfuse when it is due.
  func change(
    by caller: Caller?, waits: Bool = true,
    _ body: (inout sending DraftContent) throws(FileError) -> UInt64
  ) throws(FileError) {
    try draft.changing(waits: waits) { (content) throws(FileError) in
      let added = try body(&content)
      let (size, isModified) = (content.size, content.isModified)
      if isModified { tree.budget.use(draft) }
      tree.withTree { tree in
        let file = tree[file]
        file.noteSize(size, addedByteCount: added)
        if let caller, caller.uid != 0 { file.dropPrivileges() }
        if isModified { tree.noteUnsealed(file) } else { tree.noteChange(of: file) }
      }
    }
  }

  /// Makes what was written part of the record; to be called at every close of a descriptor. Not durable: the next
  /// group commit has it.
  ///
  /// - Throws: what sealing throws, and failures of a commit that took this file since the last call; `stale` where others
  ///   have removed the file and something else has its name here.
  package func flush() throws(FileError) { _ = try flush(waits: true) }

  /// The same without waiting for a remote; false where that has a part which this needs, and then nothing was done.
  package func flushIfHere() throws(FileError) -> Bool { try flush(waits: false) }

  private func flush(waits: Bool) throws(FileError) -> Bool {
    guard try publish(waits: waits) else { return false }
    try throwPendingError()
    return true
  }

  private func publish(waits: Bool) throws(FileError) -> Bool {
    do { try tree.publish(file, draft, waits: waits) } catch {
      if error == .away, !waits { return false }
      // A reader may hear of it too, and wrote nothing.
      if flags.contains(.write) { tree.withTree { $0[file].isToldUnsealed = true } }
      throw error
    }
    return true
  }

  /// Returns when the file's content and attributes are on disk.
  package func sync() throws(FileError) { _ = try sync(waits: true) }

  /// The same without waiting for a remote; false where that has something which this needs, and then nothing was done.
  package func syncIfHere() throws(FileError) -> Bool { try sync(waits: false) }

  private func sync(waits: Bool) throws(FileError) -> Bool {
    guard try publish(waits: waits) else { return false }
    let (isClean, failedCommitCount) = tree.withTree { tree in
      let file = tree[file]
      let isClean = file.links.allSatisfy { !file.view.isPending($0.record) }
      return (isClean, file.failedCommitCount)
    }
    if !isClean, try !tree.makeDurable(member, waits: waits) { return false }
    let error = tree.withTree { tree in
      let file = tree[file]
      let pending = file.takePendingError()
      // All who have waited for one commit are told.
      return file.failedCommitCount > failedCommitCount ? file.commitError : pending
    }
    if let error { throw error }
    return true
  }

  /// Nobody goes on writing what cannot be saved without having heard of it.
  func checkIsSaved() throws(FileError) {
    let error = tree.withTree { tree in
      let file = tree[file]
      let pending = file.takePendingError()
      return file.view.failure ?? pending
    }
    if let error { throw error }
  }

  private func throwPendingError() throws(FileError) {
    if let error = tree.withTree({ tree in tree[file].takePendingError() }) { throw error }
  }

  /// The handle is no longer used. Seals what `flush` was not called for.
  package func release() { _ = release(waits: true) }

  /// The same without waiting for a remote; false where that has something which this needs, and then nothing was done.
  package func releaseIfHere() -> Bool { release(waits: false) }

  private func release(waits: Bool) -> Bool {
    guard !isReleased.exchange(true, ordering: .relaxed) else { return true }
    let isDone = tree.detach(file, draft, of: member, waits: waits)
    if !isDone { isReleased.store(false, ordering: .relaxed) }
    return isDone
  }

  // MARK: Caches above the tree

  /// A cache above the tree is about to hold some of what is read or written through this handle. To be called before
  /// the read or write.
  package func noteCached() {
    if !cacheMark.isSet.load(ordering: .relaxed) {
      cacheMark.isSet.store(true, ordering: .releasing)
    }
    if !cacheMark.isSetAnew.load(ordering: .relaxed) {
      cacheMark.isSetAnew.store(true, ordering: .releasing)
    }
  }

  /// Whether a cache above the tree may hold content from before a write. To be asked after the write.
  package var mayBeCached: Bool { cacheMark.isSet.load(ordering: .acquiring) }
}

extension FileNode {
  /// Something was written.
  fileprivate func noteSize(_ newSize: UInt64, addedByteCount: UInt64) {
    size = newSize
    dataByteCount = min(newSize, dataByteCount + addedByteCount)
    modified = .now
    changed = modified
  }

  /// The failure that nobody was told of yet; now somebody is.
  fileprivate func takePendingError() -> FileError? {
    defer { pendingError = nil }
    return pendingError
  }
}

extension TreeState {
  /// The file's draft has something that is not sealed.
  fileprivate func noteUnsealed(_ file: FileNode) {
    file.isToldUnsealed = false
    let now = ContinuousClock.now
    if file.draftChanges == nil {
      file.draftChanges = (now, now)
      file.view.unsealed[file.file] = file
      committer.noteChange()
    } else {
      file.draftChanges?.last = now
    }
  }
}
