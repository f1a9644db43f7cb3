import BlobStore
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

  /// - Parameters:
  ///   - remote: Where the copy is, with whatever retries and limits it is to have.
  ///   - name: What this machine calls it; what is remembered of it is kept under that name.
  package init(
    vault: Vault, remote: any BlobStore, name: RemoteName, options: SyncOptions = SyncOptions()
  ) {
    self.vault = vault
    self.remote = remote
    self.name = name
    self.options = options
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
    let file = RemoteStateFile(state: vault.state, remote: name)
    return try file.whileLocked { () throws(SyncError) in
      let session = SyncSession(
        vault: vault, remote: remote, nearer: nil, memory: try file.load(), options: options,
        progress: progress)
      let now = vault.clock.milliseconds()
      do throws(SyncError) {
        try run(session)
      } catch {
        session.remember { $0.fail(at: now, error.message) }
        if !options.isDryRun { try file.store(session.memory) }
        throw error
      }
      let report = session.report
      session.remember { memory in
        memory.succeed(at: now)
        memory.pendingCommitCount = report.pendingCommitCount
        if session.options.looksEverywhere { memory.lastFullLook = now }
      }
      if !options.isDryRun { try file.store(session.memory) }
      return report
    }
  }

  private func run(_ session: SyncSession) throws(SyncError) {
    let local: LocalLook
    do throws(BlobStoreError) { local = try LocalLook(vault.store) } catch {
      throw .vault(VaultError(error))
    }
    let look = try RemoteLooking(session: session, local: local.files).look()
    let exchange = try SignedExchange(session: session, look: look, local: local)
    let statements = StatementSync(session: session, exchange: exchange)
    let members = look.members.union(local.members).sorted().map {
      MemberSync(session: session, exchange: exchange, member: $0)
    }
    if options.direction != .push {
      try statements.pull()
      for member in members { try member.pull() }
    }
    if options.direction != .pull {
      try statements.pushPeople()
      for member in members { try member.push() }
      try finishPush(session, look)
    }
    for member in members { try member.countPending() }
  }

  /// The heads are there; a vault becomes one when its `vault.json` is, too.
  private func finishPush(_ session: SyncSession, _ look: RemoteLook) throws(SyncError) {
    if !look.hasDescription {
      try session.flush()
      try session.put(.vault, VaultDescription(vault: vault.id).encoded())
    }
    if !session.report.pushed.isEmpty { try session.flush() }
  }
}
