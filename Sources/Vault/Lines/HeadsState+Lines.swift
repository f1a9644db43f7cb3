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
  /// The heads before the one that is loaded, of each device.
  var lineages: [DeviceID: Lineage] = [:]
  /// What this machine had seen of a device before it read its head.
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

extension HeadsState {
  /// How a head of a device, which all its known segments say this of, stands to the one that is followed here; nil
  /// where none is.
  func standing(of mark: HeadMark, _ device: DeviceID, _ head: Head) -> Lineage.Standing? {
    if let known = loaded[device] {
      return lines.lineage(of: head, device).standing(
        of: mark, to: known.mark, lines[device])
    }
    guard let known = lines.before[device] else { return nil }
    return lines.lineage(of: head, device).standing(of: mark, to: known, Lineage())
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
        && loaded[stray.device].map { $0.mark != stray.mark } ?? false
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
