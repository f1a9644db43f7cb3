import BlobStore
import Vault
import VaultModel

/// Takes what a remote has of one member while the vault is locked: carries ciphertext, and joins nothing.
///
/// Signatures need no key, so signed files are verified as ever, and the same plans are made. What is new on the
/// remote is fetched into this machine's state, from where the next sync with the keys takes it; it counts as pulled.
struct LockedPull {
  let session: SyncSession
  let exchange: SignedExchange
  let member: MemberID

  /// Fetches what a member's new heads may name, and the heads, into the folder for it.
  func run() throws(SyncError) {
    guard let name = session.name else { return }
    let plans = exchange.heads(of: member).map { ($0, exchange.plan($0)) }
    // What strangers have there waits for a sync that can put it in place.
    if exchange.cargo.rooms[member] != nil { return }
    for (path, plan) in plans { exchange.note(plan, path) }
    let wanted = plans.filter { $0.1.action == .take }.map(\.0)
    let own = VaultPath.head(member, session.home.device)
    if wanted.contains(own) {
      // Only who has the keys finds out whether it is of this machine's line.
      session.remember { $0.seen[own] = nil }
    }
    guard !wanted.isEmpty else { return }
    let incoming = IncomingFolder(state: session.home.state, remote: name)
    let here = try ObjectListing.loadHere(member, session: session)
    let there = try ObjectListing.load(member, session: session)
    let missing = there.filter { here[$0.key] == nil }.sorted { $0.key < $1.key }
    try session.forEach(missing) { [self] (object) throws(SyncError) in
      let path = VaultPath.object(member, object.key)
      try fetch(path, byteCount: object.value, into: incoming)
    }
    for path in wanted {
      guard let file = try exchange.fetched(path) else { continue }
      try save(path, file.bytes, into: incoming)
    }
  }

  private func fetch(
    _ path: VaultPath, byteCount: UInt64, into incoming: IncomingFolder
  ) throws(SyncError) {
    let blobPath = BlobPath(path.string)
    do throws(BlobStoreError) {
      if try incoming.size(of: blobPath) == byteCount { return }
    } catch {
      throw .vault(VaultError(error))
    }
    if session.options.isDryRun { return session.tally(.pull, path, byteCount: byteCount) }
    do throws(BlobStoreError) {
      let file = try session.remote.read(
        blobPath, limit: ObjectStore.fileSizeLimit(of: .announcement))
      do throws(SyncError) { try save(path, file, into: incoming) } catch {
        session.fail(error)
      }
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(SyncProblem(VaultError(error), there: path.string))
    }
  }

  private func save(
    _ path: VaultPath, _ bytes: [UInt8], into incoming: IncomingFolder
  ) throws(SyncError) {
    if !session.options.isDryRun {
      do throws(BlobStoreError) { try incoming.put(BlobPath(path.string), bytes) } catch {
        throw .vault(VaultError(error))
      }
    }
    session.tally(.pull, path, byteCount: UInt64(bytes.count))
  }
}
