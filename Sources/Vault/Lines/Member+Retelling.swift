import Threads
import VaultErrors
import VaultModel

/// Lines that another device has taken over, as one that was put back or copied: what is written in their names is its.
/// Docs/Format.md, "Lines".
extension Member {
  func retelling(
    of device: DeviceID, _ mark: HeadMark, _ heads: HeadsState
  ) -> (to: DeviceID, above: UInt64)? {
    heads.retelling(of: device, mark, by: witnesses)
  }

  /// Takes the entries of a head as written by those who have taken over what its writer knew of them before.
  ///
  /// - Returns: The records concerned.
  func retell(
    _ segments: inout [LoadedSegment], of head: LoadedHead, _ heads: HeadsState
  ) throws(VaultError) -> Set<RecordID> {
    var records: Set<RecordID> = []
    for cover in head.head.basis {
      guard let (other, above) = retelling(of: cover.device, cover.mark, heads),
        other != head.device
      else { continue }
      let renaming = Renaming(member: self, device: cover.device, above: above, to: other)
      for index in segments.indices {
        for position in segments[index].entries.indices
        where renaming.concerns(segments[index].entries[position]) {
          let entry = try renaming.entry(segments[index].entries[position])
          segments[index].entries[position] = entry
          records.insert(entry.record)
        }
      }
    }
    return records
  }

  /// Whether the head's line was taken over by another device, whose head has all of it.
  package func isRetold(_ device: DeviceID, counter: UInt64, hash: FileHash) -> Bool {
    heads.withLock { heads in
      retelling(of: device, HeadMark(counter: counter, hash: hash), heads) != nil
    }
  }

  /// Whether the head's writer knew a line that another device has taken over: its entries say other things than those
  /// of the heads here.
  package func mustRetell(_ head: OpenedHead) -> Bool {
    heads.withLock { heads in
      head.head.basis.contains { retelling(of: $0.device, $0.mark, heads) != nil }
    }
  }
}
