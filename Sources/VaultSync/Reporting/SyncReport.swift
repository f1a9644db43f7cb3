import Vault
import VaultErrors
import VaultModel

/// One file that a sync moves, or would move.
package struct SyncMove: Hashable, Sendable {
  package enum Direction: String, Hashable, Sendable {
    case pull
    case push
  }

  package var direction: Direction
  package var path: VaultPath
  package var byteCount: UInt64

  package init(_ direction: Direction, _ path: VaultPath, byteCount: UInt64) {
    self.direction = direction
    self.path = path
    self.byteCount = byteCount
  }
}

/// What went, or would go, in one direction.
package struct SyncTally: Hashable, Sendable {
  package var objectCount = 0
  package var objectByteCount: UInt64 = 0
  package var registerCount = 0
  package var statementCount = 0
  /// Registers and statements.
  package var signedByteCount: UInt64 = 0

  package init() {}

  package var isEmpty: Bool { objectCount + registerCount + statementCount == 0 }
  package var byteCount: UInt64 { objectByteCount + signedByteCount }

  mutating func count(_ path: VaultPath, byteCount: UInt64) {
    switch path {
    case .object:
      objectCount += 1
      objectByteCount += byteCount
    case .device, .head:
      registerCount += 1
      signedByteCount += byteCount
    case .vault, .closing, .certificate, .wrap, .introduction, .deviceRequest,
      .memberRoot, .link, .epochWrap, .auditSegment:
      statementCount += 1
      signedByteCount += byteCount
    }
  }

  mutating func add(_ other: SyncTally) {
    objectCount += other.objectCount
    objectByteCount += other.objectByteCount
    registerCount += other.registerCount
    statementCount += other.statementCount
    signedByteCount += other.signedByteCount
  }

  /// An object that was counted has been taken away again.
  mutating func uncountObject(byteCount: UInt64) {
    objectCount -= 1
    objectByteCount -= byteCount
  }
}

/// What one sync of one remote did, or with `isDryRun` would do.
package struct SyncReport: Sendable {
  package var isDryRun = false
  package var pulled = SyncTally()
  package var pushed = SyncTally()
  /// Every file of both, in no particular order; only of a dry run.
  package var moves: [SyncMove] = []
  /// The records that are news to the other side, in no particular order; only of a dry run, and none of members whose
  /// keys are not here.
  package var records: [SyncedRecord] = []
  /// Requests to the remote, those that only looked included.
  package var traffic = SyncTraffic()
  /// Records that changed here.
  package var changedRecordCount = 0
  /// What was found wrong or stands out, worst first; of one kind no more than `problemLimit`.
  package var problems: [SyncProblem] = []
  /// Folders of the remote that were listed: what is no part of a vault in them is among the problems.
  package var listedFolders: Set<String> = []
  /// Commits that are here and not on the remote yet.
  package var pendingCommitCount: UInt64 = 0
  /// Heads on the remote that were not taken here.
  package var untakenHeadCount = 0
  /// A head there of a member that is read here, or something that one names, could not be read just now: another sync may be
  /// given it.
  package var hasUnreadHeads = false
  /// Members that were sealed anew because it was due.
  package var revocations: [Revocation] = []
  /// What was done about places among owners that are offered.
  package var handOvers: [HandOverStep] = []
  /// Members whose join waits for consent, with what it would take away.
  package var massChanges: [MemberID: MassChange] = [:]

  /// Under what a doorbell is to be rung: of the members of which heads were put on the remote.
  package var doorbellTopics: Set<String> = []

  package init() {}

  /// A hostile store can have any number of them.
  package static let problemLimit = 50

  /// Another sync may bring more of what is read here, once the remote gives it or a person agrees.
  package var mayBringMore: Bool { hasUnreadHeads || !massChanges.isEmpty }

  /// Nothing is left to do in either direction.
  package var isComplete: Bool {
    pendingCommitCount == 0 && untakenHeadCount == 0
      && !problems.contains { $0.severity == .damage }
  }
}
