import BlobStore

extension Problem {
  /// What an error says of a file.
  package init(_ error: VaultError, path: String) {
    switch error {
    case .missing(let path):
      self.init(.missing, .damage, path: path, reason: "it is not there")
    case .damaged(let path, let reason) where error.isWaiting:
      self.init(.waiting, .warning, path: path, reason: "\(reason); it is kept until then")
    case .damaged(let path, .unlisted(let countedHere)):
      let reason = Flaw.unlisted(countedHere: countedHere)
      self.init(.unlisted, countedHere ? .warning : .note, path: path, reason: "\(reason)")
    case .damaged(let path, let reason):
      self.init(.damaged, .damage, path: path, reason: "\(reason)")
    case .rolledBack(let path, let found, let seen):
      self.init(
        .rollback, .warning, path: path,
        reason: "it is at \(found), but \(seen) was seen before: an older copy was put back")
    case .signedByRemovedDevice(let path):
      self.init(
        .removedDevice, .note, path: path,
        reason:
          "its device has been removed, so it counts no more; what was fetched of it before is taken over"
      )
    case .forked(let path, let counter):
      self.init(
        .fork, .damage, path: path, reason: "another file with the counter \(counter) was seen")
    case .branched(let path, _):
      self.init(
        .fork, .warning, path: path,
        reason:
          "its machine, or another one whose work it goes on from, was put back to an earlier state, or copied, and it "
          + "does not go on from what is known here; nothing of either is lost, and the next sync of the machine that was "
          + "makes it a device of its own"
      )
    default:
      self.init(.damaged, .damage, path: path, reason: "it cannot be read: \(error.message)")
    }
  }

  /// A file that is no part of a vault.
  package static func foreign(_ path: String) -> Problem {
    Problem(
      .foreignFile, .note, path: path,
      reason: TemporaryName.ends(path)
        ? "a program that was interrupted has left it, or one is writing it now; it is ignored, and may be deleted while "
          + "nothing uses the vault"
        : "it is no part of a vault, and is ignored")
  }

  /// A file that this machine remembers and the folder lacks.
  package static func gone(_ path: String, isReadOnly: Bool) -> Problem {
    Problem(
      .rollback, .warning, path: path,
      reason: isReadOnly
        ? "it was here before, and is gone: an older copy of the folder was put back, or somebody hides it; what "
          + "this machine remembers of it counts"
        : "it was gone, as in an older copy of the folder, and has been put back from what this machine remembers"
    )
  }
}
