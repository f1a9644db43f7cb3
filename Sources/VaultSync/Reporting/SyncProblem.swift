import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel

/// Something that a sync found wrong with a remote, or with what is here, in words for a person.
package struct SyncProblem: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The remote shows an older state than it did.
    case wentBack
    /// A register is older than this machine has seen it.
    case rollback
    /// Two different files with one counter.
    case fork
    /// A file on the remote does not authenticate, or belongs elsewhere.
    case damagedThere
    /// A signed file on the remote that counts for nothing: its device or person has no right to it.
    case untrusted
    /// A statement on the remote is not the one that is here.
    case differs
    /// A file that another one names is not on the remote.
    case missingThere
    /// What was lost here, and the remote had.
    case missingHere
    /// A head that someone has seen, and that nobody shows.
    case withheld
    /// A listing that does not end.
    case endlessListing
    /// More is news on the remote than is taken at once.
    case tooMuchNew
    /// What people have put there for whom nobody vouches, and there is no room for; and members that a removed device has made.
    case strangers
    /// A file on the remote that is no part of a vault.
    case foreignFile
    /// What is here is damaged or not whole, and is not carried on.
    case damagedHere
    /// What is here is from before: the remote had what this device itself wrote later.
    case ownIsNewer
    /// This machine has become a device of its own.
    case parted
    /// A join that would delete or conflict too much without being asked.
    case massChange
    /// Access that is to be taken away, and is not yet.
    case epoch
    /// Whose access was to be taken away cannot be read any more.
    case accessForgotten
    /// What is whole, and counts once something else has come.
    case waiting
  }

  package var kind: Kind
  package var severity: Problem.Severity
  /// The file, relative to the vault folder.
  package var path: String
  /// What is wrong, what was done about it, and what to do next.
  package var text: String

  package init(_ kind: Kind, _ severity: Problem.Severity, path: String, _ text: String) {
    self.kind = kind
    self.severity = severity
    self.path = path
    self.text = text
  }
}

extension SyncProblem {
  /// What is to be said of a register.
  init(_ finding: RegisterFinding, path register: VaultPath, action: RegisterAction) {
    let path = register.string
    switch finding {
    case .wentBack(let shows, let showed):
      let now = shows == 0 ? "it is gone" : "it is at \(shows)"
      let done =
        action == .put || action == .compare
        ? "A sync of this machine puts there what is here."
        : "It was not followed. A device that has the newer state repairs the remote when it syncs."
      self.init(
        .wentBack, .warning, path: path,
        "The remote went back: it showed \(showed) before, and now \(now). An older copy of it was "
          + "put back, or someone hides what came since. \(done)")
    case .olderThanSeen(let shows, let seen):
      self.init(
        .rollback, .warning, path: path,
        "The remote shows \(shows), but this machine has seen \(seen) before. It was not followed.")
    case .forked(let counter) where !register.isHead:
      self.init(
        .fork, .note, path: path,
        "Two different files have the number \(counter): a copy of this device's keys has written there too. One of them, "
          + "the same one everywhere, holds until the device itself writes this file anew with a sync."
      )
    case .forked(let counter):
      self.init(
        .fork, .damage, path: path,
        "Two different files have the number \(counter): a copy of this device's keys has written "
          + "elsewhere, or someone forged one. Neither replaces the other; what is here stays.")
    case .ownIsNewerThere(let here, let there):
      self.init(
        .ownIsNewer, .note, path: path,
        "This machine's folder was at \(here), and the remote has what it wrote up to \(there): "
          + "a backup was put back here. What is newer was taken from the remote.")
    }
  }

  /// A file of the remote that was not followed.
  init(_ error: VaultError, there path: String) {
    switch error {
    case .damaged(_, let reason) where error.isWaiting:
      self = .waiting(path, reason, "It was not taken yet; everything else goes on.")
    case .damaged(let root, .unlisted(let countedHere)):
      self = .unlisted(root, countedHere: countedHere)
    case .damaged(_, let reason):
      self.init(
        .damagedThere, .warning, path: path,
        "On the remote it does not hold: \(reason). It was not taken; everything else goes on.")
    case .missing(let missing):
      self.init(
        .missingThere, .warning, path: path,
        missing == path
          ? "It is not on the remote, though something there names it."
          : "It needs \(missing), which is not there. It was not taken.")
    default:
      self.init(
        .damagedThere, .warning, path: path, "It cannot be used: \(error.message)")
    }
  }

  /// This device's own head on the remote, which does not hold now and may name what nothing else does.
  ///
  /// - Parameter remote: Its name, where this machine may become a device of its own beside the head; nil where not.
  static func ownHeadStays(
    _ path: VaultPath, _ error: VaultError, partingWith remote: String?
  ) -> SyncProblem {
    var state =
      "This machine may have written it before it was put back to an earlier state, so it stays: until it holds, nobody gets "
      + "what this machine writes of this member from this remote. Sync with the remote or the machine that has what is missing."
    if let remote {
      state +=
        " If that is nowhere any more: once this machine has saved as often since, “kinvault sync \(remote) --full” has it go on "
        + "as a device of its own, and the head stays there as another one's. What this machine wrote of this member is written "
        + "anew then, and not signed any more."
    }
    guard case .damaged(_, let reason) = error else {
      return SyncProblem(
        .damagedThere, .warning, path: path.string, "It cannot be used: \(error.message) \(state)")
    }
    if error.isWaiting { return .waiting(path.string, reason, state) }
    return SyncProblem(
      .damagedThere, .warning, path: path.string,
      "On the remote it does not hold: \(reason). \(state)")
  }

  /// - Parameter state: What becomes of it for now.
  static func waiting(_ path: String, _ reason: Flaw, _ state: String) -> SyncProblem {
    SyncProblem(
      .waiting, .warning, path: path, "It is whole and does not count yet: \(reason). \(state)")
  }

  /// - Parameter path: A statement, or the folder of a member of which nothing is there.
  static func lostThere(_ path: String) -> SyncProblem {
    SyncProblem(
      .wentBack, .warning, path: path,
      "The remote showed it before, and has it no more: an older copy of it was put back, or someone has removed it. Without "
        + "such files other machines cannot open what is there. A sync of this machine puts it there again."
    )
  }

  /// This device's own head was gone here, and the remote had it.
  static func ownWasLost(_ path: VaultPath) -> SyncProblem {
    SyncProblem(
      .ownIsNewer, .note, path: path.string,
      "What this machine wrote last was missing from the folder here: an older copy of the folder was put back, or somebody "
        + "has removed the file. The remote had it.")
  }

  static func wentBackMeanwhile(_ path: VaultPath) -> SyncProblem {
    SyncProblem(
      .wentBack, .warning, path: path.string,
      "The remote went back while this machine was syncing with it: an older copy of it is being put back. What is new here "
        + "was not put there yet; the next sync does that.")
  }

  static func hadElsewhere(_ path: VaultPath, isPutBack: Bool) -> SyncProblem {
    SyncProblem(
      .missingThere, .warning, path: path.string,
      "The remote has lost it. Another remote had it"
        + (isPutBack ? ", and it was put back." : "; a sync that may also put puts it back."))
  }

  static func withheld(_ head: WithheldHead, of member: MemberID) -> SyncProblem {
    SyncProblem(
      .withheld, .note, path: VaultPath.head(member, head.device).string,
      "Device \(head.witness.shortHex) has seen it at \(head.seen), but here and there is at most "
        + "\(head.shown): it was not carried on yet, or is being withheld.")
  }

  /// A removed device has written a file that does not count, perhaps before it was told that it is removed.
  static func removedDevice(_ path: VaultPath) -> SyncProblem {
    SyncProblem(
      .untrusted, .note, path: path.string,
      "It was written by a device that has been removed, and counts no more.")
  }

  /// A removed device has made a member, and no closing lists it: nothing of it is taken or sent.
  static func unlisted(_ root: String, countedHere: Bool) -> SyncProblem {
    SyncProblem(
      .strangers, .note, path: root,
      "A member that was made on a device which has been removed. "
        + (countedHere
          ? "It counts no more; what is here is kept, and nothing of it was sent or taken. "
          : "This machine has never shown it, and nothing of it was taken. ")
        + "Whoever removed the device can bring it back, on a machine that had shown it: kinvault member keep"
    )
  }

  static func writtenAfterRemoval(_ path: VaultPath) -> SyncProblem {
    SyncProblem(
      .untrusted, .warning, path: path.string,
      "A device that has been removed has written it after that. It counts for nothing, and was not taken. If the device was "
        + "stolen, whoever has it can still write to the remote: change what it signs in there with."
    )
  }

  static func closed(_ path: VaultPath) -> SyncProblem {
    SyncProblem(
      .epoch, .note, path: path.string,
      "Owners changed the keys at the same time, and this is sealed with one that you were not given. It was not "
        + "taken; an owner's next sync brings both together.")
  }

  /// - Parameter name: What the device is called of which its writer follows another line; nil where that is its writer.
  static func stray(_ path: VaultPath, lineOf name: String?) -> SyncProblem {
    let cause =
      if let name {
        "It goes on from what is not known here of “\(name)”: it is the machine of “\(name)” that was put back to an "
          + "earlier state, or copied."
      } else {
        "Its machine was put back to an earlier state, or copied: it does not go on from what is known here."
      }
    return SyncProblem(
      .fork, .warning, path: path.string,
      "\(cause) Nothing of either is lost. As soon as one of the two machines hears of the other it goes on as a device "
        + "of its own, and both are joined: sync on both, with this remote. If one of them is not in your hands any more, "
        + "remove \(name.map { "“\($0)”" } ?? "the device"), and what the other one wrote is joined: "
        + "kinvault device revoke")
  }

  static func parted(_ path: VaultPath, name: String) -> SyncProblem {
    SyncProblem(
      .parted, .note, path: path.string,
      "This machine was put back to an earlier state, or copied. It goes on as \(name): “kinvault device list” shows "
        + "both. What either has written is kept.")
  }

  static func renamed(_ path: VaultPath, name: String) -> SyncProblem {
    SyncProblem(
      .parted, .note, path: path.string,
      "This machine, which was put back to an earlier state, or copied, goes on as \(name) from now on: another one of your "
        + "devices had the same name. To call it otherwise: kinvault device rename")
  }

  static func unusablePack(_ path: String, _ reason: String) -> SyncProblem {
    SyncProblem(
      .damagedThere, .warning, path: path,
      "\(reason) What it should hold was taken one by one, which only takes longer; nothing is missing for it. "
        + "The pack may be deleted there.")
  }

  /// - Parameter isToBeRemoved: Whether a sync removes it by itself once it is old enough.
  static func foreign(_ path: String, isToBeRemoved: Bool = false) -> SyncProblem {
    let origin = "A sync that was interrupted has left it, or one is putting it there now."
    let text =
      if isToBeRemoved {
        "\(origin) There is nothing to do: it is ignored, and a sync removes it once it is a week old."
      } else if TemporaryName.ends(path) {
        "\(origin) It is ignored, and may be deleted there while nobody syncs."
      } else {
        "It is no part of a vault, and is ignored."
      }
    return SyncProblem(.foreignFile, .note, path: path, text)
  }

  static func massChange(_ change: MassChange, of member: MemberID) -> SyncProblem {
    SyncProblem(
      .massChange, .damage, path: "members/\(member.hex)",
      "What is on the remote would delete \(change.deletedCount) and conflict with "
        + "\(change.conflictCount) of \(change.liveCount) records. Nothing of this member was "
        + "joined. Look what happened on the other device; if it is meant, accept the mass change.")
  }

  static func epochNotBegun(_ failure: MemberFailure) -> SyncProblem {
    SyncProblem(
      .epoch, .damage, path: failure.error.file ?? "members/\(failure.member.hex)",
      "Access that has ended could not be taken away, or what is left of it not be removed: "
        + "\(failure.error.message) The next sync tries again.")
  }

  /// - Parameter isTold: Whether this machine can tell that the one here is right.
  static func differs(_ path: VaultPath, isTold: Bool) -> SyncProblem {
    SyncProblem(
      .differs, .warning, path: path.string,
      "It is written once, and the remote has another one than is here. "
        + (isTold
          ? "The one here, which is verified, stays."
          : "The one here stays; whether it is the right one only the device can tell that it is for, and does when it "
            + "syncs with this remote."))
  }
}

extension SyncProblem {
  /// Whether the remote has not what it had.
  var isLoss: Bool {
    (kind == .missingThere || kind == .wentBack) && severity > .note
  }

  /// What is to be remembered until a person has looked at it: nobody does it who keeps to the format. Nil for all else, also
  /// for what mostly is innocent: a head that was not carried on yet, or what a device wrote before it knew of its removal.
  package var suspicion: StateFolder.Suspicion? {
    switch kind {
    case .wentBack, .rollback, .fork, .damagedThere, .untrusted, .differs, .withheld:
      severity > .note
        ? StateFolder.Suspicion(kind: kind.rawValue, path: path, text: text) : nil
    case .missingThere, .missingHere, .endlessListing, .tooMuchNew, .strangers, .foreignFile,
      .damagedHere, .ownIsNewer, .parted, .massChange, .epoch, .accessForgotten, .waiting:
      nil
    }
  }
}
