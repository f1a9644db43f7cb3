import Threads
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Late heads of other devices that somebody says they have taken over. Docs/Format.md, "Objects and heads".
extension Member {
  /// Whether nothing of a late head is needed any more.
  ///
  /// Where that is not proven it is so only as long as nothing here says otherwise: else an editor could leave out what somebody
  /// else's device wrote, and nobody would see it until that device writes again.
  ///
  /// - Throws: `branched` for one of another line of its device than what was taken over, and then what it names is not to be
  ///   removed here.
  func isTakenOver(_ late: LoadedHead, _ heads: inout HeadsState) throws(VaultError) -> Bool {
    switch heads.takeover(of: late, by: witnesses) {
    case .none: return false
    case .certain: return true
    case .unproven: return try !isLeftOut(late, &heads)
    case .apart:
      heads.lines.apart.insert(late.device)
      throw .branched(path: register.path(of: late.device).string, above: 0)
    }
  }

  /// What is known of whether a late head, of here or elsewhere, is still needed.
  ///
  /// - Parameter others: Heads of elsewhere that are to be followed beside those that are here.
  package func takeover(of late: OpenedHead, besides others: [OpenedHead]) -> Takeover {
    heads.withLock { heads in
      (others + heads.loaded.values.map(OpenedHead.init)).takeover(
        of: late, after: heads.lineTakenOver(of: late.device), by: witnesses)
    }
  }

  /// Whether a late head that stands elsewhere is one that was taken over here, or is known to be one before such a head.
  package func hasTakenOver(_ device: DeviceID, counter: UInt64, hash: FileHash) -> Bool {
    let mark = HeadMark(counter: counter, hash: hash)
    return heads.withLock { heads in
      heads.lineTakenOver(of: device)?.has(mark) ?? false
    }
  }

  /// The late heads that were taken over, of devices that may go on from there.
  var takenOverOfWriters: [LoadedHead] { heads.withLock { takenOverOfWriters($0) } }

  /// The late heads that were taken over, of devices that may go on from there, for a caller who holds the lock of `heads`.
  func takenOverOfWriters(_ heads: HeadsState) -> [LoadedHead] {
    let access = register.links.access
    return heads.takenOver.values.filter { stillCounts($0) && access.countsAsWriter($0.person) }
  }

  /// The segments and lists that those name: the device's next head may be of the same epoch, and name them again. All that
  /// stands below them is under the keys in use.
  func objectsOfTakenOver(_ heads: HeadsState) -> Set<ContentDigest> {
    takenOverOfWriters(heads).reduce(into: []) { $0.formUnion($1.head.namedObjects) }
  }

  /// Whether a late head brings something that stands in no head of the current epoch, and that is here whole.
  private func isLeftOut(
    _ late: LoadedHead, _ heads: inout HeadsState
  ) throws(VaultError) -> Bool {
    guard let told = try ifWhole(entries(of: late.head)) else {
      return false
    }
    let brought = Manifest(told)
    let all = brought.entries + brought.conflicts.values.joined()
    let news = withRecords(heads) { known in all.filter { known.isNews($0) } }
    for entry in news {
      let isWhole = try ifWhole(hasWholly(entry))
      guard let isWhole, isWhole else { return false }
    }
    return !news.isEmpty
  }

  /// Passes over the late heads of other devices that have been taken over by now.
  func passOverTaken(_ heads: inout HeadsState) throws(VaultError) {
    for known in heads.loaded.values where known.late != nil && known.device != context.device.id {
      if case .apart = heads.takeover(of: known, by: witnesses) {
        heads.isToBeRead = true
        continue
      }
      guard try isTakenOver(known, &heads) else { continue }
      noteLeftOut(of: known, &heads)
      pass(over: known, &heads)
    }
  }

  /// Whoever says that they have taken a head over, and left out what it alone had brought, leaves that nowhere: a program
  /// that opens the vault anew does not see it, and this one reads anew to see the same.
  private func noteLeftOut(of head: LoadedHead, _ heads: inout HeadsState) {
    guard heads.isTakenOverNow(head), let brought = heads.broughtLate[head.device] else { return }
    let late = withRecords(heads) { $0.lateEntries }
    if late.contains(where: { brought.contains($0.revision) }) { heads.isToBeRead = true }
  }

  /// A late head that was taken over, or that nothing is taken over of any more.
  func pass(over head: LoadedHead, _ heads: inout HeadsState) {
    // What is known of the heads before one that was read here; of any other, nothing.
    if heads.last(of: head.device)?.mark != head.mark {
      heads.lines.lineages[head.device] = nil
    }
    heads.loaded[head.device] = nil
    heads.broughtLate[head.device] = nil
    heads.takenOver[head.device] = head
    heads.note(head.head.time, by: context.clock)
  }
}
