import VaultModel

/// What a copy of the vault surely holds of one member: for each device whose head stands there, everything that the
/// device had written up to that head's counter.
///
/// That follows from the order of writing: a head is put in place only after everything it names.
package struct Coverage: Hashable, Sendable {
  package var counters: [DeviceID: UInt64]

  package init(_ counters: [DeviceID: UInt64] = [:]) { self.counters = counters }

  package subscript(device: DeviceID) -> UInt64 { counters[device] ?? 0 }

  /// Whether the revision that this entry names is surely there.
  ///
  /// A revision that several devices have written may be a merge, which carries no counter of its own and so may be
  /// missing where all its writers are known: of it this says nil, and only its `previous` tell. One that says of no device that
  /// it has written it is of no head that stands there.
  package func holds(_ entry: RecordEntry) -> Bool? {
    guard covers(entry.version) else { return false }
    return entry.version.entries.count > 1 ? nil : true
  }

  /// Whether this revision is surely there.
  package func holds(_ revision: RecordRevision) -> Bool {
    revision.previous.count < 2 && covers(revision.version)
  }

  /// Whether the version names a device, and no counter that has not come here. What stands for a revision is no device's: whoever
  /// names it has written theirs.
  private func covers(_ version: VersionVector) -> Bool {
    let entries = version.entries
    // Devices come after revisions.
    guard let last = entries.last, !last.device.standsForRevision else { return false }
    return entries.allSatisfy { $0.device.standsForRevision || self[$0.device] >= $0.counter }
  }

  /// How many commits of these heads are missing here.
  package func missingCommits(of heads: [DeviceID: UInt64]) -> UInt64 {
    heads.reduce(0) { sum, head in
      head.value > self[head.key] ? sum + (head.value - self[head.key]) : sum
    }
  }
}
