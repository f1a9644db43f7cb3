import BlobStore
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
    do throws(BlobStoreError) {
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
  func whileAlone(_ body: () throws(VaultError) -> Void) throws(VaultError) -> Bool {
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
    let lock = try storing { () throws(BlobStoreError) in try FileLock.attempt(at: path) }
    guard lock != nil, try !state.hasMountElsewhere() else { return false }
    try body()
    withExtendedLifetime(lock) {}
    return true
  }
}

extension Vault {
  /// Runs `body` while no other process of this device has the vault open, and no sync runs; others wait meanwhile.
  ///
  /// - Returns: False, and `body` did not run, when somebody does.
  package func whileAlone(_ body: () throws(VaultError) -> Void) throws(VaultError) -> Bool {
    try context.reading.whileAlone(body)
  }
}
