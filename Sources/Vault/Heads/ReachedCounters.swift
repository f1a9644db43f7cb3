import BlobStore
import Threads
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// How far the counters of devices have come, as far as is known here: what a version vector says above that has never
/// been written. Docs/Format.md, "Entries".
struct ReachedCounters: Sendable {
  /// Of devices of which a head counts here, or did before its epoch ended; of this one always.
  private var known: [DeviceID: UInt64] = [:]
  /// Those of them of which a head is here that says so itself.
  private var withHeads: Set<DeviceID> = []
  /// What heads say of any that are believed of it.
  private var told: [DeviceID: UInt64] = [:]
  /// What heads whose word proves it say that they have read or taken over.
  private var proven: [DeviceID: UInt64] = [:]
  /// Devices of which nothing newer may ever come here, since what they wrote was taken over elsewhere.
  private let takenOver: Set<DeviceID>
  /// The epochs of late heads that are here of other devices, followed or still to be read: a newer one may have been taken over
  /// elsewhere just as well.
  private let late: [DeviceID: StatementID]
  /// How far heads come that are here, and are still to be read.
  private let found: [DeviceID: UInt64]
  private let witnesses: Witnesses
  private let word: CounterWitnesses

  init(_ heads: HeadsState, by witnesses: Witnesses) {
    self.witnesses = witnesses
    word = CounterWitnesses(witnesses)
    found = heads.countersFound
    takenOver = Set(heads.takenOver.keys).subtracting(heads.loaded.keys)
    let own = witnesses.own
    late = heads.lateFound.merging(heads.loaded) { _, followed in followed }
      .filter { $0.key != own }.compactMapValues(\.late)
    known[own] = max(heads.counterFloor, heads.lines.before[own]?.counter ?? 0)
    for head in heads.takenOver.values { add(head) }
    for head in heads.loaded.values { add(head) }
    for (device, mark) in heads.lines.before { tell(device, mark.counter) }
    for (device, counter) in heads.repaired { tell(device, counter) }
  }

  /// Takes in a head that counts.
  mutating func add(_ head: LoadedHead) {
    withHeads.insert(head.device)
    known[head.device] = max(known[head.device] ?? 0, head.counter)
    for cover in head.head.basis where word.believes(head.device, of: cover.device) {
      tell(cover.device, cover.counter)
    }
    for cover in head.head.cover + head.head.takenOver
    where mayTakeOver(head, cover.device) && witnesses.proves(head.device, of: cover.device) {
      proven[cover.device] = max(proven[cover.device] ?? 0, cover.counter)
    }
    for reached in head.head.reached where word.believes(head.device, of: reached.device) {
      tell(reached.device, reached.counter)
    }
    // All that lines have in common was written.
    for branch in head.head.branches
    where witnesses.hasBecome(head.device, from: branch.device) {
      share(branch.device, branch.above)
    }
    for line in head.head.retold where witnesses.believes(head.device, of: line) {
      share(line.device, line.above)
    }
  }

  /// Whether what a head names of a device may be a late head that was taken over, and never comes here.
  private func mayTakeOver(_ head: LoadedHead, _ device: DeviceID) -> Bool {
    if takenOver.contains(device) { return true }
    guard let epoch = late[device] else { return false }
    return head.epoch != epoch
  }

  /// Takes in how far a revision shows that a device had come, whatever has become of its head.
  mutating func add(_ counter: UInt64, of device: DeviceID) {
    if isKnown(device) { known[device] = max(known[device] ?? 0, counter) }
  }

  /// Whether its own heads say how far the device has come.
  func isKnown(_ device: DeviceID) -> Bool { withHeads.contains(device) }

  private var branches: [DeviceID: UInt64] = [:]

  private mutating func share(_ device: DeviceID, _ above: UInt64) {
    tell(device, above)
    branches[device] = max(branches[device] ?? 0, above)
  }

  private mutating func tell(_ device: DeviceID, _ counter: UInt64) {
    told[device] = max(told[device] ?? 0, counter)
  }

  /// The greatest counter of a device that a version vector may have.
  ///
  /// - Parameter isWriter: Whether somebody who could ever write the member has certified the device.
  func limit(of device: DeviceID, isWriter: (DeviceID) -> Bool) -> UInt64 {
    if let known = known[device] {
      return max(known, branches[device] ?? 0, proven[device] ?? 0)
    }
    guard let told = told[device], isWriter(device) else { return 0 }
    // Whether its own head is read before those that speak of it must make no difference.
    guard let found = found[device] else { return told }
    return min(told, max(found, branches[device] ?? 0, proven[device] ?? 0))
  }

  /// The devices that are spoken of.
  var devices: Set<DeviceID> { Set(known.keys).union(told.keys) }
}

/// An entry of another device's head that waits for heads of a device of which it has a counter.
struct HeldEntry: Hashable, Sendable {
  let entry: RecordEntry
  /// Whose head brought it.
  let source: DeviceID
  /// The device that has not reached the counter.
  let device: DeviceID
}

extension Member {
  /// Whether somebody who could ever write the member has certified this device.
  func isWriter(_ device: DeviceID) -> Bool {
    context.people.persons.values.contains { person in
      person.anyCertificate(of: device) != nil && register.links.couldWrite(person.id)
    }
  }

  /// The first device of whose counters the version has one that was never written, as far as is known here.
  ///
  /// - Parameter isAsked: Which devices are looked at.
  func unreached(
    _ version: VersionVector, _ reached: ReachedCounters,
    where isAsked: (DeviceID) -> Bool = { _ in true }
  ) -> DeviceID? {
    version.entries.first { entry in
      !entry.device.standsForRevision && isAsked(entry.device)
        && entry.counter > reached.limit(of: entry.device, isWriter: isWriter)
        && !isLeftOut(entry.device)
    }?.device
  }

  /// Whether nobody waits for what a device has written, since its person has left it out. Whoever has its key may have somebody
  /// else certify it: an honest device has one person.
  private func isLeftOut(_ device: DeviceID) -> Bool {
    let people = context.people
    if people.isFormer(device) { return true }
    return device != context.device.id
      && people.persons.values.contains { person in
        person.former[device] != nil && register.links.couldWrite(person.id)
      }
  }

  /// Takes out of the segments of another device's head the entries that wait.
  func hold(_ segments: inout [LoadedSegment], of head: LoadedHead, _ heads: inout HeadsState) {
    var reached = ReachedCounters(heads, by: witnesses)
    reached.add(head)
    var known = Set(heads.held)
    for index in segments.indices {
      segments[index].entries.removeAll { entry in
        guard let device = unreached(entry.version, reached) else { return false }
        let waiting = HeldEntry(entry: entry, source: head.device, device: device)
        if withRecords(heads, { $0.isNews(entry, from: head.late) }),
          known.insert(waiting).inserted
        {
          heads.held.append(waiting)
        }
        return true
      }
    }
  }

  /// What other heads have brought, that is here, and that waits for nothing but this head.
  func entriesWaiting(for head: LoadedHead, _ heads: HeadsState) -> [RecordEntry] {
    if heads.held.isEmpty { return [] }
    var reached = ReachedCounters(heads, by: witnesses)
    reached.add(head)
    return heads.held.filter {
      $0.device == head.device && unreached($0.entry.version, reached) == nil
    }.map(\.entry)
  }

  /// Joins what has waited and need not any more, now that another head is known.
  ///
  /// - Returns: The records whose entries changed.
  func release(_ heads: inout HeadsState) throws(VaultError) -> [RecordID] {
    if heads.held.isEmpty { return [] }
    let reached = ReachedCounters(heads, by: witnesses)
    var changed: [RecordID] = []
    var held: [HeldEntry] = []
    for waiting in heads.held {
      // What was taken over of a late head stands in the one that has done so.
      guard let head = heads.loaded[waiting.source] else { continue }
      if let device = unreached(waiting.entry.version, reached) {
        held.append(HeldEntry(entry: waiting.entry, source: waiting.source, device: device))
      } else {
        try noteHidden(by: [waiting.entry], &heads)
        changed += apply([waiting.entry], of: head, &heads)
      }
    }
    heads.held = held
    heads.learned.formUnion(changed)
    return changed
  }

  /// Whether entries wait: what they need nothing else may name.
  var holdsEntries: Bool { heads.withLock { !$0.held.isEmpty } }

  /// What is told of entries that wait, and of records with too many versions.
  func problems(of heads: HeadsState) -> [Problem] {
    let waiting = heads.held.map { waiting in
      Problem(
        .waiting, .warning, path: objects.path(of: waiting.entry.revision).string,
        reason:
          "the device \(waiting.source.shortHex) says that it was written over a change of the device "
          + "\(waiting.device.shortHex) that has not come, or never was: it is not taken before that comes, or "
          + "its person removes the device",
        member: name.string, record: displayPath(of: waiting.entry.record))
    }
    return waiting + problemsOfVersions(of: heads)
  }
}
