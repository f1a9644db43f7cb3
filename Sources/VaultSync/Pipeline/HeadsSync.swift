import BlobStore
import MachineState
import Vault
import VaultCrypto
import VaultModel
import VaultTrust

/// When a sync of heads is enough: where there is nothing to do, or only what was committed here is to be put there.
///
/// That there is nothing to do is shown by signed files alone, without a key.
struct HeadsSync {
  let session: SyncSession

  private var home: SyncHome { session.home }

  /// Whether it may be, before anything is looked at.
  func mayBeEnough() throws(SyncError) -> Bool {
    // It looks nowhere but at heads, and moves no logs of what was done.
    guard !session.looksEverywhere, !session.joinsLogs, !session.comparesObjects,
      session.memory.pendingCommitCount == 0
    else { return false }
    // Only an open vault takes that in, and what was fetched while it was locked.
    guard try !keeping(home.state.hasRedoLeft()) else { return false }
    if let name = session.name,
      try !saving(try IncomingFolder(home, remote: name).isEmpty())
    {
      return false
    }
    // Whose files are to be left, only an open vault says.
    return home.vouching != nil && !session.options.takesStrangers
  }

  /// The heads here that the remote has neither shown nor taken as they are.
  func newHeads(_ local: LocalLook) -> Set<VaultPath> {
    let seen = session.memory.seen
    return local.files.filter { path in
      guard path.isHead else { return false }
      do throws(BlobStoreError) {
        let bytes = try home.store.read(BlobPath(path.string), limit: Limits.signedFileBytes)
        return seen[path]?.state.hash != Digest.sha256(bytes)
      } catch {
        // What is wrong with it the whole sync tells.
        return true
      }
    }
  }

  /// Whether nothing else is to be done than to put these heads there, and nothing to be said about either side.
  func isSettled(_ exchange: SignedExchange, but news: Set<VaultPath>) throws(SyncError) -> Bool {
    // A whole sync takes what says that this device was removed, and tells it.
    guard exchange.look.hasDescription, exchange.removal == nil, !exchange.lacksOwnHead,
      try !mayOweEpoch(to: exchange.local.members, exchange)
    else { return false }
    let members = exchange.look.members.union(exchange.local.members)
    return members.allSatisfy { member in
      exchange.heads(of: member).allSatisfy { path in
        news.contains(path) ? exchange.isNewerHere(path) : exchange.isSettled(path)
      }
    } && StatementSync(session: session, exchange: exchange).isSettled
      && session.report.problems.isEmpty
  }

  /// Whether an epoch of a member is to be begun, or something is to be removed there.
  private func mayOweEpoch(
    to members: Set<MemberID>, _ exchange: SignedExchange
  ) throws(SyncError) -> Bool {
    if let name = session.name, try keeping(home.state.hasWorkLeft(on: name)) { return true }
    let now = home.clock.milliseconds()
    // In what strangers have made up this person owes nobody anything.
    for member in members where home.vouching?.members.contains(member) ?? true {
      if try keeping(exchange.tree.mayOweEpoch(to: member, now: now)) { return true }
    }
    return false
  }
}
