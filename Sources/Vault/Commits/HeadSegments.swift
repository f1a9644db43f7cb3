import VaultModel

/// The segments that a head names, with what the next commit has to know of them.
struct HeadSegments: Equatable, Sendable {
  var checkpoint: [ObjectName] = []
  var checkpointByteCount = 0
  var deltas: [DeltaPlan.Delta] = []

  /// What to do with these entries, which come after what the segments hold.
  func action(for changes: [RecordEntry]) -> DeltaPlan.Action {
    DeltaPlan.action(
      deltas: deltas, checkpointByteCount: checkpointByteCount,
      newByteCount: DeltaPlan.byteCount(of: changes))
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
    let isCheckpoint = heads.ownSegments.action(for: changes) == .checkpoint
    guard isCheckpoint || DeltaPlan.byteCount(of: changes) > DeltaPlan.smallestCheckpoint
    else { return nil }
    let others = heads.loaded.values
      .filter { $0.device != context.device.id && $0.late == nil }
      .sorted { ($0.head.time, $0.device) > ($1.head.time, $1.device) }
    if others.isEmpty { return nil }
    let all = pendingEntries(everyRecord)
    let limit = isCheckpoint ? all.count : changes.count
    guard let leaving = try readable({ () throws(VaultError) in try announcedNames() }) else {
      return nil
    }
    for other in others {
      guard leaving.isDisjoint(with: other.head.segments), other.head.isCompact(for: all.count),
        let segments = try readable({ () throws(VaultError) in
          try member.loadSegments(of: other.head)
        })
      else { continue }
      let known = Manifest(segments.flatMap(\.entries))
      guard let news = known.additions(toBecome: all), news.count < limit else { continue }
      return (HeadSegments(segments), news)
    }
    return nil
  }

  /// What `body` reads; nil when something of it is not here, or damaged.
  private func readable<Value>(
    _ body: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value? {
    do throws(VaultError) { return try body() } catch {
      switch error {
      case .missing, .damaged: return nil
      default: throw error
      }
    }
  }

  /// What some device means to remove: nobody who has seen that names it anew.
  private func announcedNames() throws(VaultError) -> Set<ObjectName> {
    var names: Set<ObjectName> = []
    for case let announcement? in heads.loaded.values.map(\.head.announcement) {
      names.formUnion(try member.announced(announcement))
    }
    return names
  }
}

extension HeadSegments {
  init(_ segments: [LoadedSegment]) {
    for segment in segments {
      if segment.isDelta {
        deltas.append(DeltaPlan.Delta(segment))
      } else {
        checkpoint.append(segment.name)
        checkpointByteCount += segment.byteCount
      }
    }
  }
}

extension DeltaPlan.Delta {
  init(_ segment: LoadedSegment) {
    self.init(
      name: segment.name, byteCount: segment.byteCount,
      records: Set(segment.entries.map(\.record)))
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
