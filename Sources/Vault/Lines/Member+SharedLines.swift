import VaultErrors
import VaultModel

/// Whether the writer of a head follows the same lines of other devices as are followed here: of another one's records its
/// version vectors tell nothing. Docs/Format.md, "Lines".
extension Member {
  /// - Throws: `branched` if the head's writer follows another line of some device than is followed here: of that one's
  ///   records its version vectors tell nothing.
  func requireSharedLines(
    _ head: Head, of device: DeviceID, _ heads: HeadsState
  ) throws(VaultError) {
    if let (cover, known) = firstOfAnotherLine(in: head, of: device, heads) {
      let isOwn = cover.device == context.device.id
      if isOwn, witnesses.areOfOnePerson(device, cover.device),
        let stray = head.strays.first(where: { stray in
          stray.device == cover.device && known.has(stray.mark)
        })
      {
        throw .branched(path: register.path(of: cover.device).string, above: stray.above)
      }
      throw .branched(path: register.path(of: device).string, above: 0)
    }
    if firstBeginningOfAnotherLine(in: head, of: device, heads) != nil {
      throw .branched(path: register.path(of: device).string, above: 0)
    }
  }

  /// The first device of which a head's writer follows another line than is followed here.
  func deviceOfAnotherLine(in head: Head, of device: DeviceID, _ heads: HeadsState) -> DeviceID? {
    firstOfAnotherLine(in: head, of: device, heads)?.cover.device
      ?? firstBeginningOfAnotherLine(in: head, of: device, heads)
  }

  /// The first that a head names of another line of its device than is followed here, and what is followed.
  private func firstOfAnotherLine(
    in head: Head, of device: DeviceID, _ heads: HeadsState
  ) -> (cover: Head.Cover, known: FollowedLine)? {
    let witnesses = self.witnesses
    // Once for all that it names, which may be very many.
    lazy var behind = heads.newestBehind(by: witnesses)
    for cover in head.basis where cover.device != device {
      let mark = cover.mark
      if retelling(of: cover.device, mark, heads) != nil { continue }
      let isOwn = cover.device == context.device.id
      // Others may have read the line that it goes on with, and it has heard of that from them.
      let named = FollowedLine(mark: mark)
      if !isOwn, takesOverItself(named, of: cover.device, head, of: device, heads) {
        continue
      }
      var followed = heads.knownLine(cover.device, by: witnesses)
      // What others have seen of this device says nothing of what it has written itself.
      if followed == nil, !isOwn {
        followed = behind[cover.device].map { FollowedLine(mark: $0.mark) }
      }
      guard let known = followed else { continue }
      // It is this head that tells whose the line is that was followed here: all heads are read anew after it.
      if !isOwn, takesOver(known, of: cover.device, head, of: device, heads) { continue }
      if isOfAnotherLine(cover, than: known, head, heads) { return (cover, known) }
    }
    return nil
  }

  /// Whether a head names one of another line of some device than is followed here, as far as that is known.
  private func isOfAnotherLine(
    _ cover: Head.Cover, than known: FollowedLine, _ head: Head, _ heads: HeadsState
  ) -> Bool {
    let (device, mark) = (cover.device, cover.mark)
    if mark.counter <= known.mark.counter { return known.isApart(from: mark) }
    // What this machine has written, as the device that it is or was, it knows itself.
    if device == heads.former?.device { return mayWrite }
    if device == context.device.id { return mayWrite && mark.counter > heads.counterFloor }
    // Of other devices it shows where somebody has met both lines, else when the head itself comes.
    return heads.lines.isOfStray(mark, of: device, besides: known)
      || head.strays.contains { $0.device == device && known.has($0.mark) }
  }

  /// The device that the head's writer was before, if what it had in common with that one's line when it left it is of another
  /// line than is followed here: its entries have counters of that which tell nothing.
  private func firstBeginningOfAnotherLine(
    in head: Head, of device: DeviceID, _ heads: HeadsState
  ) -> DeviceID? {
    let lineage = heads.lines.lineage(of: head, device)
    for branch in head.branches where branch.device != device {
      guard let known = heads.knownLine(branch.device, by: witnesses) else { continue }
      let isShared = lineage.marks.allSatisfy {
        $0.counter > branch.above || !known.isApart(from: $0)
      }
      if !isShared { return branch.device }
    }
    return nil
  }

  /// Whether a head of another device takes over the line of one that is followed here, or says who has done so.
  func takesOver(
    _ followed: FollowedLine, of other: DeviceID, _ head: Head, of device: DeviceID,
    _ heads: HeadsState
  ) -> Bool {
    let witnesses = self.witnesses
    return takesOverItself(followed, of: other, head, of: device, heads)
      || head.retold.contains {
        $0.has(followed.mark, of: other) && witnesses.believes(device, of: $0)
      }
  }

  /// Whether it takes the line over itself: all that its writer knew of that is renamed in it. Who says it of somebody else, and
  /// names that line all the same, has not gone by it.
  func takesOverItself(
    _ followed: FollowedLine, of other: DeviceID, _ head: Head, of device: DeviceID,
    _ heads: HeadsState
  ) -> Bool {
    let witnesses = self.witnesses
    if head.branches.contains(where: { $0.device == other && followed.mark.counter > $0.above }),
      heads.lines.lineage(of: head, device).contains(followed.mark),
      witnesses.goesOnAs(device, from: other)
    {
      return true
    }
    return head.retold.contains {
      $0.by == device && $0.has(followed.mark, of: other)
        && witnesses.believes(device, of: $0)
    }
  }
}
