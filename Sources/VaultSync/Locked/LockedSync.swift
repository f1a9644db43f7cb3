import BlobStore
import Vault
import VaultModel

/// Syncs a vault that is locked: carries ciphertext, and joins nothing.
///
/// Signatures need no key, so signed files are verified as ever, and the same plans are made. What is new on the
/// remote is fetched into this machine's state, from where the next sync with the keys takes it; what is new here
/// is put on the remote by comparing lists, since what heads name cannot be read.
package struct LockedSync: Sendable {
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

  /// As `RemoteSync.run`; what was fetched counts as pulled, though it is joined later.
  package func run(
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(SyncError) -> SyncReport {
    try SyncRun(home: home, remote: remote, name: name, options: options).run(progress) {
      (session) throws(SyncError) in
      let parts = try session.look()
      try parts.exchange.requireNotRemoved()
      for member in parts.members {
        let paths = parts.exchange.heads(of: member)
        if options.direction != .push { try fetch(member, paths, session, parts.exchange) }
      }
      try AuditSync(session: session, exchange: parts.exchange).run(into: nil)
      if options.direction == .pull { return }
      let statements = StatementSync(session: session, exchange: parts.exchange)
      try statements.pushPeople()
      for member in parts.members where parts.exchange.isWholeHere(member) {
        let paths = parts.exchange.heads(of: member).filter(parts.exchange.isPutWithoutKeys)
        try SealedCarry(session: session, exchange: parts.exchange, member: member).push(paths)
      }
      try session.finishPush(parts.exchange.look)
    }
  }

  /// Fetches what a member's new heads may name, and the heads, into the folder for it.
  private func fetch(
    _ member: MemberID, _ paths: [VaultPath], _ session: SyncSession, _ exchange: SignedExchange
  ) throws(SyncError) {
    let plans = paths.map { ($0, exchange.plan($0)) }
    // What strangers have there waits for a sync that can put it in place.
    if exchange.cargo.rooms[member] != nil { return }
    for (path, plan) in plans { exchange.note(plan, path) }
    let wanted = plans.filter { $0.1.action == .take }.map(\.0)
    let own = VaultPath.head(member, home.device)
    if wanted.contains(own) {
      // Only who has the keys finds out whether it is of this machine's line.
      session.remember { $0.seen[own] = nil }
    }
    guard !wanted.isEmpty else { return }
    let incoming = IncomingFolder(state: home.state, remote: name)
    let here = try ObjectListing.loadHere(member, session: session)
    let there = try ObjectListing.load(member, session: session)
    let missing = there.filter { here[$0.key] == nil }.sorted { $0.key < $1.key }
    try session.forEach(missing) { (object) throws(SyncError) in
      let path = VaultPath.object(member, object.key)
      try fetch(path, byteCount: object.value, into: incoming, session)
    }
    for path in wanted {
      guard let file = try exchange.fetched(path) else { continue }
      try save(path, file.bytes, into: incoming, session)
    }
  }

  private func fetch(
    _ path: VaultPath, byteCount: UInt64, into incoming: IncomingFolder, _ session: SyncSession
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
      do throws(SyncError) { try save(path, file, into: incoming, session) } catch {
        session.fail(error)
      }
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(SyncProblem(VaultError(error), there: path.string))
    }
  }

  private func save(
    _ path: VaultPath, _ bytes: [UInt8], into incoming: IncomingFolder, _ session: SyncSession
  ) throws(SyncError) {
    if !session.options.isDryRun {
      do throws(BlobStoreError) { try incoming.put(BlobPath(path.string), bytes) } catch {
        throw .vault(VaultError(error))
      }
    }
    session.tally(.pull, path, byteCount: UInt64(bytes.count))
  }
}
