import Log
import Vault
import VaultErrors
import VaultModel

/// What a sync sees to in the open vault between taking and putting.
struct VaultTending {
  let session: SyncSession
  let vault: Vault

  /// Goes on as a device of its own, if another machine has written under this machine's key. What was said of heads that go
  /// on from that one's was said of the wrong machine, and is withdrawn: the heads are judged once more.
  ///
  /// - Returns: Whether it does.
  func part() throws(SyncError) -> Bool {
    let copies = session.takeCopies()
    guard !copies.isEmpty, !session.options.isDryRun else { return false }
    session.change { $0.problems.removeAll { $0.kind == .fork } }
    for (path, above) in copies {
      guard case .head(let id, let device) = path, let member = vault.member(id) else { continue }
      try keeping(member.part(from: device, above: above))
      session.note(.parted(path, name: vault.name(of: vault.device)))
    }
    return true
  }

  /// Writes this device's register anew, if a copy of this machine has written it too.
  ///
  /// - Returns: Whether it was written.
  func tendRegister(_ exchange: SignedExchange) throws(SyncError) -> Bool {
    guard exchange.isOwnRegisterForked else { return false }
    try keeping(vault.rewriteRegister())
    return true
  }

  /// Gives this device another name, where another copy of its machine has chosen the same one.
  ///
  /// - Returns: Whether it has another name.
  func tendName() throws(SyncError) -> Bool {
    guard let name = try keeping(vault.renameBesideCopy()) else { return false }
    session.note(.renamed(.device(vault.person, vault.device), name: name))
    return true
  }

  /// Sees to who has access to members: goes on with epochs that were interrupted, hands over what was agreed to, begins
  /// the epochs that are due, and removes what is left of older ones. What keeps it from that keeps nothing else from
  /// being done or synced.
  ///
  /// - Returns: Whether links were written.
  func tendAccess() -> Bool {
    let resumed = vault.resumeEpochs(progress: session.progress)
    let handedOver = vault.tendHandOvers()
    let begun = vault.tendEpochs(
      besides: Set(resumed.failures.map(\.member)), progress: session.progress)
    session.change { report in
      report.handOvers += handedOver.values
      report.revocations += begun.values
    }
    var failures = resumed.failures + handedOver.failures + begun.failures
    if let name = session.name { failures += vault.removeOldObjects(whileSyncing: name) }
    tell(failures)
    return !resumed.values.isEmpty || !handedOver.values.isEmpty || !begun.values.isEmpty
  }

  private func tell(_ failures: [MemberFailure]) {
    if failures.isEmpty { vault.log.succeeded(.epoch) }
    for failure in failures {
      vault.log.failed(.epoch, failure.error)
      session.note(.epochNotBegun(failure))
    }
    for problem in vault.takeLeftBehind() {
      session.note(
        SyncProblem(
          kind(of: problem), problem.severity, path: problem.path, problem.reason))
    }
  }

  private func kind(of problem: Problem) -> SyncProblem.Kind {
    switch problem.kind {
    case .accessForgotten: .accessForgotten
    case .missing: .missingHere
    default: .damagedHere
    }
  }
}
