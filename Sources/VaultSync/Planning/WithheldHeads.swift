import VaultModel

/// A head that somebody has seen and that nobody shows.
package struct WithheldHead: Hashable, Sendable {
  package var device: DeviceID
  /// The newest state that a cover names.
  package var seen: UInt64
  /// The newest that is shown here or there; 0 for none.
  package var shown: UInt64
  /// Whose head says so.
  package var witness: DeviceID

  /// What the covers of heads know of and no one shows: withheld, or not carried on yet. Sorted by device.
  ///
  /// - Parameters:
  ///   - heads: Each device's head, with what it has seen of the others.
  ///   - shown: The newest counter of each device, here or on the remote.
  package static func find(
    heads: [(device: DeviceID, cover: [Head.Cover])], shown: [DeviceID: UInt64]
  ) -> [WithheldHead] {
    var found: [DeviceID: WithheldHead] = [:]
    for head in heads {
      for cover in head.cover where cover.counter > shown[cover.device] ?? 0 {
        if let known = found[cover.device], known.seen >= cover.counter { continue }
        found[cover.device] = WithheldHead(
          device: cover.device, seen: cover.counter, shown: shown[cover.device] ?? 0,
          witness: head.device)
      }
    }
    return found.values.sorted { $0.device < $1.device }
  }
}
