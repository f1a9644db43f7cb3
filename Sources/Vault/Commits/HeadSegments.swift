import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// The segments that a head names, with what the next commit has to know of them.
struct HeadSegments: Equatable, Sendable {
  var checkpoint: [ContentDigest] = []
  var checkpointByteCount = 0
  var deltas: [DeltaPlan.Delta] = []
  /// Heads of this device that none of these segments says to come before: the next one is to say it.
  var missingMarks: [HeadMark] = []

  /// What to do with these entries, which come after what the segments hold.
  func action(for changes: [RecordEntry]) -> DeltaPlan.Action {
    DeltaPlan.action(
      deltas: deltas, checkpointByteCount: checkpointByteCount,
      new: changes.map(\.record))
  }
}

extension CommitWriter {
  /// What the next head goes on from, and the entries that come after it, where that is less to be written than the
  /// same after this device's own segments.
  ///
  /// A head of another device that knows nearly the same has segments of nearly the same under the same keys, so they
  /// are named instead of written anew. Docs/Format.md, "Manifests and heads".
  ///
  /// - Parameter changes: What would be written after this device's own segments.
  /// - Returns: Nil when no other head saves anything.
  func sharedSegments(
    insteadOf changes: [RecordEntry]
  ) throws(VaultError) -> (segments: HeadSegments, changes: [RecordEntry])? {
    if heads.isToBeRewritten { return nil }
    let isCheckpoint = heads.ownSegments.action(for: changes) == .checkpoint
    // What this commit writes itself no other head has.
    let learned = changes.filter { written[$0.record] == nil }
    guard isCheckpoint || DeltaPlan.byteCount(of: learned) > DeltaPlan.smallestCheckpoint
    else { return nil }
    let others = heads.loaded.values
      .filter { $0.device != context.device.id && $0.late == nil && !heads.isOutdated($0) }
      .sorted { ($0.head.time, $0.device) > ($1.head.time, $1.device) }
    if others.isEmpty { return nil }
    let all = pendingEntries(everyRecord)
    let limit = isCheckpoint ? all.count : changes.count
    guard let leaving = try ifWhole(announcedNames()) else {
      return nil
    }
    for other in others
    where leaving.isDisjoint(with: other.head.segments.map(member.objects.name)) {
      guard let (shared, news) = try segments(of: other, toBecome: all) else { continue }
      // A checkpoint of one's own says all of the line as well.
      let marks = isCheckpoint ? [] : shared.missingMarks
      guard
        DeltaPlan.byteCount(of: news) + marks.count * SegmentLineage.markByteCount
          < limit * DeltaPlan.entryByteCount
      else { continue }
      return (shared, news)
    }
    return nil
  }

  /// The segments of another device's head, and what comes after them so that they say what is known here.
  ///
  /// Whoever has the member's keys can write anything into a segment: what says another thing than is known is not
  /// named.
  ///
  /// - Parameter wanted: All entries of the next head.
  /// - Returns: Nil when that cannot be, or a segment cannot be read.
  private func segments(
    of other: LoadedHead, toBecome wanted: [RecordEntry]
  ) throws(VaultError) -> (segments: HeadSegments, news: [RecordEntry])? {
    guard other.head.isCompact(for: wanted.count),
      let segments = try ifWhole(member.loadSegments(of: other.head)),
      let news = Manifest(segments.flatMap(\.entries)).additions(toBecome: wanted)
    else { return nil }
    let own = heads.lines[context.device.id]
    let told = heads.lines.lineage(of: other.head, context.device.id)
    guard told.marks.allSatisfy(own.contains) else { return nil }
    // Another program may have brought them a moment ago.
    let isThere: Void? = try ifWhole { () throws(VaultError) in
      for segment in segments { try member.objects.publish(segment.name) }
    }
    guard isThere != nil else { return nil }
    var shared = HeadSegments(segments, of: context.device.id)
    shared.missingMarks = own.marks.filter { !told.contains($0) }
    return (shared, news)
  }

  /// What some device means to remove: nobody who has seen that names it anew.
  private func announcedNames() throws(VaultError) -> Set<ObjectName> {
    var names: Set<ObjectName> = []
    for case let announcement? in heads.loaded.values.map(\.head.announcement) {
      names.formUnion(try member.objects.announcedNames(announcement))
    }
    return names
  }
}

extension HeadSegments {
  /// - Parameter device: Whose next head is to name them.
  fileprivate init(_ segments: [LoadedSegment], of device: DeviceID) {
    for segment in segments {
      if segment.isDelta {
        deltas.append(DeltaPlan.Delta(segment, of: device))
      } else {
        checkpoint.append(segment.name)
        checkpointByteCount += segment.byteCount
      }
    }
  }
}

extension DeltaPlan.Delta {
  /// - Parameter device: The one whose heads the marks are of.
  init(_ segment: LoadedSegment, of device: DeviceID) {
    let lineage = segment.lineage.flatMap { $0.device == device ? $0 : nil }
    self.init(
      name: segment.name, byteCount: segment.byteCount,
      records: Set(segment.entries.map(\.record)), marks: lineage?.marks ?? [])
  }
}

extension HeadsState {
  /// Whether another head here has seen a newer one of its device: what only it names may be on its way out.
  fileprivate func isOutdated(_ head: LoadedHead) -> Bool {
    loaded.values.contains { other in
      other.head.cover.contains { $0.device == head.device && $0.counter > head.counter }
    }
  }
}

extension Head {
  /// Whether it has no more segments than ours would have for so many entries: whoever names a head's segments does
  /// not take over any number of them.
  fileprivate func isCompact(for entryCount: Int) -> Bool {
    deltas.count <= DeltaPlan.deltaCountLimit + 1
      && checkpoint.count <= entryCount / Limits.checkpointSegmentEntries + 1
  }
}
