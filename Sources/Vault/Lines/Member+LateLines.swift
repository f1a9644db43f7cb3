import VaultErrors
import VaultModel
import VaultPeople

/// Lines of devices of which a head is late: under the keys of another epoch, or taken over. Docs/Format.md, "Lines".
extension Member {
  /// Of heads of one device of which one is late, or both are: what others say of such counts for nothing, what was read of
  /// them does.
  ///
  /// - Throws: As `requireOneLine`.
  func requireOneLineBetweenEpochs(
    _ head: OpenedHead, _ heads: inout HeadsState
  ) throws(VaultError) {
    try requireOwnLine(head, heads)
    if heads.loaded[head.device] != nil {
      try requireOneLine(head, &heads)
    } else if var above = heads.lastSharedWithTakenOver(head, by: witnesses) {
      // How far both are one, what is here of the other one says.
      if let taken = heads.takenOver[head.device] {
        _ = try lineage(ofLate: taken.mark, of: head.device, &heads)
        above = heads.lastSharedWithTakenOver(head, by: witnesses) ?? above
      }
      heads.note(stray: head, above: above, by: witnesses)
      throw .branched(path: register.path(of: head.device).string, above: above)
    }
  }

  /// - Throws: `branched` if the head's writer has taken over late heads of another line of some device than this one has, as far as
  ///   the lineage of the later ones is here: its entries have counters of that line.
  func requireLinesTakenOver(
    _ head: Head, of device: DeviceID, _ heads: inout HeadsState
  ) throws(VaultError) {
    let own = context.device.id
    guard device != own, let cover = heads.loaded[own]?.head.cover else { return }
    let taken = Dictionary(
      cover.map { ($0.device, $0.mark) }, uniquingKeysWith: { first, _ in first })
    for cover in head.basis where cover.device != device && heads.loaded[cover.device] == nil {
      let other = cover.device
      guard let mark = taken[other], mark != cover.mark, !context.people.isFormer(other),
        retelling(of: other, mark, heads) == nil, retelling(of: other, cover.mark, heads) == nil,
        try isApart(cover.mark, from: mark, of: other, &heads),
        !takesOver(FollowedLine(mark: mark), of: other, head, of: device, heads),
        !takesOverItself(FollowedLine(mark: cover.mark), of: other, head, of: device, heads)
      else { continue }
      throw .branched(path: register.path(of: device).string, above: 0)
    }
  }

  /// Whether a head of a device is known to be of another line than a late one that this device has taken over.
  private func isApart(
    _ mark: HeadMark, from taken: HeadMark, of device: DeviceID, _ heads: inout HeadsState
  ) throws(VaultError) -> Bool {
    if mark.counter == taken.counter { return mark != taken }
    if (heads.lines.strays[device] ?? []).contains(where: { $0.mark == mark }) { return true }
    let (earlier, later) = mark.counter < taken.counter ? (mark, taken) : (taken, mark)
    let lineage = try lineage(ofLate: later, of: device, &heads)
    return FollowedLine(mark: later, lineage: lineage).isApart(from: earlier)
  }

  /// What is known of the heads before a late one of another device that was taken over, or is being read; nothing of any other,
  /// or where it is not whole.
  private func lineage(
    ofLate mark: HeadMark, of device: DeviceID, _ heads: inout HeadsState
  ) throws(VaultError) -> Lineage {
    let taken = heads.takenOver[device]
    let isTaken = taken?.mark == mark
    if isTaken, let known = heads.lines.lineages[device] { return known }
    guard let late = isTaken ? taken : heads.lateFound[device], late.mark == mark,
      let segments = try ifWhole(loadSegments(of: late.head))
    else { return Lineage() }
    for segment in segments { heads.lines.note(segment.lineage, of: segment.name) }
    let lineage = heads.lines.lineage(of: late.head, device)
    if isTaken { heads.lines.lineages[device] = lineage }
    return lineage
  }

  /// Whether a late head is of another line of its device than what was taken over of that: its lineage may be gone with its
  /// segments, but whoever takes a head over has all that those before it brought.
  func isOfAnotherLine(
    _ head: OpenedHead, _ entries: [RecordEntry], _ heads: inout HeadsState
  ) -> Bool {
    guard head.isLate else { return false }
    switch heads.takeover(of: head, by: witnesses) {
    case .none, .certain: return false
    case .apart: return true
    case .unproven:
      guard let taken = heads.takenOver[head.device], head.counter < taken.counter else {
        return false
      }
      return withRecords(heads) { known in
        entries.contains { known.isNews($0, from: head.epoch) }
      }
    }
  }

  /// Whether this device's head names an earlier late head of the device, from which this one need not go on.
  package func hasTakenOverEarlier(than late: OpenedHead) -> Bool {
    let own = context.device.id
    return heads.withLock { heads in
      guard heads.loaded[late.device] == nil, let cover = heads.loaded[own]?.head.cover else {
        return false
      }
      return cover.contains { $0.device == late.device && $0.counter < late.counter }
    }
  }

  /// Remembers a late head from elsewhere that others have taken over, if it is of another line than what this device has taken over.
  ///
  /// - Parameter segments: Of those that it names and that were not read here before, what they say.
  package func noteIfStray(
    _ late: OpenedHead, segments: [ContentDigest: SegmentLineage]
  ) throws(VaultError) {
    try heads.withLock { (heads) throws(VaultError) in
      guard heads.loaded[late.device] == nil, retelling(of: late.device, late.mark, heads) == nil
      else { return }
      for (name, lineage) in segments { heads.lines.note(lineage, of: name) }
      do throws(VaultError) {
        try requireOneLineBetweenEpochs(late, &heads)
      } catch {
        guard case .branched = error else { throw error }
      }
    }
  }
}
