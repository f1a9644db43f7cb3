import Threads
import VaultErrors
import VaultModel

/// What heads that a sync finds elsewhere are to those that are followed here. Docs/Format.md, "Lines".
extension Member {
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
      return .stray(lineOf: deviceOfAnotherLine(in: head.head, of: device, heads) ?? device)
    case .rolledBack: return .known
    default: throw error
    }
  }
}
