import Log
import Threads
import Vault
import VaultErrors
import VaultModel

/// The mounted view of a vault without a kernel: inodes, names, attributes and open files.
///
/// The top directory lists the members; every directory in a member is a record and every file an item. Names and
/// attributes are answered from memory. Changes are committed in groups by a background thread (`start`), by `sync`
/// of a file or directory, and by `commitNow`. Safe to use from any thread; calls block.
///
/// **Lock order**, in this module's one place for it. A thread that holds a lock takes only locks that stand further down:
/// 1. `FileTree.top`: making members.
/// 2. `MemberSaving.writing`: commits. Held through I/O.
/// 3. `Draft.content` of one file (two drafts are never locked at once).
/// 4. `FileTree.naming`: naming members. Held through I/O.
/// 5. `FileTree.state`, the tree lock: names, attributes, what is pending. Held for memory accesses only: no
///    I/O, no decryption and no waiting happens under it.
/// 6. Leaves, which call nothing: `DirtyBudget`, `ChunkMemory`, `SealingPool`, `SealTicket`, `StagedObjects`,
///    `CommitQueue`, `Committer`, and the locks inside module Vault.
package final class FileTree: Sendable {
  /// The inode number of the top directory.
  package static let root: Inode = 1

  let vault: Vault
  let options: FileTreeOptions
  /// Held by whoever makes or renames members.
  let top = Guarded(())
  /// Held by whoever gives members the names that they show under.
  private let naming = Guarded(())
  private let state: Guarded<TreeState>
  let resources: Draft.Resources
  let budget: DirtyBudget
  let committer: Committer
  let thinner = Committer()
  let invalidationHandler = Guarded<(@Sendable (Invalidation) -> Void)?>(nil)
  let writeBackHandler = Guarded<WriteBack?>(nil)
  let unsavedHandler = Guarded<(@Sendable ([Unsaved]) -> Void)?>(nil)
  /// What looks at what others have written could not do, and the log says already.
  let lookTrouble = Guarded<[LookTrouble: String]>([:])

  /// A tree over an open vault, which the tree does not close. The names that members show under are read.
  package static func load(vault: Vault, options: FileTreeOptions) -> FileTree {
    let tree = FileTree(vault: vault, options: options)
    _ = tree.nameMembers(adopts: true)
    return tree
  }

  private init(vault: Vault, options: FileTreeOptions) {
    self.vault = vault
    self.options = options
    committer = Committer()
    let pool = ChunkMemory(chunkSize: ChunkLayout.format.chunkSize)
    resources = Draft.Resources(pool: pool, sealing: SealingPool())
    budget = DirtyBudget(pool: pool, limit: options.dirtyByteLimit)
    state = Guarded(TreeState(options: options, committer: committer))
  }

  /// Where it is said what fails while nobody looks.
  package var log: BackgroundLog { vault.log }

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

  // MARK: The tree lock

  /// Runs `body` with what the tree shows; others wait meanwhile. Nodes stay behind: what `body` returns can be sent.
  func withTree<Answer: Sendable, Failure: Error>(
    _ body: (inout sending TreeState) throws(Failure) -> sending Answer
  ) throws(Failure) -> Answer {
    try state.withLock(body)
  }

  /// Runs `body` with what the tree shows, also where it needs more than is in memory: removes what `body` names as an
  /// obstacle, without the lock, and runs it again. It changes nothing before it throws.
  func look<Answer: Sendable>(
    _ body: (inout sending TreeState) throws(TreeObstacle) -> sending Answer
  ) throws(FileError) -> Answer {
    while true {
      do { return try state.withLock(body) } catch {
        switch error {
        case .failed(let error): throw error
        case .missing(let files): try load(files)
        }
      }
    }
  }

  /// Has the members show under their names as these are now. They are asked for without the tree lock, since a new one is looked
  /// up in files and kept. What it returns nobody else is told: see `renewNames`.
  ///
  /// - Parameters:
  ///   - adopts: Whether to take in others first, if the vault has others than are shown.
  ///   - given: The name that this person has just given a member: none that is not here keeps it from having it.
  /// - Returns: The names under which another member shows than before, or none; and whether others were taken in.
  func nameMembers(
    adopts: Bool = false, given: (name: FileName, member: MemberID)? = nil
  ) -> (changed: Set<FileName>, areOthers: Bool) {
    naming.withLock { _ in
      if let (name, member) = given {
        let present = withTree { Set($0.views.keys) }
        vault.memberNames.free(name, for: member, present: present)
      }
      while true {
        let members = adopts ? vault.members : nil
        let titles = withTree { $0.titles(adopting: members) }
        let names = vault.memberNames.names(of: titles.all, own: titles.own)
        let named: (changed: Set<FileName>, areOthers: Bool)? = withTree { tree in
          // Somebody may have renamed one meanwhile.
          guard tree.titles(adopting: members) == titles else { return nil }
          let areOthers = if let members { !tree.shows(members) } else { false }
          let changed = tree.renamed { tree in
            if areOthers, let members { tree.adopt(members, audit: vault.audit) }
            tree.nameMembers(names)
          }
          if !changed.isEmpty { tree.topChanged = .now }
          return (changed, areOthers)
        }
        if let named { return named }
      }
    }
  }

  // MARK: Loading. The tree lock must not be held.

  private func load(_ missing: MissingFiles) throws(FileError) {
    switch missing.need {
    case .all(let kept): try loadAll(missing, keeping: kept)
    case .readable:
      do { try loadAll(missing, keeping: []) } catch {
        guard error == .inputOutput else { throw error }
        try salvage(missing)
      }
    case .names(let file, let kept):
      var isRead = true
      do { try loadAll(missing, keeping: kept) } catch { isRead = false }
      withTree { tree in
        tree[file].openCount -= 1
        if !isRead { tree[file].unseenLinkRecords.remove(missing.record) }
      }
    }
  }

  private func loadAll(
    _ missing: MissingFiles, keeping kept: [TreeReference<DirectoryNode>]
  ) throws(FileError) {
    let member = missing.member.member
    while true {
      guard let entry = member.entry(missing.record) else { throw .notFound }
      let items: [Item]
      let xattrs: [Xattr]
      do {
        (items, xattrs) = try member.contents(of: entry)
      } catch {
        throw missing.member.objects.failure(error, reading: entry.revision)
      }
      let changed: [Invalidation]? = withTree { tree in
        let directory = tree[missing.directory]
        // One that was forgotten meanwhile shows to nobody, and nothing would take what it costs off again.
        guard directory.files == nil, tree.nodes[directory.inode] === directory else { return [] }
        guard member.entry(missing.record)?.revision == entry.revision else { return nil }
        // What a removed record still holds shows nowhere.
        let changed = tree.install(
          directory.isRemoved ? [] : items, xattrs: xattrs, in: directory)
        tree.evict(keeping: kept)
        return changed
      }
      if let changed { return invalidate(changed) }
    }
  }

  /// Reads what can be read of a directory that cannot be loaded.
  ///
  /// - Throws: `inputOutput` when that is nothing at all.
  private func salvage(_ missing: MissingFiles) throws(FileError) {
    let member = missing.member.member
    guard let entry = member.entry(missing.record) else { throw .notFound }
    let found: ReadableItems
    do {
      found = try member.readableItems(of: member.revision(entry.revision))
    } catch {
      throw missing.member.objects.failure(error, reading: entry.revision)
    }
    withTree { tree in
      let directory = tree[missing.directory]
      guard directory.files == nil else { return }
      directory.salvage = Salvage(found, of: entry.revision)
      // The kernel is told of files while none are loaded here.
      directory.wasEvicted = true
    }
  }
}
