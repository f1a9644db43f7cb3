import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// Which heads of a device go on from one another, and whose records are whose where a device was put back or copied.
/// Docs/Format.md, "Lines".
extension Member {
  func retelling(
    of device: DeviceID, _ mark: HeadMark, _ heads: HeadsState
  ) -> (to: DeviceID, above: UInt64)? {
    heads.retelling(of: device, mark, by: witnesses)
  }

  /// - Throws: `branched` for a head that does not go on from the one of its device that is followed here, nor that one from
  ///   it; `rolledBack` for an older one.
  func requireOneLine(_ head: OpenedHead, _ heads: inout HeadsState) throws(VaultError) {
    let path = register.path(of: head.device).string
    let isOwn = head.device == context.device.id
    switch heads.standing(
      of: head.mark, head.device, head.head, by: witnesses)
    {
    case nil, .same, .newer: break
    case .older:
      // What this machine has seen before is compared when all heads are read.
      guard let known = heads.loaded[head.device] else { break }
      throw .rolledBack(path: path, found: head.counter, seen: known.counter)
    case .apart(let above):
      if !isOwn {
        heads.lines.strays[head.device] = Head.Stray(
          device: head.device, counter: head.counter, headHash: head.hash, above: above)
        heads.lines.strayLines[head.device] = FollowedLine(
          mark: head.mark, lineage: heads.lines.lineage(of: head.head, head.device))
      }
      throw .branched(path: path, above: above)
    }
  }

  /// Who of those that are followed here goes on from a head of another line of some head's device.
  private enum Hearsay {
    case nobody
    /// No owner, of an owner's device: nobody has signed it but they, and the owner's own word goes before it.
    case weak
    case strong
  }

  private func hearsay(against head: OpenedHead, _ heads: HeadsState) -> Hearsay {
    if head.device == context.device.id { return .nobody }
    let line = FollowedLine(
      mark: head.mark, lineage: heads.lines.lineage(of: head.head, head.device))
    let others = heads.followersOfAnother(
      than: line, of: head.device, by: witnesses)
    if others.isEmpty { return .nobody }
    return others.contains { witnesses.believes($0, ofLineOf: head.device) } ? .strong : .weak
  }

  /// - Throws: `branched` for a head whose device another one that is followed knows by a head of another line. Where that
  ///   is weak all heads are read anew, this one first.
  private func requireNoHearsay(
    against head: OpenedHead, _ heads: inout HeadsState
  ) throws(VaultError) {
    switch hearsay(against: head, heads) {
    case .nobody: return
    case .weak where heads.recordsReadAnew == nil: heads.isToBeRead = true
    case .weak, .strong: break
    }
    // What both lines have in common is for whoever follows the other one to say.
    throw .branched(path: register.path(of: head.device).string, above: 0)
  }

  /// What this machine has written itself, also as the device that it was, it compares with every head, whichever epochs they
  /// are of.
  ///
  /// - Throws: `branched` for a head under its key that is of another line than its own.
  func requireOwnLine(_ head: OpenedHead, _ heads: HeadsState) throws(VaultError) {
    guard head.device == context.device.id ? true : try hasWritten(head.device, heads),
      case .apart(let above)? = heads.standing(
        of: head.mark, head.device, head.head, by: witnesses)
    else { return }
    throw .branched(path: register.path(of: head.device).string, above: above)
  }

  /// - Throws: `branched` for a head of the device that this machine was, while what it wrote as that is still to be written
  ///   anew: whatever else comes under that name is of another machine.
  func requireNotFormer(
    _ device: DeviceID, _ hash: FileHash, _ heads: inout HeadsState
  ) throws(VaultError) {
    guard let former = heads.former, former.device == device, former.hash != hash else { return }
    heads.lines.apart.insert(device)
    throw .branched(path: register.path(of: device).string, above: 0)
  }

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
      if !isOwn, takesOver(named, of: cover.device, head, of: device, byItself: true, heads) {
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
  ///
  /// - Parameter byItself: Only what it takes over itself: all that its writer knew of that is renamed in it. Who says it of
  ///   somebody else, and names that line all the same, has not gone by it.
  func takesOver(
    _ followed: FollowedLine, of other: DeviceID, _ head: Head, of device: DeviceID,
    byItself: Bool = false, _ heads: HeadsState
  ) -> Bool {
    let witnesses = self.witnesses
    if head.branches.contains(where: { $0.device == other && followed.mark.counter > $0.above }),
      heads.lines.lineage(of: head, device).contains(followed.mark),
      witnesses.goesOnAs(device, from: other)
    {
      return true
    }
    return head.retold.contains {
      $0.has(followed.mark, of: other) && witnesses.believes(device, of: $0)
        && (!byItself || $0.by == device)
    }
  }

  /// - Throws: `branched`, and then what the head names is not to be removed here.
  func requireLines(
    _ head: LoadedHead, _ heads: inout HeadsState
  ) throws(VaultError) {
    do {
      if head.late == nil, heads.last(of: head.device)?.late == nil {
        try requireOneLine(OpenedHead(head), &heads)
        try requireNoHearsay(against: OpenedHead(head), &heads)
      } else {
        try requireOneLineBetweenEpochs(OpenedHead(head), &heads)
      }
      try requireSharedLines(head.head, of: head.device, heads)
      try requireLinesTakenOver(head.head, of: head.device, &heads)
      heads.lines.apart.remove(head.device)
    } catch {
      if case .branched = error { heads.lines.apart.insert(head.device) }
      throw error
    }
  }

  /// Whether there are heads here, or anywhere else, that are not followed though they hold: nobody knows what of this
  /// member they need. Those of devices that have been left out count for nothing.
  package var hasLinesApart: Bool {
    heads.withLock { heads in
      heads.lines.apart.contains { !context.people.isFormer($0) }
        || !heads.openStrays(by: witnesses).isEmpty
    }
  }

  /// Takes the entries of a head as written by those who have taken over what its writer knew of them before.
  ///
  /// - Returns: The records concerned.
  func retell(
    _ segments: inout [LoadedSegment], of head: LoadedHead, _ heads: HeadsState
  ) throws(VaultError) -> Set<RecordID> {
    var records: Set<RecordID> = []
    for cover in head.head.basis {
      guard let (other, above) = retelling(of: cover.device, cover.mark, heads),
        other != head.device
      else { continue }
      let renaming = Renaming(member: self, device: cover.device, above: above, to: other)
      for index in segments.indices {
        for position in segments[index].entries.indices
        where renaming.concerns(segments[index].entries[position]) {
          let entry = try renaming.entry(segments[index].entries[position])
          segments[index].entries[position] = entry
          records.insert(entry.record)
        }
      }
    }
    return records
  }

  /// Whether the head of another device on a remote is of a line that is not followed here; nil for one whose place
  /// its own segments must tell.
  package func isApart(
    _ device: DeviceID, counter: UInt64, hash: FileHash
  ) -> Bool? {
    heads.withLock { heads in
      let mark = HeadMark(counter: counter, hash: hash)
      guard let known = heads.loaded[device] else { return nil }
      if known.mark == mark { return false }
      guard mark.counter <= known.counter else { return nil }
      return !heads.lines[device].contains(mark)
        && (mark.counter == known.counter || heads.lines[device].reaches(mark.counter))
    }
  }

  /// Whether the head's line was taken over by another device, whose head has all of it.
  package func isRetold(_ device: DeviceID, counter: UInt64, hash: FileHash) -> Bool {
    heads.withLock { heads in
      retelling(of: device, HeadMark(counter: counter, hash: hash), heads) != nil
    }
  }

  /// Whether the head's writer knew a line that another device has taken over: its entries say other things than those
  /// of the heads here.
  package func mustRetell(_ head: OpenedHead) -> Bool {
    heads.withLock { heads in
      head.head.basis.contains { retelling(of: $0.device, $0.mark, heads) != nil }
    }
  }

  /// What a head from elsewhere is to what is here, its segments included.
  package enum Kinship: Hashable, Sendable {
    /// It can be joined.
    case followed
    /// It is of an older state, or of a line that a device has taken over: there is nothing to be done.
    case known
    /// Another machine has written under this machine's key: this one is to become a device of its own.
    case ownCopy(of: DeviceID, above: UInt64)
    /// It is of another line of its device than is followed here, or its writer follows another line of that device.
    case stray(lineOf: DeviceID)
  }

  /// Whether the next head has something to say of the lines of devices that no edit brings: whoever else follows one of
  /// them waits for it, or a device has been removed whose head alone had what it brought.
  package var hasLinesToTell: Bool { heads.withLock { hasLinesToTell($0) } }

  /// The strays that this device's next head names.
  func openStrays(_ heads: HeadsState) -> [Head.Stray] {
    withRoom(heads.openStrays(by: witnesses), atMost: Limits.headHeard, of: \.device)
  }

  func hasLinesToTell(_ heads: HeadsState) -> Bool {
    let own = heads.loaded[context.device.id]
    let told = own?.late == nil ? own?.head.strays ?? [] : []
    return heads.isToBeRewritten || heads.hasLearnedOfFormer && !heads.learned.isEmpty
      || !heads.lines.retold.isEmpty || openStrays(heads) != told
  }

  /// Whether the head that has this mark under this device's key is one that is followed here, or was.
  package func isOfOwnLine(_ mark: HeadMark) -> Bool {
    heads.withLock { heads in
      let own = context.device.id
      // Who may write again has written before, and no head of that is followed.
      guard let here = heads.loaded[own] else { return mark.counter <= heads.counterFloor }
      return here.mark == mark || heads.lines[own].contains(mark)
    }
  }

  /// Up to which counter a head of this device that nobody opens here is known to be of the line that is here: somebody's head
  /// that is followed had read this one's until there, and one of theirs after that has read the other. 0 where none says so.
  ///
  /// - Parameter others: With what their segments say of the heads before them.
  package func lastShared(
    with unopened: HeadMark, by others: [(head: OpenedHead, lineage: [SegmentLineage])]
  ) -> UInt64 {
    let own = context.device.id
    return heads.withLock { heads in
      guard let here = heads.loaded[own] else { return 0 }
      let shared = others.flatMap { other -> [UInt64] in
        let device = other.head.device
        guard device != own, let before = heads.loaded[device],
          other.head.head.cover.contains(where: { $0.device == own && $0.mark == unopened }),
          other.lineage.contains(where: { $0.device == device && $0.marks.contains(before.mark) })
        else { return [] }
        return before.head.cover.filter {
          $0.device == own && ($0.mark == here.mark || heads.lines[own].contains($0.mark))
        }.map(\.counter)
      }
      return shared.max() ?? 0
    }
  }

  /// Decides about a head from elsewhere, and remembers it if it is a stray.
  ///
  /// - Parameters:
  ///   - segments: Of those that it names and that were not read here before, what they say.
  ///   - entries: Those of its entries that may be news.
  package func kinship(
    of head: OpenedHead, segments: [ContentDigest: SegmentLineage], entries: [RecordEntry]
  ) throws(VaultError) -> Kinship {
    try heads.withLock { (heads) throws(VaultError) in
      let mark = HeadMark(counter: head.counter, hash: head.hash)
      if retelling(of: head.device, mark, heads) != nil { return .known }
      for (name, lineage) in segments { heads.lines.note(lineage, of: name) }
      if let former = heads.former, former.device == head.device {
        return former.hash == head.hash ? .known : .stray(lineOf: head.device)
      }
      var isOfItself = true
      do throws(VaultError) {
        if !head.isLate, heads.last(of: head.device)?.late == nil {
          try requireOneLine(head, &heads)
          if hearsay(against: head, heads) == .strong {
            throw VaultError.branched(path: register.path(of: head.device).string, above: 0)
          }
        } else {
          try requireOneLineBetweenEpochs(head, &heads)
          if isOfAnotherLine(head, entries, &heads) {
            heads.lines.apart.insert(head.device)
            return .stray(lineOf: head.device)
          }
        }
        isOfItself = false
        try requireSharedLines(head.head, of: head.device, heads)
        try requireLinesTakenOver(head.head, of: head.device, &heads)
        return .followed
      } catch {
        return try kinship(of: head, refusedBy: error, isOfItself: isOfItself, heads)
      }
    }
  }

  /// - Parameter isOfItself: Whether it is a line of the head's own device that is another one.
  private func kinship(
    of head: OpenedHead, refusedBy error: VaultError, isOfItself: Bool, _ heads: HeadsState
  ) throws(VaultError) -> Kinship {
    let device = head.device
    switch error {
    case .branched(register.path(of: context.device.id).string, let above):
      return .ownCopy(of: context.device.id, above: above)
    case .branched(let path, let above):
      if path == register.path(of: device).string, try hasWritten(device, heads) {
        return .ownCopy(of: device, above: above)
      }
      if isOfItself { return .stray(lineOf: device) }
      let other =
        firstOfAnotherLine(in: head.head, of: device, heads)?.cover.device
        ?? firstBeginningOfAnotherLine(in: head.head, of: device, heads)
      return .stray(lineOf: other ?? device)
    case .rolledBack: return .known
    default: throw error
    }
  }
}
