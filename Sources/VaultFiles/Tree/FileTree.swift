import Threads
import Vault
import VaultModel

/// The mounted view of a vault without a kernel: inodes, names, attributes and open files.
///
/// The top directory lists the members; every directory in a member is a record and every file an item. Names and
/// attributes are answered from memory. Changes are committed in groups by a background thread (`start`), by `sync`
/// of a file or directory, and by `commitNow`. Safe to use from any thread; calls block.
///
/// **Lock order**, in this module's one place for it. A thread that holds a lock takes only locks that stand further down:
/// 1. `FileTree.topLock`: making members.
/// 2. `MemberView.writing`: commits. Held through I/O.
/// 3. `Draft.lock` of one file (two drafts are never locked at once).
/// 4. `TreeState.lock`, the tree lock: names, attributes, what is pending. Held for memory accesses only: no
///    I/O, no decryption and no waiting happens under it.
/// 5. Leaves, which call nothing: `DirtyBudget`, `BufferPool`, `SealingPool`, `SealTicket`, `StagedObjects`,
///    `CommitQueue`, `Committer`, and the locks inside module Vault.
package final class FileTree: Sendable {
  /// The inode number of the top directory.
  package static let root: Inode = 1

  let vault: Vault
  let options: FileTreeOptions
  /// Held by whoever makes members.
  let topLock = Monitor()
  let state: TreeState
  let resources: Draft.Resources
  let budget: DirtyBudget
  let committer: Committer
  let thinner = Committer()
  let invalidationHandler = Guarded<(@Sendable (Invalidation) -> Void)?>(nil)
  let unsavedHandler = Guarded<(@Sendable ([Unsaved]) -> Void)?>(nil)

  /// A tree over an open vault, which the tree does not close.
  package init(vault: Vault, options: FileTreeOptions) {
    self.vault = vault
    self.options = options
    state = TreeState(memberNames: vault.memberNames)
    let pool = BufferPool(chunkSize: ChunkLayout.format.chunkSize)
    resources = Draft.Resources(pool: pool, sealing: SealingPool())
    budget = DirtyBudget(pool: pool, limit: options.dirtyByteLimit)
    committer = Committer()
    state.lock.withLock { state.adopt(vault.members, audit: vault.audit) }
  }

  /// Whether every change is refused.
  package var isReadOnly: Bool { options.isReadOnly || vault.isReadOnly }

  /// A name as a program gave it.
  ///
  /// - Throws: `nameTooLong`, or `invalidArgument` for what cannot be a name.
  package static func name(_ bytes: some Collection<UInt8>) throws(FileError) -> FileName {
    guard bytes.count <= Limits.nameBytes else { throw .nameTooLong }
    guard let name = FileName(bytes) else { throw .invalidArgument }
    return name
  }

  // MARK: Finding nodes

  /// The directory of this number; the tree lock has to be held.
  func directory(_ inode: Inode) throws(FileError) -> DirectoryNode {
    switch state.nodes[inode] {
    case let node as DirectoryNode: return node
    case nil: throw inode == Self.root ? .accessDenied : .stale
    default: throw .notDirectory
    }
  }

  /// Takes the tree lock with the directory's records and files loaded. When it throws the lock is free.
  func lockLoaded(_ inode: Inode) throws(FileError) -> DirectoryNode {
    try lockLoaded(inode, inode).0
  }

  /// The same for two directories.
  func lockLoaded(
    _ first: Inode, _ second: Inode
  ) throws(FileError) -> (DirectoryNode, DirectoryNode) {
    while true {
      state.lock.lock()
      let missing: DirectoryNode
      let nodes: (DirectoryNode, DirectoryNode)
      do throws(FileError) {
        nodes = (try directory(first), try directory(second))
        if nodes.0.files == nil {
          missing = nodes.0
        } else if nodes.1.files == nil {
          missing = nodes.1
        } else {
          state.use(nodes.0)
          state.use(nodes.1)
          return nodes
        }
      } catch {
        state.lock.unlock()
        throw error
      }
      state.lock.unlock()
      try load(missing, keeping: [nodes.0, nodes.1])
    }
  }

  /// Takes the tree lock with the directory's files loaded or, where their list is damaged, with those that can be read
  /// (`DirectoryNode.salvage`): for looking and reading. When it throws the lock is free.
  func lockReadable(_ inode: Inode) throws(FileError) -> DirectoryNode {
    while true {
      state.lock.lock()
      let directory: DirectoryNode
      do throws(FileError) { directory = try self.directory(inode) } catch {
        state.lock.unlock()
        throw error
      }
      if directory.files != nil {
        state.use(directory)
        return directory
      }
      if let salvage = directory.salvage, salvage.isFresh,
        salvage.revision == directory.view.member.entry(directory.record)?.revision
      {
        return directory
      }
      state.lock.unlock()
      do throws(FileError) { try load(directory) } catch {
        guard error == .inputOutput else { throw error }
        try salvage(directory)
      }
    }
  }

  /// Reads what can be read of a directory that cannot be loaded. The tree lock must not be held.
  ///
  /// - Throws: `inputOutput` when that is nothing at all.
  private func salvage(_ directory: DirectoryNode) throws(FileError) {
    let view = directory.view
    guard let entry = view.member.entry(directory.record) else { throw .notFound }
    let found: ReadableItems
    do throws(VaultError) {
      found = try view.member.readableItems(of: view.member.revision(entry.revision))
    } catch {
      throw view.objects.failure(error, reading: entry.revision)
    }
    state.lock.withLock {
      guard directory.files == nil else { return }
      directory.salvage = Salvage(found, of: entry.revision)
      // The kernel is told of files while none are loaded here.
      directory.wasEvicted = true
    }
  }

  /// Takes the tree lock with all directories loaded that hold a name of the file, so that the file can be marked as
  /// changed. When it throws the lock is free.
  func lockLoaded(namesOf file: FileNode) throws(FileError) {
    while true {
      state.lock.lock()
      let records = file.links.map(\.record) + file.unseenLinkRecords
      var needed: [DirectoryNode] = []
      var missing: DirectoryNode?
      for record in records {
        guard let directory = state.directory(record, of: file.view), !directory.isRemoved else {
          file.unseenLinkRecords.remove(record)
          continue
        }
        needed.append(directory)
        if directory.files == nil {
          missing = directory
          continue
        }
        if file.unseenLinkRecords.contains(record) { state.gatherLinks(of: file, in: directory) }
      }
      guard let missing else { return }
      state.lock.unlock()
      try load(missing, keeping: needed)
    }
  }

  /// Loads a directory's files. The tree lock must not be held.
  ///
  /// - Parameter kept: Directories that the caller needs at the same time, and that stay loaded therefore: where each
  ///   forgot the others for its own sake, nobody would ever have all.
  func load(_ directory: DirectoryNode, keeping kept: [DirectoryNode] = []) throws(FileError) {
    while true {
      let view = directory.view
      guard let entry = view.member.entry(directory.record) else { throw .notFound }
      let items: [Item]
      let xattrs: [Xattr]
      do throws(VaultError) {
        (items, xattrs) = try view.member.contents(of: entry)
      } catch {
        throw view.objects.failure(error, reading: entry.revision)
      }
      state.lock.lock()
      defer { state.lock.unlock() }
      if directory.files != nil { return }
      guard view.member.entry(directory.record)?.revision == entry.revision else { continue }
      // What a removed record still holds shows nowhere.
      state.install(directory.isRemoved ? [] : items, xattrs: xattrs, in: directory)
      state.evict(limit: options.loadedItemLimit, keeping: kept)
      return
    }
  }
}
