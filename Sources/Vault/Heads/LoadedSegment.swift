import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

/// A segment that was read.
struct LoadedSegment: Sendable {
  let name: ContentDigest
  let isDelta: Bool
  let byteCount: Int
  var entries: [RecordEntry]
  let lineage: SegmentLineage?
}

extension Member {
  /// The segments that a head names, in their order.
  ///
  /// - Parameter isWanted: Which of them are read.
  /// - Throws: `missing`, `damaged`.
  func loadSegments(
    of head: Head,
    where isWanted: (_ name: ContentDigest, _ isDelta: Bool) -> Bool = { _, _ in true }
  ) throws(VaultError) -> [LoadedSegment] {
    let named = head.checkpoint.map { ($0, false) } + head.deltas.map { ($0, true) }
    return try inParallel(named.filter(isWanted)) { (name, isDelta) throws(VaultError) in
      let (segment, byteCount) = try self.segment(name)
      return LoadedSegment(
        name: name, isDelta: isDelta, byteCount: byteCount, entries: segment.entries,
        lineage: segment.lineage)
    }
  }

  /// All that the segments of a head hold.
  func entries(of head: Head) throws(VaultError) -> [RecordEntry] {
    var entries: [RecordEntry] = []
    for name in head.segments { entries += try self.entries(in: name) }
    return entries
  }

  func entries(in segment: ContentDigest) throws(VaultError) -> [RecordEntry] {
    try self.segment(segment).segment.entries
  }

  private func segment(
    _ name: ContentDigest
  ) throws(VaultError) -> (segment: Segment, byteCount: Int) {
    let bytes = try objects.content(name, kind: .segment)
    do { return (try Segment(decoding: bytes), bytes.count) } catch {
      throw VaultError(error, path: objects.path(of: name).string)
    }
  }

  /// How many bytes the files of a head's checkpoint have.
  func checkpointByteCount(of head: Head) throws(VaultError) -> Int {
    var total = 0
    for name in head.checkpoint {
      let path = objects.path(of: name)
      total += Int(
        clamping: try storing(context.store.size(of: path)) ?? 0
      )
    }
    return total
  }
}
