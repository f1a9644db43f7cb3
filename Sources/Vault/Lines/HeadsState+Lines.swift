import VaultModel
import VaultPeople

extension Head.Cover {
  var mark: HeadMark { HeadMark(counter: counter, hash: headHash) }

  /// What a head says on of another one's words: fields that nobody knows may be of any size, and stay where they are.
  var known: Head.Cover { Head.Cover(device: device, counter: counter, headHash: headHash) }
}

extension Head.Stray {
  var mark: HeadMark { HeadMark(counter: counter, hash: headHash) }

  init(_ head: OpenedHead, above: UInt64) {
    self.init(device: head.device, counter: head.counter, headHash: head.hash, above: above)
  }
}

extension HeadMark {
  init(_ mark: Watermark) { self.init(counter: mark.counter, hash: mark.hash) }
}

/// What is known of the lines of devices: which head goes on from which. Docs/Format.md, "Lines".
struct KnownLines: Sendable {
  /// What segments say of the heads before those that name them.
  private(set) var segments: [ContentDigest: SegmentLineage] = [:]
  /// The heads before the one that is followed, of each device.
  var lineages: [DeviceID: Lineage] = [:]
  /// What this machine had seen of a device before it read its head; `lineages` has what is known of those before.
  var before: [DeviceID: HeadMark] = [:]
  /// Heads of other lines of devices than those that are followed here, of each device the first ones that were met.
  var strays: [DeviceID: [Head.Stray]] = [:]
  /// So many of each device are named.
  static let strayLimit = 4
  /// The last one of each device that this process has read, and what is known of the heads before it.
  var strayLines: [DeviceID: FollowedLine] = [:]
  /// Devices whose heads here are not followed, for the sake of lines.
  var apart: Set<DeviceID> = []
  /// Lines that were taken over, as heads said that do not count any more, whose records this device's next head has.
  var retold: [Head.Retold] = []
  /// Lines that were taken over, by the head that says so, while all heads are read anew: as a reading before this one has shown,
  /// it can only be followed after heads that its words concern. Nothing at any other time.
  var toldLate: [FileHash: [Head.Retold]] = [:]

  mutating func note(_ lineage: SegmentLineage?, of segment: ContentDigest) {
    if let lineage { segments[segment] = lineage }
  }

  /// The heads before one of a device's heads, as far as its segments are known.
  func lineage(of head: Head, _ device: DeviceID) -> Lineage {
    var lineage = Lineage()
    for name in head.segments {
      guard let part = segments[name], part.device == device else { continue }
      lineage.add(part.marks)
    }
    return lineage
  }

  subscript(device: DeviceID) -> Lineage { lineages[device] ?? Lineage() }

  mutating func forget(_ device: DeviceID) {
    lineages[device] = nil
    before[device] = nil
    strays[device] = nil
    strayLines[device] = nil
    apart.remove(device)
  }

  /// Whether a head with this mark is known to be a stray, or before one, that parts from what is followed of its device.
  ///
  /// - Parameter mark: One with a higher counter than the head that is followed.
  func isOfStray(
    _ mark: HeadMark, of device: DeviceID, besides followed: FollowedLine
  ) -> Bool {
    // This device's head has said so, also where this process has not met the stray itself.
    let told = strays[device] ?? []
    if told.contains(where: { $0.mark == mark && followed.mark.counter > $0.above }) { return true }
    guard let stray = strayLines[device] else { return false }
    return stray.has(mark) && stray.isApart(from: followed.mark)
  }
}

/// A head of a device that is followed here, and what is known of those before it.
struct FollowedLine: Sendable {
  let mark: HeadMark
  var lineage = Lineage()

  /// Whether a head with this mark is this one, or known to be before it.
  func has(_ mark: HeadMark) -> Bool { mark == self.mark || lineage.contains(mark) }

  /// Whether a head with this mark is known to be of another line of the device than this one.
  ///
  /// Of one with a higher counter that is not known: this one may be before it.
  func isApart(from mark: HeadMark) -> Bool {
    if has(mark) { return false }
    return mark.counter == self.mark.counter
      || mark.counter < self.mark.counter && lineage.reaches(mark.counter)
  }
}

extension HeadsState {
  /// What is followed of a device: the head that was read, else the one that this machine had seen before, else the
  /// newest one that the heads which are followed, and are believed, go on from; nothing of a line that another device has
  /// taken over.
  func followed(
    _ device: DeviceID, by witnesses: Witnesses
  ) -> FollowedLine? {
    if let known = knownLine(device, by: witnesses) { return known }
    let believed = loaded.values.filter { witnesses.believes($0.device, ofLineOf: device) }
    let heard = marksBehind(believed, of: device).filter {
      retelling(of: device, $0, by: witnesses) == nil
    }
    return heard.max { $0.counter < $1.counter }.map { FollowedLine(mark: $0) }
  }

  /// What was read of a device, or had been before.
  func knownLine(
    _ device: DeviceID, by witnesses: Witnesses
  ) -> FollowedLine? {
    if let known = loaded[device] {
      return FollowedLine(mark: known.mark, lineage: lines[device])
    }
    guard let mark = lines.before[device],
      retelling(of: device, mark, by: witnesses) == nil
    else { return nil }
    return FollowedLine(mark: mark, lineage: lines[device])
  }

  /// Of each device the newest head that those which are followed, and are believed, go on from.
  ///
  /// - Parameter taken: Late heads of which everything is taken over.
  func newestBehind(
    by witnesses: Witnesses, and taken: [LoadedHead] = []
  ) -> [DeviceID: Head.Cover] {
    let word = CounterWitnesses(witnesses)
    var newest: [DeviceID: Head.Cover] = [:]
    for other in loaded.values.filter({ $0.late == nil }) + taken {
      for cover in other.head.basis where cover.device != other.device {
        guard word.believes(other.device, of: cover.device),
          newest[cover.device]?.counter ?? 0 < cover.counter,
          retelling(of: cover.device, cover.mark, by: witnesses) == nil
        else { continue }
        newest[cover.device] = cover.known
      }
    }
    return newest
  }

  /// The devices of which a head that is followed here goes on from a head of this device that is of another line than this
  /// one.
  func followersOfAnother(
    than line: FollowedLine, of device: DeviceID, by witnesses: Witnesses
  ) -> [DeviceID] {
    loaded.values.filter { other in
      marksBehind([other], of: device).contains { mark in
        line.isApart(from: mark)
          && retelling(of: device, mark, by: witnesses) == nil
      }
    }.map(\.device)
  }

  /// The heads of a device that heads of others go on from.
  private func marksBehind(
    _ others: some Sequence<LoadedHead>, of device: DeviceID
  ) -> [HeadMark] {
    others.filter { $0.device != device && $0.late == nil }.flatMap { other in
      other.head.basis.filter { $0.device == device }.map(\.mark)
    }
  }

  /// Takes the line of the device that this machine was for its own.
  mutating func goOn(as device: DeviceID, from former: LoadedHead) {
    self.former = nil
    loaded[former.device] = nil
    takenOver[former.device] = nil
    broughtLate[former.device] = nil
    seen[former.device] = nil
    refused[former.device] = nil
    var lineage = lines[former.device]
    lineage.add(former.mark)
    lines.forget(former.device)
    lines.lineages[device] = lineage
    ownSegments = HeadSegments()
    owner = device
  }

  /// How a head of a device, which all its known segments say this of, stands to the one that is followed here; nil
  /// where none is.
  func standing(
    of mark: HeadMark, _ device: DeviceID, _ head: Head,
    by witnesses: Witnesses
  ) -> Lineage.Standing? {
    guard let known = followed(device, by: witnesses) else { return nil }
    return lines.lineage(of: head, device).standing(of: mark, to: known.mark, known.lineage)
  }

  /// The counter of the last head that another device's newer head shares with the line of a late one that was taken over here,
  /// where its own lineage says that it does not go on from that one; nil where it does, or its segments do not reach that far.
  func lastSharedWithTakenOver(
    _ head: OpenedHead, by witnesses: Witnesses
  ) -> UInt64? {
    let device = head.device
    let lineage = lines.lineage(of: head.head, device)
    // The file may have been replaced since; what this device's own head names it has taken over itself.
    let named = loaded[witnesses.own]?.head.cover.filter { $0.device == device }.map(\.mark) ?? []
    let taken = (takenOver[device].map { [$0.mark] } ?? []) + named
    for mark in taken
    where mark.counter < head.counter && retelling(of: device, mark, by: witnesses) == nil {
      // What was taken over last may be of a line that this one is not of.
      let known = lineTakenOver(of: device)
      let before = known?.has(mark) ?? false ? lines[device] : Lineage()
      let standing = lineage.standing(of: head.mark, to: mark, before)
      if case .apart(let above) = standing { return above }
    }
    return nil
  }

  /// The device that a head counts as written by, since it is of a line that this one has taken over from the one that
  /// its machine was; nil for none. Nobody takes over what other machines wrote. Of several such devices it is the one with the
  /// smallest id, so that all machines say the same.
  func retelling(
    of device: DeviceID, _ mark: HeadMark, by witnesses: Witnesses
  ) -> (to: DeviceID, above: UInt64)? {
    var first: (to: DeviceID, above: UInt64)?
    func consider(_ other: DeviceID, _ above: UInt64) {
      if let known = first, (known.to, known.above) <= (other, above) { return }
      first = (to: other, above: above)
    }
    for (other, head) in loaded {
      for branch in head.head.branches where branch.device == device && mark.counter > branch.above
      {
        if lines[other].contains(mark), witnesses.goesOnAs(other, from: device) {
          consider(other, branch.above)
        }
      }
    }
    if first != nil { return first }
    // Nobody tells this device that what it has written is another one's.
    if device == witnesses.own, isOfOwnLine(mark, of: device) { return nil }
    for line in lines.retold where line.has(mark, of: device) { consider(line.by, line.above) }
    for line in lines.toldLate.values.joined() where line.has(mark, of: device) {
      consider(line.by, line.above)
    }
    for (witness, head) in loaded {
      for line in head.head.retold where line.has(mark, of: device) {
        if witnesses.believes(witness, of: line) { consider(line.by, line.above) }
      }
    }
    return first
  }

  /// The lines that were taken over, as a head says that is followed here, as far as it is believed.
  func linesTold(by head: LoadedHead, believedBy witnesses: Witnesses) -> [Head.Retold] {
    head.head.branches.filter { witnesses.goesOnAs(head.device, from: $0.device) }
      .map { line($0, by: head.device, atMost: .max) }
      + head.head.retold.filter { witnesses.believes(head.device, of: $0) }
  }

  private func isOfOwnLine(_ mark: HeadMark, of device: DeviceID) -> Bool {
    loaded[device]?.mark == mark || lines.before[device] == mark || lines[device].contains(mark)
  }

  /// The lines that were taken over, as this device's next head says: what the head before it says stays as it is, of
  /// others what they say who have taken them over, then what anybody else does.
  ///
  /// - Parameter branches: What the next head says that this device has taken over itself.
  func retold(by witnesses: Witnesses, besides branches: [Head.Branch]) -> [Head.Retold] {
    var lines = loaded[witnesses.own]?.head.retold ?? []
    lines += self.lines.retold
    let others = loaded.values.filter { $0.device != witnesses.own }
      .sorted { $0.device < $1.device }
    let told = others.flatMap { other in
      other.head.retold.filter { witnesses.believes(other.device, of: $0) }
        .map { (isOwn: $0.by == other.device, line: $0) }
    }
    lines += told.filter(\.isOwn).map(\.line)
    lines += told.filter { !$0.isOwn }.map(\.line)
    lines += branches.map { self.line($0, by: witnesses.own) }
    for other in others + takenOver.values.sorted(by: { $0.device < $1.device }) {
      lines += other.head.branches.map { line($0, by: other.device) }
    }
    return Self.first(of: lines, by: witnesses)
      .sorted { ($0.device, $0.by) < ($1.device, $1.by) }
  }

  /// Those of these lines that a head has room for: owners' before others', of which each person has few places. An editor may
  /// certify any number of devices that take over one another. So may whoever has stolen an owner's device: each owner has the
  /// same share, and what is said of devices of which none counts any more leaves room for the rest of it.
  private static func first(of lines: [Head.Retold], by witnesses: Witnesses) -> [Head.Retold] {
    var known: Set<[DeviceID]> = []
    var told: [PersonID: (counting: [Head.Retold], former: [Head.Retold])] = [:]
    for line in lines where !line.marks.isEmpty && witnesses.hasBecome(line.by, from: line.device) {
      guard let person = witnesses.person(of: line.by, and: line.device),
        known.insert([line.device, line.by]).inserted
      else { continue }
      if person.devices[line.device] != nil || person.devices[line.by] != nil {
        told[person.id, default: ([], [])].counting.append(line)
      } else {
        told[person.id, default: ([], [])].former.append(line)
      }
    }
    if told.isEmpty { return [] }
    let owners = witnesses.owners
    var ofOwners: [[Head.Retold]] = []
    var ofOthers: [[Head.Retold]] = []
    for (person, lines) in told.sorted(by: { $0.key < $1.key }) {
      let share = HeadRoom.inTurn([lines.counting, lines.former])
      if owners.contains(person) {
        ofOwners.append(share)
      } else {
        ofOthers.append(Array(share.prefix(Limits.headRetoldOfPerson)))
      }
    }
    let all = HeadRoom.inTurn(ofOwners) + HeadRoom.inTurn(ofOthers)
    return Array(all.prefix(Limits.headRetold))
  }

  /// A line that a device has taken over, as far as what is known of the heads before its own has it.
  private func line(
    _ branch: Head.Branch, by other: DeviceID, atMost count: Int = Limits.retoldMarks
  ) -> Head.Retold {
    let marks = lines[other].marks.filter { $0.counter > branch.above }
    return Head.Retold(
      device: branch.device, above: branch.above, by: other,
      marks: Array(marks.prefix(count)))
  }

  /// Notes a head of another line than is followed here, in the place of those that it goes on from. What is noted stays while it
  /// is open, and of one device a few have room: whoever meets several in turn, on two remotes, would write a head each time, and
  /// one with a greater counter would hide the others from a process that begins anew.
  mutating func note(stray head: OpenedHead, above: UInt64, by witnesses: Witnesses) {
    let line = FollowedLine(mark: head.mark, lineage: lines.lineage(of: head.head, head.device))
    var told = openStrays(by: witnesses).filter { $0.device == head.device }
    if let index = told.firstIndex(where: { $0.mark == head.mark }) {
      // Another line may be followed by now. Of what is not said to be shared more is written anew, and nothing is lost.
      told[index] = Head.Stray(head, above: min(told[index].above, above))
    } else {
      told.removeAll { line.has($0.mark) }
      if told.count < KnownLines.strayLimit { told.append(Head.Stray(head, above: above)) }
    }
    lines.strays[head.device] = told
  }

  /// The strays that nobody has taken over by now, of devices that have not been left out.
  func openStrays(by witnesses: Witnesses) -> [Head.Stray] {
    lines.strays.values.joined().filter { stray in
      !witnesses.people.isFormer(stray.device)
        && retelling(of: stray.device, stray.mark, by: witnesses) == nil
        && followed(stray.device, by: witnesses).map { $0.mark != stray.mark }
          ?? false
        && !lines[stray.device].contains(stray.mark)
    }
  }
}
