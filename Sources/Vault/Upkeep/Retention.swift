import VaultModel

/// How long what was replaced or deleted is kept, by what is known of clocks. `Docs/Format.md` section 11, "Removing
/// objects".
struct Retention {
  /// Nil: nothing is kept that is not current.
  private let limit: HybridTime?
  private let clock: WallClock
  /// What each device wrote at a time that can be believed, by its counters.
  private let writes: [DeviceID: [Write]]

  fileprivate struct Write {
    let counter: UInt64
    /// The earliest of its time and of those of the writes after it.
    var earliest: HybridTime
  }

  /// - Parameter entries: Everything current, by which the writes are dated that name a time ahead of the clock.
  init(keepDays: Int, entries: [RecordEntry], clock: WallClock) {
    self.clock = clock
    let (kept, overflow) = UInt64(max(0, keepDays))
      .multipliedReportingOverflow(by: CivilTime.dayMilliseconds)
    let now = clock.milliseconds()
    limit = keepDays <= 0 ? nil : HybridTime(milliseconds: overflow || kept > now ? 0 : now - kept)
    var found: [DeviceID: [Write]] = [:]
    for entry in entries where clock.believes(entry.time) {
      found[entry.device, default: []].append(
        Write(counter: entry.version[entry.device], earliest: entry.time))
    }
    for device in found.keys { found[device]?.dateBackwards() }
    writes = found
  }

  /// Whether what was replaced or deleted by this write is still kept.
  ///
  /// A write that names a time ahead of the clock was made before the device's next one that does not; where there is none, it
  /// may have been made just now.
  func keeps(whatWasReplacedAt time: HybridTime, by device: DeviceID, counter: UInt64) -> Bool {
    guard let limit else { return false }
    if clock.believes(time) { return time >= limit }
    guard let writes = writes[device] else { return true }
    var (low, high) = (0, writes.count)
    while low < high {
      let middle = (low + high) / 2
      if writes[middle].counter <= counter { low = middle + 1 } else { high = middle }
    }
    return low == writes.count || writes[low].earliest >= limit
  }

  /// Whether what a kept revision was made from stays as long as it does: a join is whose its parts are.
  func keepsParts(of revision: RecordRevision) -> Bool {
    limit != nil && revision.isUnsignedJoin && !revision.place.isDeleted
  }
}

extension [Retention.Write] {
  /// Sorts them, and dates each no later than those after it.
  fileprivate mutating func dateBackwards() {
    sort { $0.counter < $1.counter }
    for index in indices.dropLast().reversed() {
      self[index].earliest = Swift.min(self[index].earliest, self[index + 1].earliest)
    }
  }
}
