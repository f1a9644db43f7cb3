import Synchronization
import Threads
import Vault

/// A member that is shown, where the tree lock is not held.
struct ShownMember: Sendable {
  let member: Member
  let objects: MemberObjects
  /// What others have changed and is not shown yet.
  let news: Changes
  let saving: MemberSaving
  let view: TreeReference<MemberView>
}

/// How what was changed in a member comes to the disk: one commit at a time.
final class MemberSaving: Sendable {
  struct Writing {
    /// The last commit failed or left something out: what is in its objects' places need not be on disk.
    var mustCommit = false
    var thinning = ThinningSchedule()
  }

  let commits = CommitQueue()
  /// Those who wait until what they did is durable, be it by a commit or without.
  let syncs = CommitQueue()
  /// Held through a commit, and while something is logged: whoever has it `inout` is the only one that writes.
  let writing = Guarded(Writing())
  /// Whether what the next commit needs of a remote is being brought here.
  let isBringing = Atomic(false)
}
