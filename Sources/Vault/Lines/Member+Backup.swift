import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// What is left of this device's newest head where an older folder was put back. Docs/Format.md, "This machine's state".
extension Member {
  /// Learns what the head that this machine has kept says of records that are still whole here, so that the next head has
  /// them; in part here are only taken where nothing else is known of the record.
  func learnRest(of kept: LoadedHead, _ heads: inout HeadsState) throws(VaultError) {
    // What the device that this machine was has written is to be written anew as this one's, not to be joined with it.
    guard kept.device == context.device.id else { return }
    if isAhead(kept, heads) { heads.redoneInNewer = kept.head.redone }
    try learnRest(ofLost: kept, &heads)
  }

  /// Learns as well what this machine wrote before it was out: as the device that it was, which was left out before anybody had
  /// that, and whoever types the words on a machine goes on with what is in it; or before its person was let out of the member,
  /// and in again.
  func learnRestOfFormer(_ heads: inout HeadsState) throws(VaultError) {
    if let former = try formerOwn() { try learnRest(ofLost: former, &heads) }
  }

  /// Notes which lines this machine took over as a device that was left out since: its own file of the device that it was before
  /// that would be followed otherwise, where others have another line of that one.
  func learnLinesOfFormer(_ heads: inout HeadsState) throws(VaultError) {
    guard let former = try formerOwn(), former.device != context.device.id else { return }
    heads.lines.retold += former.head.retold.filter { !heads.lines.retold.contains($0) }
  }

  /// Notes what this machine wrote when its person could write, nobody has got, and does not count, as they may only read
  /// now: also that it deleted what is still there.
  func noteHeldBack(_ heads: inout HeadsState) throws(VaultError) {
    heads.heldBack = []
    guard let former = try formerOwn(), isAhead(former, heads) else { return }
    for name in former.head.segments {
      let rest = try rest(in: name, of: former.late, &heads)
      heads.heldBack += withRecords(heads) { known in
        rest.filter { !$0.isDeleted || known[$0.record]?.isDeleted == false }
      }
    }
  }

  /// Whether something is held back so: as nothing that counts names it, nothing of the member is removed meanwhile.
  var holdsBack: Bool { heads.withLock { !$0.heldBack.isEmpty } }

  /// The newest head that this machine has kept, if it counts no more.
  func formerOwn() throws(VaultError) -> LoadedHead? {
    guard let kept = try keptHead() else { return nil }
    // Nil where what it was sealed with is gone.
    return try ifWhole(register.loadFormerOwn(kept)) ?? nil
  }

  /// The newest head that this machine has written as another device than this one: as that which it was before the words made it
  /// another one, whether it counts or not; nil where none is known.
  ///
  /// - Parameter own: A device whose head is known; nil for none.
  func lastOfMachine(
    _ heads: HeadsState, besides own: DeviceID?
  ) throws(VaultError) -> LoadedHead? {
    guard let kept = try keptHead(), let device = kept.device, device != own else { return nil }
    if let former = try formerOwn() { return former }
    // What stands under that device's key may be another machine's, where this one was copied.
    guard let last = heads.last(of: device), last.hash == kept.hash else { return nil }
    return last
  }

  private func isAhead(_ kept: LoadedHead, _ heads: HeadsState) -> Bool {
    heads.last(of: kept.device)?.counter ?? 0 < kept.counter
  }

  private func learnRest(
    ofLost kept: LoadedHead, _ heads: inout HeadsState
  ) throws(VaultError) {
    guard damageReason == nil, isAhead(kept, heads) else { return }
    for name in kept.head.segments {
      for entry in try rest(in: name, of: kept.late, &heads) {
        let learned = apply([entry], of: kept.late == nil ? nil : kept, &heads)
        heads.rest.formUnion(learned)
        heads.learned.formUnion(learned)
        if !learned.isEmpty { heads.isToBeRewritten = true }
      }
    }
  }

  /// Whether this device's head, as far as its lineage tells, does not go on from an older one that a remote still has: a repair
  /// wrote the lists anew from what was left here, and the older head may name more.
  package func mayLackRest(of device: DeviceID, counter: UInt64, hash: FileHash) -> Bool {
    guard mayWrite, device == context.device.id else { return false }
    return heads.withLock { heads in
      guard let known = heads.loaded[device], known.late == nil, counter < known.counter,
        !heads.restsTaken.contains(hash)
      else { return false }
      let lineage = heads.lines[device]
      return !lineage.reaches(counter)
        && !lineage.contains(HeadMark(counter: counter, hash: hash))
    }
  }

  package func mayLackRest(of head: OpenedHead) -> Bool {
    !head.isLate && mayLackRest(of: head.device, counter: head.counter, hash: head.hash)
  }

  /// Takes what such an older head names and is whole here, and writes down what of that is news.
  package func takeRest(of head: OpenedHead) throws(VaultError) {
    guard mayLackRest(of: head), !context.isReadOnly else { return }
    let isNews = try heads.withLock { (heads) throws(VaultError) -> Bool in
      var learned: Set<RecordID> = []
      for name in head.segments {
        learned.formUnion(apply(try rest(in: name, of: nil, &heads), &heads))
      }
      heads.restsTaken.insert(head.hash)
      heads.learned.formUnion(learned)
      if !learned.isEmpty { heads.isToBeRewritten = true }
      return !learned.isEmpty
    }
    if isNews { _ = try commitNothingIfPossible() }
  }

  /// The entries of a segment that are news, and still whole here; those of records of which nothing else is known in part.
  ///
  /// - Parameter late: The epoch of the head that names it; nil for the one in use.
  private func rest(
    in name: ContentDigest, of late: StatementID?, _ heads: inout HeadsState
  ) throws(VaultError) -> [RecordEntry] {
    guard let segment = try ifWhole(entries(in: name)) else {
      return []
    }
    let news = withRecords(heads) { known in
      segment.filter { known.isNews($0, from: late) }
    }
    var rest: [RecordEntry] = []
    for entry in news {
      let isWhole = try ifWhole(hasWholly(entry))
      if let isWhole, isWhole || self.entry(entry.record) == nil { rest.append(entry) }
    }
    return rest
  }

  /// Whether everything is here that the revision of an entry needs; its beginning must be.
  func hasWholly(_ entry: RecordEntry) throws(VaultError) -> Bool {
    for item in try items(of: revision(entry.revision)) {
      let names = try ifWhole(chunks(of: item.content))
      guard let names else { return false }
      for name in names {
        guard let name, context.lazy == nil else { continue }
        if try !objects.isPresent(name) { return false }
      }
    }
    return true
  }
}

extension Vault {
  /// Writes down what was learned so.
  func keepRest() throws(VaultError) {
    for member in members where member.isWritten {
      guard member.heads.withLock({ !$0.rest.isEmpty }) else { continue }
      do { _ = try member.commitNothingIfPossible() } catch {
        // It is learned anew until the words have joined the keys.
        guard case .keysDivided = error else { throw error }
      }
    }
  }
}
