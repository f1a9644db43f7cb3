import BlobStore
import Vault
import VaultModel

/// Joins the audit logs of both sides: segments are written once, like statements, and old ones are replaced by one a month.
///
/// Only in a sync that looks everywhere, since a log is read when something has happened, and not before.
struct AuditSync {
  let session: SyncSession
  let exchange: SignedExchange

  /// - Parameter vault: Where segments of other devices are put; nil while it is locked.
  func run(into vault: Vault?) throws(SyncError) {
    guard session.looksEverywhere else { return }
    let there: Set<VaultPath>
    do throws(BlobStoreError) { there = try segments(in: session.remote) } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return session.note(.endlessListing("audit"))
    }
    let here: Set<VaultPath>
    do throws(BlobStoreError) { here = try segments(in: session.home.store) } catch {
      throw .vault(VaultError(error))
    }
    guard let vault else {
      if session.options.direction != .pull { try push(here.subtracting(there)) }
      return
    }
    var replaced = try keeping(try vault.audit.replacedSegments())
    if session.options.direction != .push {
      try pull(there.subtracting(here).subtracting(replaced.keys), vault)
      if !session.options.isDryRun {
        replaced = try keeping(try vault.audit.replacedSegments())
        if !replaced.isEmpty { _ = try keeping(try vault.removeReplacedSegments()) }
      }
    }
    if session.options.direction != .pull {
      try push(here.subtracting(there).subtracting(replaced.keys))
      try remove(there, inPlaceOf: replaced, there: there.union(here))
    }
  }

  /// Removes from the remote what a segment there stands in the place of.
  ///
  /// - Parameter present: What is there by now.
  private func remove(
    _ paths: Set<VaultPath>, inPlaceOf replaced: [VaultPath: VaultPath],
    there present: Set<VaultPath>
  ) throws(SyncError) {
    if session.options.isDryRun { return }
    for path in paths.sorted(by: { $0.string < $1.string }) {
      guard let new = replaced[path], present.contains(new) else { continue }
      try asking { () throws(BlobStoreError) in try session.remote.remove(BlobPath(path.string)) }
    }
  }

  private func segments(in store: any BlobStore) throws(BlobStoreError) -> Set<VaultPath> {
    var found: Set<VaultPath> = []
    try store.walk(under: "audit", depth: 3, limit: RemoteLook.nameLimit) { path, entry in
      if let path, entry.kind == .blob, let known = VaultPath(parsing: path.string),
        case .auditSegment = known
      {
        found.insert(known)
      }
      return .goOn
    }
    return found
  }

  private func pull(_ paths: Set<VaultPath>, _ vault: Vault) throws(SyncError) {
    var taken: [(path: VaultPath, bytes: [UInt8], facts: SignedFacts)] = []
    for path in paths.sorted(by: { $0.string < $1.string }) {
      // The own log has its end here, unless a copy of this machine has gone on with it; a segment of it that is not here
      // any more stays where it is.
      if case .auditSegment(session.home.device, let first) = path,
        try !keeping({ () throws(VaultError) in try vault.audit.isOfElsewhere(first) })
      {
        continue
      }
      guard try isCarried(path) else { continue }
      guard let file = try exchange.fetched(path) else { continue }
      taken.append((path, file.bytes, file.facts))
      session.tally(.pull, path, byteCount: UInt64(file.bytes.count))
    }
    if session.options.isDryRun { return }
    let files = taken
    try keeping(try vault.place(files))
  }

  /// Whether the log is of somebody whose files are carried: a stranger's is left, and of whom nothing is here nothing is
  /// said.
  private func isCarried(_ path: VaultPath) throws(SyncError) -> Bool {
    guard let vouching = session.home.vouching, !session.options.takesStrangers,
      case .auditSegment(let device, _) = path
    else { return true }
    guard let person = exchange.tree.person(of: device) else {
      return session.memory.leftCargo.isEmpty
    }
    if vouching.people.contains(person) { return true }
    return try exchange.vouchesForFolder(of: person, vouching)
  }

  private func push(_ paths: Set<VaultPath>) throws(SyncError) {
    for path in paths.sorted(by: { $0.string < $1.string }) {
      do throws(SyncError) {
        if let file = try exchange.stored(path) { try session.put(path, file.bytes) }
      } catch {
        // One damaged file is to keep nothing else from being synced.
        guard case .vault(let error) = error, error.isDamage else { throw error }
        session.note(SyncProblem(error, here: path.string))
      }
    }
  }
}
