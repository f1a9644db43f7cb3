import BlobStore
import Glibc
import Threads
import VaultErrors

import struct SystemPackage.FilePath

/// Says to the other processes of this device that this one may read what the newest heads do not name any more: as long
/// as it does, no mount removes the versions that it has thinned out. Docs/Format.md, "This machine's state".
package final class ReadingMark: Sendable {
  private static let fileName = "reading-lock"
  private let state: StateFolder
  private let lock: Guarded<FileLock?>

  private init(_ state: StateFolder, _ lock: consuming FileLock?) {
    self.state = state
    self.lock = Guarded(lock)
  }

  /// Waits for a mount that is just removing something.
  package static func take(in state: StateFolder) throws(VaultError) -> ReadingMark {
    ReadingMark(state, try sharedLock(in: state))
  }

  private static func sharedLock(in state: StateFolder) throws(VaultError) -> FileLock? {
    guard let folder = state.path else { return nil }
    do {
      return try FileLock(at: folder.appending(fileName), mode: .shared)
    } catch {
      switch error {
      // Who cannot write there must still be able to read.
      case .readOnly, .permission, .noSpace: return nil
      default: throw VaultError(error)
      }
    }
  }

  /// Runs `body` while no other process of this device reads the vault, nor any sync; others wait meanwhile.
  ///
  /// - Returns: False, and `body` did not run, when somebody does.
  package func whileAlone(_ body: () throws(VaultError) -> Void) throws(VaultError) -> Bool {
    guard let folder = state.path else {
      try body()
      return true
    }
    return try lock.withLock { (lock) throws(VaultError) in
      // Another mount sees this one's, so that it removes nothing meanwhile.
      lock = nil
      let result = Result { () throws(VaultError) in
        try Self.alone(at: folder.appending(Self.fileName), state, body)
      }
      lock = try Self.sharedLock(in: state)
      return try result.get()
    }
  }

  private static func alone(
    at path: FilePath, _ state: StateFolder, _ body: () throws(VaultError) -> Void
  ) throws(VaultError) -> Bool {
    let lock = try storing(FileLock.attempt(at: path))
    guard lock != nil, try !state.hasMountElsewhere() else { return false }
    try body()
    withExtendedLifetime(lock) {}
    return true
  }
}

extension StateFolder {
  /// Whether another process serves a mount of the vault: the lock on its file says so. Beside it stands a socket, which one
  /// that was killed leaves.
  package func hasMountElsewhere() throws(VaultError) -> Bool {
    guard let path else { return false }
    let folder: BlobPath = "mounts"
    for entry in try storing(store.list(folder))
    where entry.kind == .blob && !entry.name.hasPrefix("\(getpid())-") {
      let file = path.appending(folder.appending(entry.name).string)
      let lock = try storing(FileLock.attempt(at: file, mode: .shared))
      if lock == nil { return true }
    }
    return false
  }
}
