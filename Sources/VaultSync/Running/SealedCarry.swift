import BlobStore
import Vault
import VaultModel

/// Carries a member whose keys are not here, both ways and as ciphertext: a vault is shared by people of whom each
/// reads only parts of it.
///
/// Who may write the member is known without its keys, so heads are verified as ever. What they name is not known, so
/// everything that one side lists and the other lacks is carried.
struct SealedCarry {
  let session: SyncSession
  let exchange: SignedExchange
  let member: MemberID

  /// Takes heads of the remote, and before them every object that it lists.
  func pull(_ paths: [VaultPath], into vault: Vault) throws(SyncError) {
    guard !paths.isEmpty else { return }
    let here = try ObjectListing.loadHere(member, session: session)
    let there = try ObjectListing.load(member, session: session)
    let missing = there.filter { here[$0.key] == nil }.sorted { $0.key < $1.key }
    let refused = Gathered<ObjectName>()
    try session.forEach(missing) { [self] (object) throws(SyncError) in
      if try !take(object.key, byteCount: object.value, into: vault) { refused.add(object.key) }
    }
    var heads: [(path: VaultPath, bytes: [UInt8], facts: SignedFacts)] = []
    for path in paths {
      guard refused.all.isEmpty, let file = try exchange.fetched(path) else {
        session.note(.notTaken(path, count: refused.all.count))
        session.change { $0.untakenHeadCount += 1 }
        continue
      }
      heads.append((path, file.bytes, file.facts))
      session.tally(.pull, path, byteCount: UInt64(file.bytes.count))
    }
    if session.options.isDryRun { return }
    let placed = heads
    try keeping(try vault.placeSealedHeads(of: member, placed))
  }

  /// - Returns: False when it cannot be had, which is noted.
  private func take(
    _ name: ObjectName, byteCount: UInt64, into vault: Vault
  ) throws(SyncError) -> Bool {
    let path = VaultPath.object(member, name)
    if !session.options.isDryRun {
      let file: [UInt8]
      do throws(BlobStoreError) {
        file = try session.remote.read(
          BlobPath(path.string), limit: ObjectStore.fileSizeLimit(of: .announcement))
      } catch {
        guard error.concernsOneFile else { throw .remote(error) }
        session.note(SyncProblem(VaultError(error), there: path.string))
        return false
      }
      if let room = exchange.cargo.rooms[member], !room.take(byteCount: file.count) {
        session.note(SyncProblem(.moreThanListed(path.string), there: path.string))
        return false
      }
      do throws(VaultError) {
        try vault.placeSealed(name, of: member, file: file)
      } catch {
        guard case .damaged = error else { throw .vault(error) }
        session.note(SyncProblem(error, there: path.string))
        return false
      }
    }
    session.tally(.pull, path, byteCount: byteCount)
    return true
  }

  /// Puts every object that is here and the remote does not list there, and then these heads. Without any, links all the
  /// same: who has left has no key any more.
  func push(_ paths: [VaultPath]) throws(SyncError) {
    guard !paths.isEmpty else {
      return try StatementSync(session: session, exchange: exchange).push(member)
    }
    let here = try ObjectListing.loadHere(member, session: session)
    let there = try ObjectListing.load(member, session: session)
    let missing = here.filter { there[$0.key] != $0.value }.map(\.key).sorted()
    let keys = try keysInUse()
    try session.forEach(missing) { [self] (name) throws(SyncError) in
      let path = VaultPath.object(member, name)
      do throws(BlobStoreError) {
        let file = try session.home.store.read(
          BlobPath(path.string), limit: ObjectStore.fileSizeLimit(of: .announcement))
        // What older epochs left is not brought back to where it was removed.
        guard isInUse(file, keys) else { return }
        do throws(SyncError) { try session.put(path, file) } catch { session.fail(error) }
      } catch {
        throw .vault(VaultError(error))
      }
    }
    try StatementSync(session: session, exchange: exchange).push(member)
    try session.flush()
    for path in paths {
      if let file = try exchange.stored(path) { try session.put(path, file.bytes, file.facts) }
    }
  }

  /// The keys that the heads here name which count.
  private func keysInUse() throws(SyncError) -> Set<KeyID> {
    var keys: Set<KeyID> = []
    for path in exchange.heads(of: member) where exchange.here[path] != nil {
      guard let file = try exchange.stored(path) else { continue }
      if let key = exchange.tree.keyID(ofHead: path, file.bytes) { keys.insert(key) }
    }
    return keys
  }

  private func isInUse(_ file: [UInt8], _ keys: Set<KeyID>) -> Bool {
    guard let key = ObjectStore.keyID(of: file) else { return false }
    return keys.contains(key)
  }
}
