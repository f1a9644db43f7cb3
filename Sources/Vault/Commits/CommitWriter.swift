import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// One commit in the making. Lives while the commit lock is held.
struct CommitWriter {
  let member: Member
  var heads: HeadsState
  let counter: UInt64
  /// The time of the head, and of each record that holds nothing later.
  let time: HybridTime
  /// What this commit has made of each record so far.
  var written: [RecordID: RecordEntry] = [:]
  /// What stands under the names that its edits gave a file.
  var items: [RecordID: [FileName: Item]] = [:]
  /// Names of files that its edits have taken away, and given no other name.
  var removed: [RecordID: Set<FileName>] = [:]
  /// Records that were joined, or brought back by edits of a view, and the copies of what lost: a mount has to show them anew.
  var joined: Set<RecordID> = []
  /// What lost in joins and edits so far, to be kept unless another name of its file has it.
  var lost: [ConflictCopy] = []
  /// Files of several names of which joins and edits have met several states, to be settled.
  var metFiles: [FileID: MetFile] = [:]
  /// Records that could not be written, and files whose content is not to be had.
  var failures: [RecordID: VaultError] = [:]
  var heldBack: [RecordID: [FileName: VaultError]] = [:]
  /// Records that were taken over from late heads and that no head of this device has yet.
  var unwritten: Set<RecordID> = []
  /// The redo records that the edits of this commit stand in.
  var folds: Head.Redone?
  /// Whether a head was put in its place.
  var wroteHead = false
  /// The head that this one goes on from, of the device that this machine was, and since when.
  var former: (head: LoadedHead, above: UInt64)?
  /// Something of a late head of another device is not here, so it is not taken over yet.
  var isWaiting = false
  /// How many barriers had failed before anything was written for it.
  let failedBarriers: UInt64
  var context: VaultContext { member.context }
  var objects: ObjectStore { member.objects }

  init(member: Member, heads: HeadsState) {
    self.member = member
    self.heads = heads
    failedBarriers = member.context.failedBarriers
    let current = heads.last(of: member.context.device.id)?.counter ?? 0
    counter = max(current, heads.counterFloor) + 1
    self.heads.forgetTimeAhead(of: member.context.clock)
    time = self.heads.lastTime.next(now: member.context.clock.milliseconds())
  }

  /// A record as this commit leaves it.
  func entry(_ record: RecordID) -> RecordEntry? { written[record] ?? member.entry(record) }

  /// The revision that an entry of the record names.
  ///
  /// - Throws: `damaged` also where it is another record's: as long as nobody can read it an entry may say what it likes.
  func revision(_ name: ContentDigest, of record: RecordID) throws(VaultError) -> NamedRevision {
    let revision = try member.revision(name)
    guard revision.record == record else {
      throw .damaged(path: objects.path(of: name).string, reason: "it is of another record")
    }
    return NamedRevision(revision, named: name)
  }

  /// The time of a revision over another one: later than all in that, even where a clock was ahead when it was written,
  /// whose time goes no further than to the records that it was written to.
  func time(over base: RecordRevision?) -> HybridTime {
    base.map { max(time, $0.time.next(now: 0)) } ?? time
  }

  /// Why something of the edits so far is not taken; nil if everything is.
  var firstFailure: VaultError? {
    Commit(counter: counter, failures: failures, heldBack: heldBack).firstFailure
  }

  /// Writes a head with all that this commit has made, if it has made anything.
  ///
  /// - Parameter writesLearned: Whether what was learned from other devices alone is worth a head.
  mutating func finish(writesLearned: Bool = false) throws(VaultError) -> Commit {
    let current = heads.last(of: context.device.id)?.counter ?? 0
    guard
      !written.isEmpty || hasLateHeads || hasLinesToTell || writesLearned && !heads.learned.isEmpty
    else {
      return Commit(counter: current, items: items, failures: failures, heldBack: heldBack)
    }
    let entries = Array(written.values)
    // The head must be complete by itself, so it also takes what was learned from other devices.
    let records = Set(written.keys).union(heads.learned)
    // Before the manifest in memory changes, so that a failure leaves it as it was.
    try writeHead(with: records)
    member.state.withLock { state in
      state.take(own: entries)
      state.changes.note(joined)
    }
    return Commit(
      counter: counter, entries: entries, items: items,
      removed: removed.filter { failures[$0.key] == nil }, failures: failures,
      heldBack: heldBack)
  }
}
