import BlobStore
import Vault
import VaultModel
import VaultObjects

/// What this machine remembers of one remote, so that a sync need not read again what did not change.
///
/// Nothing depends on it: without it a sync reads more and can say less about a remote that went back.
package struct RemoteMemory: Hashable, Sendable {
  /// A signed file as the remote showed it, or as it was put there.
  package struct Seen: Hashable, Sendable {
    /// The store's mark of the file; nil when it was put and not listed since.
    package var fingerprint: UInt64?
    package var state: RegisterState

    package init(fingerprint: UInt64?, state: RegisterState) {
      self.fingerprint = fingerprint
      self.state = state
    }

    /// A register of a device that was known as removed when it was seen.
    package static func retired(fingerprint: UInt64?, hash: FileHash) -> Seen {
      Seen(fingerprint: fingerprint, state: RegisterState(counter: 0, hash: hash))
    }

    /// Registers count from 1.
    package var isRetired: Bool { state.counter == 0 }
  }

  /// Failures since the last success.
  package struct Failures: Hashable, Sendable {
    package var count: Int
    /// Milliseconds since 1970.
    package var first: UInt64
    package var last: UInt64
    /// What the last one said; one line.
    package var text: String

    package init(count: Int, first: UInt64, last: UInt64, text: String) {
      self.count = count
      self.first = first
      self.last = last
      self.text = text
    }
  }

  /// Something that the last sync found and that a person should know of.
  package struct Finding: Hashable, Sendable {
    package var kind: SyncProblem.Kind
    /// What is wrong and where; one line.
    package var text: String

    package init(kind: SyncProblem.Kind, text: String) {
      self.kind = kind
      self.text = text.oneLine
    }

    package init(_ problem: SyncProblem) {
      self.init(kind: problem.kind, text: "\(problem.path): \(problem.text)")
    }

    /// Nothing goes on with it before a person has decided.
    package var needsDecision: Bool { kind == .massChange }
  }

  /// A signed file that did not hold, and is not read again before something is news on which it could build.
  package struct Broken: Hashable, Sendable {
    /// The store's mark of the file.
    package var fingerprint: UInt64
    /// What is told of it; nil for a head of somebody who may not write any more, of which nothing is.
    package var finding: Finding?

    package init(fingerprint: UInt64, finding: Finding?) {
      (self.fingerprint, self.finding) = (fingerprint, finding)
    }
  }

  /// News of a person or member whom nobody vouches for, which was left on the remote.
  package struct LeftCargo: Hashable, Sendable {
    /// Of the names and marks of its files: while that is the same, and so is who is vouched for, it is left again.
    package var mark: UInt64
    package var weight: CargoWeight

    package init(mark: UInt64, weight: CargoWeight) {
      (self.mark, self.weight) = (mark, weight)
    }
  }

  /// The signed files that were verified, by path.
  package var seen: [VaultPath: Seen] = [:]
  /// The registers of other devices that the remote has shown while an older one was here, or none, by the counter of the
  /// newest such: nothing but the remote has brought them.
  package var brought: [VaultPath: UInt64] = [:]
  /// The signed files there that do not hold, by path; no more than there is room for.
  package var broken: [VaultPath: Broken] = [:]
  /// The marks of the others.
  package var brokenMarks: Set<UInt64> = []
  /// What `SignedTree.basis` was when it was found that they do not hold: with another one they are read again.
  package var basis: UInt64 = 0
  /// When a sync last went through without an error; milliseconds since 1970.
  package var lastSuccess: UInt64?
  /// When every folder was last looked into.
  package var lastFullLook: UInt64?
  /// When the logs of other devices were last taken from there.
  package var lastLogs: UInt64?
  /// When the objects there were last compared with those here.
  package var lastComparison: UInt64?
  /// When a sync last saw that the remote had lost something, or had gone back; nil once a comparison has seen, an hour
  /// later or more, that it keeps what was put there. Milliseconds since 1970.
  package var lastLoss: UInt64?
  package var failures: Failures?
  /// What the last sync that came to its end has found, worst first.
  package var findings: [Finding] = []
  /// What was left there of strangers.
  package var leftCargo: [CargoOwner: LeftCargo] = [:]
  /// The fingerprint of those who were vouched for when that was decided.
  package var vouched: FileHash?
  /// Whose turn to be looked at again came last.
  package var lastCargoLook: CargoOwner?
  /// Segments of logs in whose place others have put another one, and that are too recent here for that: how often this machine
  /// has put them back.
  package var returnedSegments: [VaultPath: Int] = [:]
  /// How many commits were here and not there when the last sync ended.
  package var pendingCommitCount: UInt64 = 0

  package init() {}

  package mutating func succeed(at now: UInt64) {
    lastSuccess = now
    failures = nil
  }

  package mutating func fail(at now: UInt64, _ text: String) {
    failures = Failures(
      count: (failures?.count ?? 0) + 1, first: failures?.first ?? now, last: now,
      text: text.oneLine)
  }

  package mutating func fail(at now: UInt64, _ error: SyncError) {
    fail(at: now, error.message)
  }

  /// Whether what this machine names by its newest head stays on the remote: that head stands there, and no comparison is due.
  ///
  /// - Parameter head: Nil where this machine has none.
  package func keepsWhatIsNamed(by head: StandingHead?) -> Bool {
    guard let lastComparison, lastComparison > 0 else { return false }
    guard let head else { return true }
    return seen[head.path]?.state == RegisterState(counter: head.counter, hash: head.hash)
  }

  /// Whether what the remote does not have of a member is not to be expected there: the last sync with it came to its end,
  /// nothing is to be compared since, it was not seen to lose anything a short while ago, and it shows the member's heads as
  /// that sync left them. Where it shows others, what they name may be on its way; where it shows fewer, it was put back, or an
  /// empty folder stands where a disk is plugged in.
  ///
  /// - Parameter heads: What the remote lists now in the folder of the member's heads.
  package func isSettled(_ member: MemberID, listing heads: [BlobEntry]) -> Bool {
    guard let lastComparison, lastComparison > 0, lastLoss == nil, failures == nil else {
      return false
    }
    let folder = BlobPath("members/\(member.hex)/heads")
    var listed: [VaultPath: UInt64] = [:]
    for entry in heads where entry.kind == .blob {
      guard let path = VaultPath(parsing: folder.appending(entry.name).string) else { continue }
      listed[path] = entry.fingerprint
    }
    let known = seen.filter { path, _ in
      if case .head(member, _) = path { true } else { false }
    }
    // Those of devices that were removed may be removed too.
    let standing = known.filter { !$0.value.isRetired }
    return !standing.isEmpty
      && standing.allSatisfy { path, head in
        listed[path].map { head.fingerprint == nil || head.fingerprint == $0 } ?? false
      }
      && listed.allSatisfy { path, mark in
        known[path] != nil || brokenFile(path, marked: mark) != nil
      }
  }

  /// The remote has held something of the vault.
  package var hasHeldFiles: Bool { !seen.isEmpty }

  /// More than five in a row: no passing trouble.
  package var isInTrouble: Bool { (failures?.count ?? 0) > 5 }
}

extension String {
  fileprivate var oneLine: String {
    split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
