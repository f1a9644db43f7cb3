import MachineState
import VaultErrors
import VaultModel

/// How long what was replaced or deleted is kept, by what is known of clocks. `Docs/Format.md` section 11, "Removing
/// objects".
struct Retention {
  /// A revision that replaced or deleted something, and when it says that it was written.
  struct Write {
    let revision: ContentDigest
    let time: HybridTime
  }

  /// Nil: nothing is kept that is not current.
  private let limit: HybridTime?
  private let clock: WallClock

  init(keepDays: Int, clock: WallClock) {
    self.clock = clock
    let (kept, overflow) = UInt64(max(0, keepDays))
      .multipliedReportingOverflow(by: CivilTime.dayMilliseconds)
    let now = clock.milliseconds()
    limit = keepDays <= 0 ? nil : HybridTime(milliseconds: overflow || kept > now ? 0 : now - kept)
  }

  /// Whether what was replaced or deleted by this write is still kept.
  ///
  /// A date is its writer's to say, and one of long ago would have everything go at once that the write replaced. So a write
  /// counts as no earlier than it came here; and one whose date nobody can believe as no later.
  ///
  /// - Parameter arrival: When the revision came to this machine; nil where it is not here, or its folder keeps no times. Where
  ///   that cannot be read just now, what was replaced stays.
  func keeps(
    whatWasReplacedBy write: Write, arrival: (ContentDigest) throws(VaultError) -> HybridTime?
  ) -> Bool {
    guard let limit else { return false }
    let isBelieved = clock.believes(write.time)
    if isBelieved, write.time >= limit { return true }
    do {
      guard let arrival = try arrival(write.revision) else { return !isBelieved }
      return arrival >= limit
    } catch {
      return true
    }
  }

  /// Whether what a kept revision was made from stays as long as it does: a join is whose its parts are.
  func keepsParts(of revision: RecordRevision) -> Bool {
    limit != nil && revision.isUnsignedJoin && !revision.place.isDeleted
  }
}
