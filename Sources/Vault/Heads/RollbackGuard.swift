import MachineState
import VaultErrors
import VaultModel

/// What this machine has seen of registers before, and whether a folder that shows less is gone on with.
struct RollbackGuard: Sendable {
  /// Loaded before any register is read: one that is written meanwhile must not look like a rollback.
  let marks: Watermarks
  /// An older folder was put back on purpose: what it shows is what was seen.
  let isLifted: Bool
}

extension StateFolder {
  /// Takes an older register, or that there is none, for what was seen; on disk when this returns.
  func acceptRollback(
    of path: VaultPath, to counter: UInt64, _ hash: FileHash
  ) throws(VaultError) {
    try withCommitLock { () throws(VaultError) in
      try updateWatermarks(durably: true) { $0.accept(path, counter: counter, hash: hash) }
    }
  }
}
