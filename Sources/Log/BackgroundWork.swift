import Logging

/// What a mount does while nobody looks, and the page.
package enum BackgroundWork: String, CaseIterable, Hashable, Sendable {
  /// Making what was changed part of the vault.
  case commit
  /// Sealing what stays open for long.
  case seal
  /// Looking for what other devices wrote, and taking it.
  case refresh
  /// Reading what they wrote, to show it.
  case reading
  /// Joining what was written in two places.
  case join
  /// Writing down what was synced, so that no commit has to be waited for.
  case redoLog
  /// Bringing in what was saved last before a crash.
  case redo
  /// Thinning the versions that this mount made.
  case thinning
  /// Removing objects under old keys.
  case oldObjects
  /// Writing the audit log.
  case audit
  /// Syncing a remote.
  case sync
  /// Listening to a remote's doorbell.
  case doorbell
  /// Beginning an epoch: taking access away for good.
  case epoch
  /// Having the kernel forget what it knew.
  case invalidation
  /// Answering the kernel.
  case serving
  /// Noting in the state that there is a mount.
  case registration
  /// Noticing changes in folders, and the network.
  case watching
  /// Removing what other programs keep of the mount.
  case traces
  /// Committing the last changes and closing the vault when the mount ends.
  case ending
  /// What somebody has begun on the page: a sync, a check, new keys.
  case page

  /// An error where something that a person did may be lost, else a warning: it is tried again, or costs little.
  var level: Logger.Level {
    switch self {
    case .commit, .seal, .ending, .serving, .epoch: .error
    default: .warning
    }
  }

  /// Whether `failures` in the state lists it. What is wrong with a remote is kept with the remote, and what was begun on
  /// the page is begun again by a person only.
  var isKept: Bool { self != .sync && self != .page }
}
