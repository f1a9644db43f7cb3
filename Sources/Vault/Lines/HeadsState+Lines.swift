import VaultModel

extension LoadedHead {
  var mark: HeadMark { HeadMark(counter: counter, hash: hash) }
}

extension OpenedHead {
  var mark: HeadMark { HeadMark(counter: counter, hash: hash) }
}

extension Head.Cover {
  var mark: HeadMark { HeadMark(counter: counter, hash: headHash) }
}

extension Head.Stray {
  var mark: HeadMark { HeadMark(counter: counter, hash: headHash) }
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
  /// Heads of other lines of devices than those that are followed here.
  var strays: [DeviceID: Head.Stray] = [:]
  /// Devices whose heads here are not followed, for the sake of lines.
  var apart: Set<DeviceID> = []

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
    apart.remove(device)
  }
}

/// A head of a device that is followed here, and what is known of those before it.
struct FollowedLine: Sendable {
  let mark: HeadMark
  var lineage = Lineage()

  /// Whether a head with this mark is known to be of another line of the device than this one.
  ///
  /// Of one with a higher counter that is not known: this one may be before it.
  func isApart(from mark: HeadMark) -> Bool {
    if mark == self.mark || lineage.contains(mark) { return false }
    return mark.counter == self.mark.counter
      || mark.counter < self.mark.counter && lineage.reaches(mark.counter)
  }
}

extension HeadsState {
  /// What is followed of a device: the head that was read, else the one that this machine had seen before, else the
  /// newest one that the heads which are followed go on from; nothing of a line that another device has taken over.
  func followed(
    _ device: DeviceID, isOfOnePerson: (DeviceID, DeviceID) -> Bool
  ) -> FollowedLine? {
    if let known = knownLine(device, isOfOnePerson: isOfOnePerson) { return known }
    let heard = marksBehind(loaded.values, of: device).filter {
      retelling(of: device, $0, isOfOnePerson: isOfOnePerson) == nil
    }
    return heard.max { $0.counter < $1.counter }.map { FollowedLine(mark: $0) }
  }

  /// What was read of a device, or had been before.
  func knownLine(
    _ device: DeviceID, isOfOnePerson: (DeviceID, DeviceID) -> Bool
  ) -> FollowedLine? {
    if let known = loaded[device] {
      return FollowedLine(mark: known.mark, lineage: lines[device])
    }
    guard let mark = lines.before[device],
      retelling(of: device, mark, isOfOnePerson: isOfOnePerson) == nil
    else { return nil }
    return FollowedLine(mark: mark, lineage: lines[device])
  }

  /// Of each device the newest head that those which are followed go on from.
  func newestBehind(isOfOnePerson: (DeviceID, DeviceID) -> Bool) -> [DeviceID: Head.Cover] {
    var newest: [DeviceID: Head.Cover] = [:]
    for other in loaded.values where other.late == nil {
      for cover in other.head.basis where cover.device != other.device {
        guard newest[cover.device]?.counter ?? 0 < cover.counter,
          retelling(of: cover.device, cover.mark, isOfOnePerson: isOfOnePerson) == nil
        else { continue }
        newest[cover.device] = cover
      }
    }
    return newest
  }

  /// Whether a head that is followed here goes on from a head of this device that is of another line than this one.
  func someoneFollowsAnother(
    than line: FollowedLine, of device: DeviceID, isOfOnePerson: (DeviceID, DeviceID) -> Bool
  ) -> Bool {
    marksBehind(loaded.values, of: device).contains { mark in
      line.isApart(from: mark)
        && retelling(of: device, mark, isOfOnePerson: isOfOnePerson) == nil
    }
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
    isOfOnePerson: (DeviceID, DeviceID) -> Bool
  ) -> Lineage.Standing? {
    guard let known = followed(device, isOfOnePerson: isOfOnePerson) else { return nil }
    return lines.lineage(of: head, device).standing(of: mark, to: known.mark, known.lineage)
  }

  /// The device that a head counts as written by, since it is of a line that this one has taken over from the one that
  /// its machine was; nil for none.
  ///
  /// - Parameter isOfOnePerson: Whether the two devices are of one person: nobody takes over what others wrote.
  func retelling(
    of device: DeviceID, _ mark: HeadMark, isOfOnePerson: (DeviceID, DeviceID) -> Bool
  ) -> (to: DeviceID, above: UInt64)? {
    for (other, head) in loaded {
      for branch in head.head.branches where branch.device == device && mark.counter > branch.above
      {
        guard lines[other].contains(mark), isOfOnePerson(device, other) else { continue }
        return (other, branch.above)
      }
    }
    return nil
  }

  /// The strays that nobody has taken over by now, for this device's next head.
  func openStrays(isOfOnePerson: (DeviceID, DeviceID) -> Bool) -> [Head.Stray] {
    lines.strays.values.filter { stray in
      retelling(of: stray.device, stray.mark, isOfOnePerson: isOfOnePerson) == nil
        && followed(stray.device, isOfOnePerson: isOfOnePerson).map { $0.mark != stray.mark }
          ?? false
        && !lines[stray.device].contains(stray.mark)
    }.sorted { $0.device < $1.device }
  }
}

extension VaultContext {
  /// Whether both devices were certified by one person.
  func areOfOnePerson(_ one: DeviceID, _ other: DeviceID) -> Bool {
    people.persons.values.contains {
      $0.devices[one] != nil && $0.devices[other] != nil
    }
  }
}
