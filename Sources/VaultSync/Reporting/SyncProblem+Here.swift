import VaultErrors

extension SyncProblem {
  /// A part of the vault here that is not carried on.
  init(_ error: VaultError, here path: String) {
    switch error {
    case .damaged(_, let reason) where error.isWaiting:
      self = .waiting(path, reason, "It is kept, and not sent yet.")
    case .damaged(let root, .unlisted(let countedHere)):
      self = .unlisted(root, countedHere: countedHere)
    case .away(_, let reason):
      self.init(
        .waiting, .warning, path: path,
        "A part that is left on a remote cannot be had now: \(reason). Nothing is damaged; what needs it waits, and the next "
          + "sync tries again.")
    case .signedByRemovedDevice:
      self.init(
        .waiting, .warning, path: path,
        "The remote says that a device was removed, which this machine has not taken yet: \(error.message) Nothing is "
          + "damaged, and nothing was sent. A sync in both directions takes that first: kinvault sync"
      )
    case .gone:
      self.init(.damagedHere, .damage, path: path, "\(error.message) What needs it was not sent.")
    case .rolledBack(_, let found, let seen):
      // Whoever opens the vault now is asked; only what has it open already comes to sync.
      self.init(
        .damagedHere, .damage, path: path,
        "What is here is older than it was: it is at state \(found), and was at \(seen). It was left alone, and not sent. If "
          + "that was a mistake, put the newer folder back. If an older copy was put there on purpose, copy what is not saved "
          + "out of the mount, take it away with “kinvault unmount --lazy MOUNTPOINT”, and go on from the older folder with "
          + "“kinvault mount --accept-rollback MOUNTPOINT”."
      )
    default:
      self.init(
        .damagedHere, .damage, path: path,
        "What is here is not whole: \(error.message) It was left alone, and not sent. A remote may have what is lost: "
          + "“kinvault check --repair --remote NAME”. Where none has, “kinvault check --repair” goes on with what is left."
      )
    }
  }
}
