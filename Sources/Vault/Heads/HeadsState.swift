import MachineState
import VaultCrypto
import VaultModel
import VaultPeople

/// What a process knows of the heads of one member.
struct HeadsState: Sendable {
  /// The epoch in use when the heads were read; nil before.
  var epoch: StatementID?
  /// The device that this machine was when the heads were read; nil before.
  var owner: DeviceID?
  /// The member's owners when all heads were read; nil before.
  var owners: Set<PersonID>?
  /// The newest head of each device that counts and is followed; late ones until they are taken over.
  var loaded: [DeviceID: LoadedHead] = [:]
  /// What this machine wrote as the device that it was, while it is still to be written anew: meanwhile nothing else of that
  /// device is followed.
  var former: LoadedHead?
  /// Late heads of other devices that a head of another epoch has taken over: nothing of them is needed.
  var takenOver: [DeviceID: LoadedHead] = [:]
  /// Late heads that were found, while heads are read: others name them before their turn comes. Nothing at any other time.
  var lateFound: [DeviceID: LoadedHead] = [:]
  /// How far the heads come that were found, while heads are read: what is said of their devices is believed up to there.
  /// Nothing at any other time.
  var countersFound: [DeviceID: UInt64] = [:]
  /// What is known only from late heads, by the device whose head brought it.
  var broughtLate: [DeviceID: Set<ContentDigest>] = [:]
  /// The fingerprints of the head files as they were when they were read.
  var seen: [DeviceID: UInt64] = [:]
  /// What keeps heads of other devices from counting yet; these are not among those seen.
  var waiting: [DeviceID: Obstacle] = [:]
  /// Devices whose head does not hold, with the statements that it was judged by: a program that copies file by file
  /// may bring others later.
  var refused: [DeviceID: StatementMarks] = [:]
  /// What this device's next head goes on from.
  var ownSegments = HeadSegments()
  /// Records learned from other devices that this device's head does not have yet.
  var learned: Set<RecordID> = []
  /// Those of these that only this machine knows, from what it wrote before it was out or an older folder was put back.
  var rest: Set<RecordID> = []
  /// What this machine wrote when its person could write, and nobody has got: it does not count.
  var heldBack: [RecordEntry] = []
  /// Some of these may stand in no head that counts any more: a device was removed that had brought them.
  var hasLearnedOfFormer = false
  /// The heads, as they were followed, of devices that have been removed since this device wrote its last head.
  var leftOut: [LoadedHead] = []
  /// The greatest time known that this machine's clock believes.
  var lastTime = HybridTime.zero
  /// No counter up to this one may be used by this device.
  var counterFloor: UInt64 = 0
  /// Whether this device has written no head, by all that this machine knows.
  var hasNoOwnHead: Bool { counterFloor == 0 && owner.map { last(of: $0) == nil } ?? true }
  var lines = KnownLines()
  /// The records as far as they were read, while all heads are read anew; nil else.
  var recordsReadAnew: Manifest?
  /// Heads that were followed before all heads are read anew: what they name was here, or replaced by what others name.
  var followedBefore: Set<FileHash> = []
  /// What was compared of other devices' segments.
  var compared = ComparedSegments()
  /// What the sync under way has opened of what it brought; nothing at any other time.
  var read = ReadRevisions()
  /// Entries that have a counter of a device that it has not reached, as far as is known.
  var held: [HeldEntry] = []
  /// What this device has written and others' entries hide.
  var hidden = HiddenVersions()
  /// A repair elsewhere could not read what is whole here, and this person may only read.
  var holdsWhatIsCalledLost = false
  /// Counters of this device that another machine has used, as far as this process has met its heads: this one's copy, or this
  /// one before it was put back.
  var usedElsewhere: [ClosedRange<UInt64>] = []
  /// Older heads of this device, found on remotes, that its own does not go on from, and whose records are known by now.
  var restsTaken: Set<FileHash> = []
  /// What a newer head of this device that the machine has kept says of redo files, where this folder is older than that.
  var redoneInNewer: [Head.Redone] = []
  /// Counters in revisions that a repair took, of devices whose heads may be lost.
  var repaired: [DeviceID: UInt64] = [:]
  /// A device's line was taken over by another one after its head was read: all heads are to be read anew.
  var isToBeRead = false
  /// Since when all heads are to be read anew, and this machine cannot read one of them; milliseconds since 1970.
  var unreadSince: UInt64?
  /// This device's head has records as written by a device whose line another one has taken over.
  var isToBeRewritten = false

  /// Whether this machine, which is `device`, has written the revision, and no other one under the same key.
  func wasWritten(_ revision: RecordRevision, by device: DeviceID) -> Bool {
    let counter = revision.version[device]
    return revision.device == device && !usedElsewhere.contains { $0.contains(counter) }
  }

  /// Remembers a head that is here and is still to be read.
  mutating func note(found head: LoadedHead) {
    if head.late != nil { lateFound[head.device] = head }
    countersFound[head.device] = head.counter
  }

  /// All heads that are here were read, as far as they can be.
  mutating func forgetFound() { (lateFound, countersFound) = ([:], [:]) }

  /// Goes on from this time, unless it lies ahead of the clock: then only what was written at it does.
  mutating func note(_ time: HybridTime, by clock: WallClock) {
    if time > lastTime, clock.believes(time) { lastTime = time }
  }

  /// A clock that was turned back since has shown that it was ahead before.
  mutating func forgetTimeAhead(of clock: WallClock) {
    if !clock.believes(lastTime) { lastTime = .zero }
  }

  /// The segments that heads name: all that they hold is known.
  var namedSegments: Set<ContentDigest> { Set(loaded.values.flatMap(\.head.segments)) }

  /// The segments that heads of one epoch name: `late`, or the one in use for nil. What a head of another epoch brought is
  /// known as late only.
  func namedSegments(in late: StatementID?) -> Set<ContentDigest> {
    Set(loaded.values.lazy.filter { $0.late == late }.flatMap(\.head.segments))
  }

  /// The newest head of a device, whether it counts or not.
  func last(of device: DeviceID) -> LoadedHead? { loaded[device] ?? takenOver[device] }

  /// What is known of whether something of a late head is still needed.
  func takeover(of late: some UnsealedHead, by witnesses: Witnesses) -> Takeover {
    loaded.values.takeover(of: late, after: lineTakenOver(of: late.device), by: witnesses)
  }

  /// The newest late head of a device that was taken over, and what is known of those before it.
  func lineTakenOver(of device: DeviceID) -> FollowedLine? {
    takenOver[device].map { FollowedLine(mark: $0.mark, lineage: lines[device]) }
  }

  /// Whether a head of the current epoch says that it has taken over this late one.
  func isTakenOverNow(_ late: LoadedHead) -> Bool {
    loaded.values.contains { !$0.isLate && $0.takesOver(late) }
  }
}
