import Vault

extension SyncReport {
  /// What a person should know of, also one who did not see this report.
  var findings: [RemoteMemory.Finding] {
    problems.filter { $0.severity > .note }.map(RemoteMemory.Finding.init).kept
  }

  /// The same, with what earlier syncs have found and this one may not have looked at.
  func findings(besides earlier: [RemoteMemory.Finding]) -> [RemoteMemory.Finding] {
    let now = findings
    return (now + earlier.filter { !now.contains($0) }).kept
  }

  /// Earlier findings, with what this sync has found damaged here.
  func findings(ofDamageHere earlier: [RemoteMemory.Finding]) -> [RemoteMemory.Finding] {
    let now = findings.filter { $0.kind == .damagedHere }
    return (now + earlier.filter { $0.kind != .damagedHere }).kept
  }
}

extension [RemoteMemory.Finding] {
  /// So many are kept.
  private static var limit: Int { 8 }

  /// As many of these as are kept, in their order: what a person has to decide before all else, then what is damaged here, on
  /// which goes what the next sync looks at, then two of each kind, so that no number of one hides another.
  fileprivate var kept: [RemoteMemory.Finding] {
    var counts: [SyncProblem.Kind: Int] = [:]
    let ranks = map { finding -> Int in
      let alike = counts[finding.kind, default: 0]
      counts[finding.kind] = alike + 1
      if finding.needsDecision { return 0 }
      if finding.kind == .damagedHere, alike == 0 { return 1 }
      return alike < 2 ? 2 : 3
    }
    let first = indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }.prefix(Self.limit)
    return first.sorted().map { self[$0] }
  }
}
