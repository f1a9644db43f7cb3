import BlobStore
import Vault
import VaultCrypto
import VaultModel

/// The sync that needs no list of records, which is most of them: where there is nothing to do, or only what was
/// committed here is to be put there. So it costs the same however many records there are.
///
/// That there is nothing to do is shown by signed files alone, without a key.
package struct QuickSync: Sendable {
  /// Opens the vault as far as its heads; nil when it has to be opened whole.
  package typealias Opening = () throws(VaultError) -> VaultHeads?

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

  /// What `RemoteSync.run` would report, if this is enough and there is nothing to say about either side.
  ///
  /// - Parameter opening: Asked only when something was committed here; without it that is never enough.
  /// - Returns: Nil when a whole sync is needed, or may be; at most objects were put there then. Where more waits here
  ///   than this can put there, the remote is not even asked.
  package func run(opening: Opening = { () throws(VaultError) in nil }) throws(SyncError)
    -> SyncReport?
  {
    try SyncRun(home: home, remote: remote, name: name, options: options).runIfEnough({ _ in }) {
      (session) throws(SyncError) in
      // Logs of what was done move only in a sync that looks everywhere.
      guard !session.looksEverywhere, !session.comparesObjects,
        session.memory.pendingCommitCount == 0
      else { return false }
      // Only an open vault takes that in.
      guard try !keeping(try home.state.hasRedoLeft()) else {
        return false
      }
      // Whose files are to be left, only an open vault says.
      guard home.vouching != nil, !options.takesStrangers else { return false }
      let local = try session.localLook()
      let news = try newHeads(local, session)
      var vault: VaultHeads?
      if !news.isEmpty {
        guard options.direction != .pull, !options.isDryRun else { return false }
        vault = try keeping(try opening())
        guard vault != nil else { return false }
      }
      let exchange = try session.look(besides: local)
      guard exchange.look.hasDescription else { return false }
      // The whole sync takes what says so, and tells it.
      guard exchange.removal == nil else { return false }
      guard try isSettled(exchange, but: news) else { return false }
      guard let vault else { return true }
      return try CommitPush(session: session, exchange: exchange, vault: vault).run(news)
    }
  }

  /// Whether nothing else is to be done than to put these heads there.
  private func isSettled(
    _ exchange: SignedExchange, but news: Set<VaultPath>
  ) throws(SyncError) -> Bool {
    guard try !mayOweEpoch(to: exchange.local.members, exchange) else { return false }
    let members = exchange.look.members.union(exchange.local.members)
    return members.allSatisfy { member in
      exchange.heads(of: member).allSatisfy { path in
        news.contains(path) ? exchange.isNewerHere(path) : exchange.isSettled(path)
      }
    } && StatementSync(session: exchange.session, exchange: exchange).isSettled
      && exchange.session.report.problems.isEmpty
  }

  /// Whether an epoch of a member is to be begun, or something is to be removed there.
  private func mayOweEpoch(
    to members: Set<MemberID>, _ exchange: SignedExchange
  ) throws(SyncError) -> Bool {
    try keeping { () throws(VaultError) in
      if try home.state.hasWorkLeft(on: name) { return true }
      let now = home.clock.milliseconds()
      // In what strangers have made up this person owes nobody anything.
      for member in members where home.vouching?.members.contains(member) ?? true {
        if try exchange.tree.mayOweEpoch(to: member, now: now) { return true }
      }
      return false
    }
  }

  /// The heads here that the remote has neither shown nor taken as they are.
  private func newHeads(
    _ local: LocalLook, _ session: SyncSession
  ) throws(SyncError) -> Set<VaultPath> {
    let seen = session.memory.seen
    var news: Set<VaultPath> = []
    for path in local.files {
      guard case .head = path else { continue }
      let bytes: [UInt8]
      do throws(BlobStoreError) {
        bytes = try home.store.read(BlobPath(path.string), limit: Limits.signedFileBytes)
      } catch {
        // What is wrong with it the whole sync tells.
        news.insert(path)
        continue
      }
      if seen[path]?.state.hash != Digest.sha256(bytes) { news.insert(path) }
    }
    return news
  }
}
