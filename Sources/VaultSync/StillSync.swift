import BlobStore
import Vault
import VaultCrypto
import VaultModel

/// The sync that has nothing to do, which is most of them: signed files alone show that, so no key is needed and no
/// record is read, however many there are.
package struct StillSync: Sendable {
  private let home: SyncHome
  private let remote: any BlobStore
  private let name: RemoteName
  private let options: SyncOptions

  /// - Parameters:
  ///   - vault: The vault's id, as its `vault.json` says.
  ///   - folder: The vault's folder.
  /// - Throws: `vault` when this machine has no device in it.
  package init(
    vault: VaultID, folder: any BlobStore, state: StateFolder, remote: any BlobStore,
    name: RemoteName, options: SyncOptions = SyncOptions(), clock: WallClock = .system
  ) throws(SyncError) {
    home = try SyncHome(locked: vault, folder: folder, state: state, clock: clock)
    self.remote = remote
    self.name = name
    self.options = options
  }

  /// What `RemoteSync.run` would report, if both sides hold the same and there is nothing to say about either.
  ///
  /// - Returns: Nil when a sync is needed, or may be; nothing was changed then. Where something waits here to be put
  ///   there, the remote is not even asked.
  package func run() throws(SyncError) -> SyncReport? {
    try SyncRun(home: home, remote: remote, name: name, options: options).runIfEnough({ _ in }) {
      (session) throws(SyncError) in
      // Logs of what was done move only in a sync that looks everywhere.
      guard !session.looksEverywhere, session.memory.pendingCommitCount == 0 else { return false }
      let local: LocalLook
      do throws(BlobStoreError) { local = try LocalLook(home.store) } catch {
        throw .vault(VaultError(error))
      }
      guard try isRemembered(local, session) else { return false }
      let look = try RemoteLooking(session: session, local: local.files).look()
      guard look.hasDescription else { return false }
      let exchange = try SignedExchange(session: session, look: look, local: local)
      try exchange.requireNotRemoved()
      let members = look.members.union(local.members)
      guard try !mayOweEpoch(to: local.members, exchange) else { return false }
      return members.allSatisfy { exchange.heads(of: $0).allSatisfy(exchange.isSettled) }
        && StatementSync(session: session, exchange: exchange).isSettled
        && session.report.problems.isEmpty
    }
  }

  /// Whether an epoch of a member is to be begun, or one that was begun has left something to do.
  private func mayOweEpoch(
    to members: Set<MemberID>, _ exchange: SignedExchange
  ) throws(SyncError) -> Bool {
    try keeping { () throws(VaultError) in
      if try home.state.hasEpochsLeft() { return true }
      let now = home.clock.milliseconds()
      for member in members where try exchange.tree.mayOweEpoch(to: member, now: now) {
        return true
      }
      return false
    }
  }

  /// Whether the remote has shown or taken every head as it is here.
  private func isRemembered(
    _ local: LocalLook, _ session: SyncSession
  ) throws(SyncError) -> Bool {
    let seen = session.memory.seen
    for path in local.files {
      guard case .head = path else { continue }
      let bytes: [UInt8]
      do throws(BlobStoreError) {
        bytes = try home.store.read(BlobPath(path.string), limit: Limits.signedFileBytes)
      } catch {
        return false
      }
      guard seen[path]?.state.hash == Digest.sha256(bytes) else { return false }
    }
    return true
  }
}
