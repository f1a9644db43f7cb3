import Log
import Vault
import VaultModel

/// What a sync sees to in the open vault between taking and putting.
struct VaultTending {
  let session: SyncSession
  let vault: Vault

  /// Goes on as a device of its own, if another machine has written under this machine's key.
  ///
  /// - Returns: Whether it does.
  func part() throws(SyncError) -> Bool {
    let copies = session.takeCopies()
    guard !copies.isEmpty, !session.options.isDryRun else { return false }
    for (path, above) in copies {
      guard case .head(let id, let device) = path, let member = vault.member(id) else { continue }
      try keeping(try member.part(from: device, above: above))
      session.note(.parted(path, name: vault.name(of: vault.device)))
    }
    return true
  }

  /// Writes this device's register anew, if a copy of this machine has written it too.
  ///
  /// - Returns: Whether it was written.
  func tendRegister(_ exchange: SignedExchange) throws(SyncError) -> Bool {
    guard exchange.isOwnRegisterForked else { return false }
    try keeping { () throws(VaultError) in try vault.rewriteRegister() }
    return true
  }

  /// Sees to who has access to members: goes on with epochs that were interrupted, hands over what was agreed to, begins
  /// the epochs that are due, and removes what is left of older ones. What keeps it from that keeps nothing else from
  /// being synced.
  ///
  /// - Returns: Whether links were written.
  func tendAccess() throws(SyncError) -> Bool {
    var hasWritten = false
    do throws(VaultError) {
      hasWritten = try !vault.resumeEpochs(progress: session.progress).isEmpty
      let steps = try vault.tendHandOvers()
      session.change { $0.handOvers += steps }
      let done = try vault.tendEpochs(progress: session.progress)
      hasWritten = hasWritten || !done.isEmpty || !steps.isEmpty
      session.change { $0.revocations += done }
      if let name = session.name { try vault.removeOldObjects(whileSyncing: name) }
      vault.log.succeeded(.epoch)
    } catch {
      vault.log.failed(.epoch, error)
      session.note(.epochNotBegun(error))
    }
    for problem in vault.takeLeftBehind() {
      session.note(SyncProblem(.damagedHere, .damage, path: problem.path, problem.reason))
    }
    return hasWritten
  }
}
