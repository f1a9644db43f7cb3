import BlobStore
import Threads
import VaultCrypto
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

/// What belongs to this machine alone and never travels with the vault: its keys and how they are unlocked, the
/// watermarks and the commit lock. Docs/Format.md, "This machine's state".
package final class StateFolder: Sendable {
  /// Nil in tests that keep the state in memory.
  package let path: FilePath?
  package let store: any LocalStore
  private let hasKeptWatermarks = Guarded(false)

  /// The state of the vault `id` below `root`; the folder is made, with mode 0700, if it is missing.
  package static func open(root: FilePath, vault id: VaultID) throws(VaultError) -> StateFolder {
    let path = root.appending(id.hex)
    let store = try storing(DirectoryStore.make(path))
    return StateFolder(path: path, store: store)
  }

  /// Removes all that this machine keeps of a vault, keys and remotes among them. Nobody may have it open.
  package static func remove(root: FilePath, vault id: VaultID) throws(VaultError) {
    try storing(DirectoryStore(opening: root).removeFolder(BlobPath(id.hex)))
  }

  /// A state kept in `store`, without locks between processes.
  package convenience init(store: any LocalStore) { self.init(path: nil, store: store) }

  private init(path: FilePath?, store: any LocalStore) {
    self.path = path
    self.store = store
  }

  /// The folder below which every vault's state lies on this machine: `$XDG_STATE_HOME/kinvault`,
  /// by default `~/.local/state/kinvault`.
  package static func defaultRoot(environment: (String) -> String?) -> FilePath {
    if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") {
      return FilePath(state).appending("kinvault")
    }
    return FilePath(environment("HOME") ?? "/").appending(".local/state/kinvault")
  }

  /// The path of one of the state's files, for messages.
  package func describe(_ name: BlobPath) -> String {
    path?.appending(name.string).string ?? name.string
  }

  /// A file of the state; nil if it is not there.
  package func readIfThere(_ path: BlobPath, limit: Int) throws(VaultError) -> [UInt8]? {
    do { return try store.read(path, limit: limit) } catch {
      if case .notFound = error { return nil }
      throw VaultError(error)
    }
  }

  /// `readIfThere` of a file that is lost without harm; nil also where it is larger than this machine writes it.
  package func readIfUsable(_ path: BlobPath, limit: Int) throws(VaultError) -> [UInt8]? {
    do { return try store.read(path, limit: limit) } catch {
      switch error {
      case .notFound, .tooLarge: return nil
      default: throw VaultError(error)
      }
    }
  }

  /// The ids in such a file, one behind the other; none where there is none.
  ///
  /// - Parameter limit: How many are written there at the most.
  package func loadIDs<ID: FixedBytes>(
    at path: BlobPath, limit: Int
  ) throws(VaultError) -> Set<ID> {
    let size = ID.byteCount
    guard let bytes = try readIfUsable(path, limit: limit * size) else { return [] }
    return Set(
      stride(from: 0, through: bytes.count - size, by: size).compactMap {
        ID(bytes[$0..<$0 + size])
      })
  }

  /// Replaces such a file, without waiting for the disk; does nothing where nothing can be written.
  package func replaceIfWritable(_ path: BlobPath, _ bytes: [UInt8]) throws(VaultError) {
    do { try store.replace(path, bytes, durably: false) } catch {
      switch error {
      case .readOnly, .permission, .noSpace: return
      default: throw VaultError(error)
      }
    }
  }

  // MARK: Watermarks

  private static let watermarksPath: BlobPath = "watermarks"
  private static let keptWatermarksPath: BlobPath = "watermarks-kept"

  /// The newest register seen of everyone; empty on a new machine.
  ///
  /// A power cut may tear the file, which is not waited for: then what was kept when the process that
  /// wrote it began.
  ///
  /// - Throws: `damaged` when neither is whole.
  package func loadWatermarks() throws(VaultError) -> Watermarks {
    do {
      if let marks = try loadWatermarks(at: Self.watermarksPath) { return marks }
    } catch {
      guard case .damaged = error, let kept = try loadWatermarks(at: Self.keptWatermarksPath)
      else { throw error }
      return kept
    }
    return try loadWatermarks(at: Self.keptWatermarksPath) ?? Watermarks()
  }

  /// - Returns: Nil if the file is not there.
  private func loadWatermarks(at path: BlobPath) throws(VaultError) -> Watermarks? {
    // As much as others write: the state is read whatever its size, or the vault would be shut for good.
    guard let file = try readIfThere(path, limit: .max) else { return nil }
    let message = Array(file.dropFirst(FileHash.byteCount))
    guard Array(file.prefix(FileHash.byteCount)) == Digest.sha256(message).bytes else {
      throw .damaged(path: describe(path), reason: "its checksum is wrong")
    }
    do { return try Watermarks(decoding: message) } catch {
      throw VaultError(error, path: describe(path))
    }
  }

  /// Changes the watermarks as they are on disk now. The caller holds the commit lock.
  ///
  /// - Parameter durably: Whether they are on disk when this returns; a commit does not wait for that.
  package func updateWatermarks(
    durably: Bool = false, _ change: (inout Watermarks) -> Void
  ) throws(VaultError) {
    var marks = try loadWatermarks()
    let before = marks
    change(&marks)
    guard marks != before else { return }
    if durably {
      try store(marks, at: Self.watermarksPath, durably: true)
      try store(marks, at: Self.keptWatermarksPath, durably: true)
    } else {
      try keepOnce(before)
      try store(marks, at: Self.watermarksPath, durably: false)
    }
  }

  /// Puts the watermarks as they are where `updateWatermarks` keeps them before it first replaces them: a state that takes
  /// nothing says so here, before anything is changed. The caller holds the commit lock.
  package func keepWatermarks() throws(VaultError) {
    if hasKeptWatermarks.withLock({ $0 }) { return }
    try keepOnce(try loadWatermarks())
  }

  /// Before this process first replaces the watermarks, puts those it found where a power cut cannot tear them.
  private func keepOnce(_ marks: Watermarks) throws(VaultError) {
    try hasKeptWatermarks.withLock { (hasKept) throws(VaultError) in
      if hasKept { return }
      try store(marks, at: Self.keptWatermarksPath, durably: true)
      hasKept = true
    }
  }

  private func store(
    _ marks: Watermarks, at path: BlobPath, durably: Bool
  ) throws(VaultError) {
    let message = marks.encoded()
    let bytes = Digest.sha256(message).bytes + message
    try storing(store.replace(path, bytes, durably: durably))
  }

  // MARK: Locks

  /// Holds the lock that commits of this device take in turn, for as long as `body` runs.
  package func withCommitLock<Value>(
    _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    try withLock("commit-lock", body)
  }

  /// Holds the named lock between this machine's processes for as long as `body` runs.
  package func withLock<Value>(
    _ name: String, _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value {
    guard let path else { return try body() }
    let lock = try storing(FileLock(at: path.appending(name)))
    let value = try body()
    withExtendedLifetime(lock) {}
    return value
  }
}
