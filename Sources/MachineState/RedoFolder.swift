import BlobStore
import Threads
import VaultCrypto
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

/// The folder in this machine's state in which one running process keeps its redo files: one for each member that
/// something was synced of. Docs/Format.md, "Redo files".
///
/// It is made when it is first needed. Who finds it without its lock being held knows that its process has died.
package final class RedoFolder: Sendable {
  package static let parent: BlobPath = "redo"
  /// Held while a folder is made, and while those that crashes left are emptied.
  package static let lockName = "redo-lock"

  package let writer: RedoWriterID
  private let state: StateFolder
  private let made = Guarded(Made())

  private struct Made: ~Copyable {
    var isMade = false
    // Nil where the state lies in no folder.
    var lock: FileLock?
  }

  package init(state: StateFolder) {
    self.state = state
    writer = RedoWriterID(storage: Bytes8(exactly: randomBytes(RedoWriterID.byteCount)))
  }

  package var path: BlobPath { Self.path(of: writer) }

  package static func path(of writer: RedoWriterID) -> BlobPath { parent.appending(writer.hex) }

  package static func lockPath(of writer: RedoWriterID) -> BlobPath {
    path(of: writer).appending("lock")
  }

  package func path(of member: MemberID) -> BlobPath { path.appending(member.hex) }

  /// Makes the folder, durably, unless it is there.
  package func make() throws(VaultError) {
    try made.withLock { (made) throws(VaultError) in
      guard !made.isMade else { return }
      made.lock = try makeLocked()
      made.isMade = true
    }
  }

  private func makeLocked() throws(VaultError) -> FileLock? {
    let lockPath = Self.lockPath(of: writer)
    guard let root = state.path else {
      try storing(state.store.replace(lockPath, [], durably: true))
      return nil
    }
    // Nobody must find the folder without its lock.
    let other = try storing(FileLock(at: root.appending(Self.lockName)))
    try storing(state.store.replace(lockPath, [], durably: true))
    let lock = try storing(FileLock(at: root.appending(lockPath.string)))
    withExtendedLifetime(other) {}
    return lock
  }

  /// The process ends.
  ///
  /// - Parameter isNeeded: Something in it is in no commit; then it stays for whoever comes next.
  package func close(isNeeded: Bool) {
    made.withLock { made in
      guard made.isMade else { return }
      if !isNeeded { state.removeRedoFiles(of: writer) }
      made.lock = nil
      made.isMade = false
      if !isNeeded { state.removeRedoFolder(of: writer) }
    }
  }
}

extension StateFolder {
  /// Whether this process has redo files, or has died and left some.
  package func hasRedoFolder(of writer: RedoWriterID) throws(VaultError) -> Bool {
    let path = RedoFolder.lockPath(of: writer)
    return try storing(store.size(of: path)) != nil
  }

  /// Removes what a process would have brought in for members, while its lock is still held.
  fileprivate func removeRedoFiles(of writer: RedoWriterID) {
    let folder = RedoFolder.path(of: writer)
    // What stays is brought in once more by the next process, which changes nothing.
    for entry in (try? store.list(folder)) ?? [] where MemberID(hex: entry.name) != nil {
      try? store.remove(folder.appending(entry.name))
    }
  }

  /// Removes the folder of a process of which nothing is left to do. Its lock must not be held any more: NFS and FUSE keep a
  /// name for a removed file that is open, and so the folder is not empty.
  package func removeRedoFolder(of writer: RedoWriterID) {
    // What cannot be removed now, the next process removes.
    try? store.removeFolder(RedoFolder.path(of: writer))
  }

  /// The processes of this device, but for one, that have redo files.
  package func redoWriters(besides own: RedoWriterID? = nil) throws(VaultError) -> [RedoWriterID] {
    let entries = try storing(store.list(RedoFolder.parent))
    return entries.compactMap { $0.isFolder ? RedoWriterID(hex: $0.name) : nil }
      .filter { $0 != own }
  }

  /// Whether a process died and left what is in no commit: the next one that opens the vault brings it in.
  package func hasRedoLeft() throws(VaultError) -> Bool { try !deadRedoWriters().isEmpty }

  /// The files of processes that have died: what is in them is in no commit, and nobody has it once this state is removed.
  package func redoFilesLeft() throws(VaultError) -> [BlobPath] {
    try redoFiles(of: deadRedoWriters())
  }

  /// The members of which processes have redo files, whether they live or not.
  package func membersWithRedoFiles() throws(VaultError) -> Set<MemberID> {
    try Set(redoFiles(of: redoWriters()).compactMap { MemberID(hex: $0.name) })
  }

  private func redoFiles(of writers: [RedoWriterID]) throws(VaultError) -> [BlobPath] {
    var files: [BlobPath] = []
    for writer in writers {
      let folder = RedoFolder.path(of: writer)
      for entry in try storing(store.list(folder)) where MemberID(hex: entry.name) != nil {
        files.append(folder.appending(entry.name))
      }
    }
    return files
  }

  private func deadRedoWriters() throws(VaultError) -> [RedoWriterID] {
    let writers = try redoWriters()
    guard let root = path else { return writers }
    var dead: [RedoWriterID] = []
    for writer in writers {
      if try lock(ofDead: writer, in: root) != nil { dead.append(writer) }
    }
    return dead
  }

  /// The lock of a process that has died; nil while it lives, or when it has just ended and taken its folder away.
  ///
  /// - Parameter root: The folder of this state.
  package func lock(
    ofDead writer: RedoWriterID, in root: FilePath
  ) throws(VaultError) -> FileLock? {
    do {
      return try FileLock.attempt(at: root.appending(RedoFolder.lockPath(of: writer).string))
    } catch {
      if case .notFound = error { return nil }
      throw VaultError(error)
    }
  }
}
