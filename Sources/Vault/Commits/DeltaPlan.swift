import VaultModel

/// Decides what a commit does with the delta segments that its head names, so that there are few of
/// them and each entry is rewritten seldom. Pure; Docs/Format.md, "Manifests and heads".
struct DeltaPlan: Equatable {
  /// One delta segment of the head.
  struct Delta: Equatable, Sendable {
    var name: ContentDigest
    var byteCount: Int
    var records: Set<RecordID>
    /// The heads that its lineage lists: they come before the one that named the segment first.
    var marks: [HeadMark] = []
  }

  enum Action: Equatable {
    /// The new entries become a delta of their own.
    case append
    /// The new entries and all deltas from this position on become one.
    case merge(from: Int)
    /// Everything becomes a new checkpoint.
    case checkpoint
  }

  static let deltaCountLimit = 8
  /// How many bytes of content a segment has room for whose file is of the smallest size that there is.
  static let smallestSegment = 480
  static let smallestCheckpoint = 64 << 10

  /// About how many bytes a segment of these entries has.
  static func byteCount(of entries: [RecordEntry]) -> Int { entries.count * entryByteCount }

  static let entryByteCount = 160

  /// What to do with new entries.
  ///
  /// They join the last delta where that makes no larger file of it: each that a head names costs its 34 bytes.
  /// Merging takes every delta at the end that is not more than twice as large as all after it: as in
  /// a log-structured merge tree, an entry is then rewritten a logarithmic number of times.
  static func action(
    deltas: [Delta], checkpointByteCount: Int, new: some Collection<RecordID>
  ) -> Action {
    let newByteCount = new.count * entryByteCount
    let total = deltas.reduce(newByteCount) { $0 + $1.byteCount }
    if checkpointByteCount == 0 || total > max(checkpointByteCount, smallestCheckpoint) {
      return .checkpoint
    }
    if let last = deltas.last {
      let added = new.reduce(0) { $0 + (last.records.contains($1) ? 0 : entryByteCount) }
      if last.byteCount + added + SegmentLineage.markByteCount <= smallestSegment {
        return .merge(from: deltas.count - 1)
      }
    }
    guard deltas.count >= deltaCountLimit else { return .append }
    var start = deltas.count
    var sum = newByteCount
    while start > 0, deltas[start - 1].byteCount <= 2 * sum {
      start -= 1
      sum += deltas[start].byteCount
    }
    // One at least, so that their number stays bounded.
    return .merge(from: min(start, deltas.count - 1))
  }
}
