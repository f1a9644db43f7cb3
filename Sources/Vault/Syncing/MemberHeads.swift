import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

/// A member's heads and objects, without the list of its records: enough to carry on what was committed, and as cheap
/// with a hundred thousand records as with ten.
package struct MemberHeads: Sendable {
  package let id: MemberID
  package let objects: ObjectStore
  /// The heads that count here, as they were when this was made.
  package let heads: [OpenedHead]
  /// Their counters, and those of late heads that others have taken over.
  package let knownCounters: [DeviceID: UInt64]
  let register: HeadRegister

  /// The epoch in use.
  package var epoch: StatementID { register.keys.currentEpoch }

  /// Under what a doorbell tells those who have the keys of this epoch that there is news.
  package var doorbellTopic: String { register.keys.current.doorbellTopic }

  /// A head from elsewhere, verified against `tree` and opened.
  ///
  /// - Throws: `damaged` when it does not count.
  package func open(
    _ device: DeviceID, bytes: [UInt8], in tree: SignedTree
  ) throws(VaultError) -> OpenedHead {
    let path = register.path(of: device)
    return OpenedHead(
      try register.load(device, files: tree.holding(path, bytes), people: tree.people))
  }

  /// Whether the head of a device here certainly goes on from one that stands elsewhere, as its own segments say: the
  /// newest of them, as a rule.
  package func goesOn(
    _ head: OpenedHead, from counter: UInt64, _ hash: FileHash
  ) throws(VaultError) -> Bool {
    let mark = HeadMark(counter: counter, hash: hash)
    for name in head.head.deltas.reversed() + head.head.checkpoint {
      guard let lineage = try lineage(in: name), lineage.device == head.device else { continue }
      if lineage.marks.contains(mark) { return true }
    }
    return false
  }

  /// What a segment says of the heads before it; nothing if it is not here or damaged, which the whole sync tells.
  private func lineage(in segment: ContentDigest) throws(VaultError) -> SegmentLineage? {
    guard let bytes = try ifWhole(objects.content(segment, kind: .segment)) else { return nil }
    do { return try Segment(decoding: bytes).lineage } catch { return nil }
  }

  /// A revision, whole but for the pages of its item tree.
  ///
  /// - Throws: `missing`, `damaged`.
  package func revision(_ name: ContentDigest) throws(VaultError) -> RecordRevision {
    let bytes = try objects.content(name, kind: .record)
    do { return try RecordRevision(decoding: bytes) } catch {
      throw VaultError(error, path: objects.path(of: name).string)
    }
  }
}

extension Member {
  /// The heads that count here now.
  package var carried: MemberHeads {
    MemberHeads(
      id: id, objects: objects, heads: openedHeads, knownCounters: knownCounters,
      register: register)
  }
}
