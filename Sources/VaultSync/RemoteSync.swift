import BlobStore
import Log
import Vault
import VaultModel

/// Syncs an open vault with one remote: another copy of the vault, in any store. Docs/Sync.md.
///
/// Objects are joined, signed files are verified and the newer register counts; nothing that is newer is ever
/// replaced, here or there. A sync that is stopped at any point, or that another one runs beside, has moved what it
/// has moved; the next one goes on from there. One process at a time syncs one remote.
package struct RemoteSync: Sendable {
  private let vault: Vault
  private let remote: any BlobStore
  private let name: RemoteName
  private let options: SyncOptions
  private let elsewhere: (any ObjectSource)?

  /// - Parameters:
  ///   - remote: Where the copy is, with whatever retries and limits it is to have.
  ///   - name: What this machine calls it; what is remembered of it is kept under that name.
  ///   - elsewhere: Where objects may be had that the remote has lost.
  package init(
    vault: Vault, remote: any BlobStore, name: RemoteName, options: SyncOptions = SyncOptions(),
    elsewhere: (any ObjectSource)? = nil
  ) {
    self.vault = vault
    self.remote = remote
    self.name = name
    self.options = options
    self.elsewhere = elsewhere
  }

  /// Pulls, joins and pushes, as the options say.
  ///
  /// Trouble with one file or member is in the report, and everything else goes on. What ended the sync early is
  /// thrown, and remembered with its time; so is a success.
  ///
  /// - Parameter progress: Called now and then, from several threads.
  package func run(
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(SyncError) -> SyncReport {
    let vouching = try keeping(try vault.rememberedVouching())
    return try SyncRun(
      home: SyncHome(vault, vouching: vouching), remote: remote, name: name, options: options,
      elsewhere: elsewhere
    ).run(progress) { (session) throws(SyncError) in
      var (exchange, members) = try look(session)
      if options.direction != .push {
        try StatementSync(session: session, exchange: exchange).pull(into: vault)
        // Only this much: that it was removed is what it has to know.
        try exchange.requireNotRemoved()
        for member in members { try member.pull() }
        // Another process may have noticed first, and this one have followed.
        if try part(session) || exchange.isOfFormerDevice {
          (exchange, members) = try look(session)
          for member in members { try member.pull() }
        }
        try forgetIncoming(session)
      }
      try exchange.requireNotRemoved()
      var hasNews = false
      if options.direction != .pull, !options.isDryRun { hasNews = try tendAccess(session) }
      if hasNews || exchange.isOfFormerDevice {
        // There are links now that were not there before, or a device.
        (exchange, members) = try look(session)
      }
      try AuditSync(session: session, exchange: exchange).run(into: vault)
      if options.direction != .pull {
        try StatementSync(session: session, exchange: exchange).pushPeople()
        for member in members { try member.push() }
        try session.finishPush(exchange.look)
      }
      for member in members { member.countPending() }
    }
  }

  /// Goes on as a device of its own, if another machine has written under this machine's key.
  ///
  /// - Returns: Whether it does.
  private func part(_ session: SyncSession) throws(SyncError) -> Bool {
    let copies = session.takeCopies()
    guard !copies.isEmpty, !options.isDryRun else { return false }
    for (path, above) in copies {
      guard case .head(let id, let device) = path, let member = vault.member(id) else { continue }
      try keeping(try member.part(from: device, above: above))
      session.note(.parted(path, name: vault.name(of: vault.device)))
    }
    return true
  }

  private func look(
    _ session: SyncSession
  ) throws(SyncError) -> (SignedExchange, [MemberSync]) {
    let (exchange, members) = try session.look()
    return (
      exchange,
      members.map {
        MemberSync(session: session, exchange: exchange, vault: vault, member: $0)
      }
    )
  }

  /// Sees to who has access to members: goes on with epochs that were interrupted, hands over what was agreed to, begins the
  /// epochs that are due, and removes what is left of older ones. What keeps it from that keeps nothing else from being
  /// synced.
  ///
  /// - Returns: Whether links were written.
  private func tendAccess(_ session: SyncSession) throws(SyncError) -> Bool {
    var hasWritten = false
    do throws(VaultError) {
      hasWritten = try !vault.resumeEpochs(progress: session.progress).isEmpty
      let steps = try vault.tendHandOvers()
      session.change { $0.handOvers += steps }
      let done = try vault.tendEpochs(progress: session.progress)
      hasWritten = hasWritten || !done.isEmpty || !steps.isEmpty
      session.change { $0.revocations += done }
      try vault.removeOldObjects(whileSyncing: name)
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

  /// What was fetched while locked has been taken.
  private func forgetIncoming(_ session: SyncSession) throws(SyncError) {
    guard !options.isDryRun, session.report.untakenHeadCount == 0 else { return }
    do throws(BlobStoreError) {
      try IncomingFolder(state: vault.state, remote: name).clear()
    } catch {
      throw .vault(VaultError(error))
    }
  }
}
