import Threads
import VaultErrors
import VaultModel
import VaultPeople

/// Which heads of a device go on from one another, and which are of another line than is followed here. Docs/Format.md, "Lines".
extension Member {
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
        heads.note(stray: head, above: above, by: witnesses)
        heads.lines.strayLines[head.device] = FollowedLine(
          mark: head.mark, lineage: heads.lines.lineage(of: head.head, head.device))
      }
      throw .branched(path: path, above: above)
    }
  }

  /// Who of those that are followed here goes on from a head of another line of some head's device.
  enum Hearsay {
    case nobody
    /// No owner, of an owner's device: nobody has signed it but they, and the owner's own word goes before it.
    case weak
    case strong
  }

  func hearsay(against head: OpenedHead, _ heads: HeadsState) -> Hearsay {
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

  /// Whether there are heads here, or anywhere else, that are not followed though they hold: nobody knows what of this
  /// member they need. Those of devices that have been left out count for nothing.
  package var hasLinesApart: Bool {
    heads.withLock { heads in
      heads.lines.apart.contains { !context.people.isFormer($0) }
        || !heads.openStrays(by: witnesses).isEmpty
    }
  }

  /// Whether the next head has something to say of the lines of devices that no edit brings: whoever else follows one of
  /// them waits for it, or a device has been removed whose head alone had what it brought.
  package var hasLinesToTell: Bool { heads.withLock { hasLinesToTell($0) } }

  /// The strays that this device's next head names.
  func openStrays(_ heads: HeadsState) -> [Head.Stray] {
    withRoom(heads.openStrays(by: witnesses), atMost: Limits.headHeard, of: \.device)
      .sorted { ($0.device, $0.counter, $0.headHash) < ($1.device, $1.counter, $1.headHash) }
  }

  func hasLinesToTell(_ heads: HeadsState) -> Bool {
    let own = heads.loaded[context.device.id]
    let told = own?.late == nil ? own?.head.strays ?? [] : []
    return heads.isToBeRewritten || heads.hasLearnedOfFormer && !heads.learned.isEmpty
      || !heads.lines.retold.isEmpty || openStrays(heads) != told
  }
}
