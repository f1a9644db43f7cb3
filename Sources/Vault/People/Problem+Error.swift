import BlobStore
import VaultErrors
import VaultModel
import VaultObjects

extension Problem {
  /// A damaged disk keeps what is in the staging folder; nothing durable is.
  static func staging(_ damage: VaultError) -> Problem {
    Problem(
      .damaged, .warning, path: Staging.folder.string,
      reason: "\(damage.message) Only unfinished work of programs that have ended is in this "
        + "folder, nothing that was saved.")
  }

  /// What an error says of a file.
  init(_ error: VaultError, path: String) {
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
}
