import VaultErrors
import VaultModel

/// Late heads of other devices that somebody says they have taken over. Docs/Format.md, "Objects and heads".
extension Member {
  /// Whether nothing of a late head is needed any more.
  ///
  /// Of what an owner's device wrote that is an editor's to say only as long as nothing here says otherwise: else they could
  /// leave it out, and nobody would see it until that device writes again.
  func isTakenOver(_ late: LoadedHead, _ heads: inout HeadsState) throws(VaultError) -> Bool {
    let takers = heads.takers(of: late)
    if takers.isEmpty { return false }
    if believes(anyOf: takers, of: late.device) { return true }
    return try !isLeftOut(late, &heads)
  }

  /// - Throws: `branched` for a late head that others have taken for one of another machine under its device's key, and then
  ///   what it names is not to be removed here.
  func requireNoTwin(of late: LoadedHead, _ heads: inout HeadsState) throws(VaultError) {
    guard heads.loaded.values.mistake(late) else { return }
    heads.lines.apart.insert(late.device)
    throw .branched(path: register.path(of: late.device).string, above: 0)
  }

  /// Whether the word of one of those counts who say that they have taken over a late head of this device.
  package func believes(anyOf takers: [DeviceID], of late: DeviceID) -> Bool {
    let witnesses = self.witnesses
    return takers.contains { witnesses.believes($0, of: late) }
  }

  /// Whether a late head brings something that stands in no head of the current epoch, and that is here whole.
  private func isLeftOut(
    _ late: LoadedHead, _ heads: inout HeadsState
  ) throws(VaultError) -> Bool {
    guard let told = try ifWhole({ () throws(VaultError) in try entries(of: late.head) }) else {
      return false
    }
    let brought = Manifest(told)
    let all = brought.entries + brought.conflicts.values.joined()
    let news = withRecords(&heads) { known in all.filter { known.isNews($0) } }
    for entry in news {
      let isWhole = try ifWhole { () throws(VaultError) in try hasWholly(entry) }
      guard let isWhole, isWhole else { return false }
    }
    return !news.isEmpty
  }

  /// Passes over the late heads of other devices that have been taken over by now.
  func passOverTaken(_ heads: inout HeadsState) throws(VaultError) {
    for known in heads.loaded.values where known.late != nil && known.device != context.device.id {
      if heads.loaded.values.mistake(known) {
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
    let late = withRecords(&heads) { $0.lateEntries }
    if late.contains(where: { brought.contains($0.revision) }) { heads.isToBeRead = true }
  }

  /// A late head that was taken over, or that nothing is taken over of any more.
  func pass(over head: LoadedHead, _ heads: inout HeadsState) {
    heads.loaded[head.device] = nil
    heads.broughtLate[head.device] = nil
    heads.takenOver[head.device] = head
    heads.note(head.head.time, by: context.clock)
  }
}
