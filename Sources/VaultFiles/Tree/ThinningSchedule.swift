import Vault
import VaultModel

/// How a mount thins the versions that only it has seen. Docs/Format.md, "Thinning".
package struct Thinning: Sendable {
  package var policy: KeepPolicy
  /// What is known, when it is asked for, of what others have of a member.
  package var seenElsewhere: @Sendable (Member) -> SeenElsewhere

  package init(
    _ policy: KeepPolicy, seenElsewhere: @escaping @Sendable (Member) -> SeenElsewhere
  ) {
    self.policy = policy
    self.seenElsewhere = seenElsewhere
  }
}

/// Which records of a member wait to be thinned, and when what went with that is removed.
struct ThinningSchedule {
  /// How often there is a look.
  static let interval = Duration.seconds(10)
  private static let agingInterval = Duration.seconds(600)
  /// So much longer than a look through everything takes there is none: a large vault takes longer.
  private static let restFactor = 20
  /// Commits wait while so many are looked at.
  private static let batchSize = 500
  /// Fewer objects are not worth a look through everything, for as long as `agingInterval`.
  private static let objectCount = 64

  private var waiting: Set<RecordID> = []
  /// More of their versions go when they are older; nil before the first look.
  private var aging: Set<RecordID>?
  private var nextAging = ContinuousClock.now
  private var nextRemoval = ContinuousClock.now

  /// A commit has written these.
  mutating func note(_ records: some Sequence<RecordID>) { waiting.formUnion(records) }

  /// The records that are to be looked at now.
  ///
  /// - Parameter earlier: Those that were written before this mount; asked for once.
  mutating func records(
    at now: ContinuousClock.Instant, earlier: () -> Set<RecordID>
  ) -> Set<RecordID> {
    if nextAging <= now {
      waiting.formUnion(aging ?? earlier())
      aging = []
      nextAging = now + Self.agingInterval
    }
    return Set(waiting.prefix(Self.batchSize))
  }

  /// They were looked at, and of these more goes later.
  mutating func finish(_ records: Set<RecordID>, aging more: Set<RecordID>) {
    waiting.subtract(records)
    aging?.formUnion(more)
  }

  /// Whether it is time to remove so many objects.
  func removes(_ count: Int, at now: ContinuousClock.Instant) -> Bool {
    guard count > 0, nextRemoval <= now else { return false }
    return count >= Self.objectCount || nextRemoval + Self.agingInterval <= now
  }

  /// A look through everything took so long.
  mutating func rest(after duration: Duration, at now: ContinuousClock.Instant) {
    nextRemoval = now + duration * Self.restFactor
  }
}
