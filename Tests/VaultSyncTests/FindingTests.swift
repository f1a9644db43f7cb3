import Testing
import Vault

@testable import VaultSync

/// What is remembered of what a sync found, for whoever did not see its report.
@Suite struct FindingTests {
  /// Somebody who may write another member leaves two versions of any number of heads there, which come first by their paths.
  @Test func nothingHidesWhatAPersonHasToDecide() {
    let forks = (0..<20).map {
      SyncProblem(.fork, .damage, path: "members/0/heads/\($0)", "two of one number")
    }
    let others: [SyncProblem] = [
      SyncProblem(.massChange, .damage, path: "members/1", "would delete 30 of 50"),
      SyncProblem(.damagedHere, .damage, path: "members/1/objects/1", "not whole"),
      SyncProblem(.damagedHere, .damage, path: "members/1/objects/2", "not whole"),
      SyncProblem(.missingThere, .warning, path: "members/1/objects/3", "lost"),
    ]
    var report = SyncReport()
    report.problems = forks + others
    let found = report.findings
    #expect(found.count == 8)
    #expect(Array(found.suffix(4)) == others.map(RemoteMemory.Finding.init))
    #expect(Array(found.prefix(4)) == forks.prefix(4).map(RemoteMemory.Finding.init))
    report.problems = forks
    #expect(report.findings == forks.prefix(8).map(RemoteMemory.Finding.init))
  }

  /// Whatever is damaged here: the next sync looks at all that it sends.
  @Test func damageHereHidesNoDecision() {
    let damage = (0..<20).map {
      SyncProblem(.damagedHere, .damage, path: "members/0/objects/\($0)", "not whole")
    }
    let change = SyncProblem(.massChange, .damage, path: "members/1", "would delete 30 of 50")
    var report = SyncReport()
    report.problems = damage
    let earlier = [RemoteMemory.Finding(change)]
    #expect(report.findings(ofDamageHere: earlier).last == earlier[0])
    report.problems.append(change)
    #expect(report.findings.last == earlier[0])
  }
}
