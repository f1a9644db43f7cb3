import VaultErrors
import VaultModel

/// What is said of the objects of a member that one side lacks.
extension SyncProblem {
  static func goneMeanwhile(_ member: MemberID) -> SyncProblem {
    SyncProblem(
      .missingThere, .warning, path: "members/\(member.hex)/objects",
      "What was put there a moment ago is gone again: an older copy of the remote is being put back, or another device has "
        + "removed it. The next sync compares what is there, and puts back what is missing.")
  }

  static func putBack(_ count: Int, of member: MemberID) -> SyncProblem {
    SyncProblem(
      .missingThere, .warning, path: "members/\(member.hex)/objects",
      "The remote had lost \(count == 1 ? "an object" : "\(count) objects") that it had taken. "
        + "\(count == 1 ? "It was" : "They were") put back; look after the disk or the folder if it "
        + "happens again.")
  }

  static func putOlder(_ count: Int, of member: MemberID) -> SyncProblem {
    SyncProblem(
      .missingThere, .note, path: "members/\(member.hex)/objects",
      "The remote lacked \(count == 1 ? "an object" : "\(count) objects") of older versions or older keys: another device has "
        + "removed \(count == 1 ? "it" : "them"), the remote has lost \(count == 1 ? "it" : "them"), or "
        + "\(count == 1 ? "it" : "they") could not be had when the rest was put there. \(count == 1 ? "It was" : "They were") "
        + "put there now."
    )
  }

  static func olderAway(_ count: Int, _ reason: String, of member: MemberID) -> SyncProblem {
    SyncProblem(
      .waiting, .warning, path: "members/\(member.hex)/objects",
      "\(count == 1 ? "An object" : "\(count) objects") that only older versions or deleted records need "
        + "\(count == 1 ? "is" : "are") left on another remote, and cannot be had from there now: \(reason). Everything current "
        + "was put there; whoever wants those older versions needs the other remote."
    )
  }

  static func olderGone(_ count: Int, of member: MemberID) -> SyncProblem {
    SyncProblem(
      .missingThere, .note, path: "members/\(member.hex)/objects",
      "\(count == 1 ? "An object" : "\(count) objects") of older versions or deleted records \(count == 1 ? "is" : "are") "
        + "neither here, where attached files are left on remotes, nor there: "
        + "\(count == 1 ? "it is" : "they are") on another remote only, another device has collected "
        + "\(count == 1 ? "it" : "them"), or the remote has lost \(count == 1 ? "it" : "them"). What is current is not concerned."
    )
  }

  static func broughtBack(_ count: Int, of member: MemberID) -> SyncProblem {
    SyncProblem(
      .missingHere, .warning, path: "members/\(member.hex)/objects",
      "\(count == 1 ? "An object was" : "\(count) objects were") missing here, and brought back from the remote; look "
        + "after this machine's disk if it happens again.")
  }

  /// - Parameter error: Why an object could not be read here.
  static func notLookedFor(_ error: VaultError, of member: MemberID) -> SyncProblem {
    SyncProblem(
      .damagedHere, .damage, path: "members/\(member.hex)/objects",
      "Something could not be read here just now, and what it needs was not looked for on the remote, which may have lost it: "
        + "\(error.message) The next sync or check looks again.")
  }

  /// Of what a viewer has, and a repair elsewhere could not read.
  static func stillHere(of member: MemberID) -> SyncProblem {
    SyncProblem(
      .missingThere, .note, path: "members/\(member.hex)/objects",
      "What a record held could not be read on the machine that repaired it, and is still here, where you may only read. It "
        + "was put on the remote. It shows again once the machine of an owner or editor has looked for what it lacks: by itself "
        + "once a week, or with kinvault sync --full")
  }

  /// - Parameter records: Those that need the objects, as far as that is known. Not their names: what a sync found is kept
  ///   unsealed.
  static func notTaken(
    _ path: VaultPath, count: Int, of records: [RecordID] = []
  ) -> SyncProblem {
    let ids = Set(records.map(\.shortHex)).sorted()
    let shown = ids.prefix(3).joined(separator: ", ")
    let others = ids.count > 3 ? " and \(ids.count - 3) more" : ""
    let whose = ids.isEmpty ? "" : " (record \(shown)\(others))"
    return SyncProblem(
      .missingThere, .warning, path: path.string,
      "\(count) of the objects that it needs cannot be had from the remote\(whose). It was not taken; "
        + "everything else goes on, and the next sync tries again. If it stays so, the machine that wrote it can put back "
        + "what the remote has lost: kinvault sync --full. What no machine has any more, kinvault check names there, and "
        + "kinvault check --repair has new machines take the rest.")
  }
}
