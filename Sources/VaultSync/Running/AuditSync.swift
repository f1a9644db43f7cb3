import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultTrust

/// Joins the audit logs of both sides: segments are written once, like statements, and old ones are replaced by one a month.
///
/// Only once a day, since a log is read when something has happened, and not before.
struct AuditSync {
  let session: SyncSession
  let exchange: SignedExchange

  /// - Parameter vault: Where segments of other devices are put; nil while it is locked.
  func run(into vault: Vault?) throws(SyncError) {
    guard session.joinsLogs else { return }
    let here: Set<VaultPath>
    do { here = try segments(in: session.home.store, limit: .max) } catch {
      throw .vault(VaultError(error))
    }
    let there: Set<VaultPath>
    do {
      there = try segments(in: session.remote, limit: RemoteLook.nameLimit + here.count)
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return session.note(.endlessListing("audit"))
    }
    let left = Set(
      session.memory.returnedSegments.filter { $0.value >= Self.returnLimit }.keys)
    guard let vault else {
      if session.options.direction != .pull { try push(here.subtracting(there).subtracting(left)) }
      return
    }
    var replaced = ReplacedSegments(claimed: try keeping(vault.claimedSegments()))
    if session.options.direction != .push {
      try pull(there.subtracting(here), vault, &replaced)
      if !session.options.isDryRun {
        _ = try keeping(vault.removeReplacedSegments())
        // What came may say more of the same.
        replaced.claimed = try keeping(vault.claimedSegments())
      }
    }
    guard session.options.direction != .pull else { return }
    let news = here.subtracting(there)
    let (gone, recent) = try replacedHere(news, replaced, vault)
    let sent = try push(news.subtracting(gone).subtracting(left.intersection(recent)))
    if session.options.isDryRun { return }
    noteReturned(sent.intersection(recent), of: here)
    try remove(there, replaced, vault, whole: sent)
  }

  /// A segment that others have replaced, and that is too recent here for that, is put back so often: by then it is not recent
  /// any more, with one sync a day, unless this machine's clock is behind. It stays here.
  private static let returnLimit = 32

  private func noteReturned(_ paths: Set<VaultPath>, of here: Set<VaultPath>) {
    session.remember { memory in
      memory.returnedSegments = memory.returnedSegments.filter { here.contains($0.key) }
      for path in paths { memory.returnedSegments[path, default: 0] += 1 }
    }
  }

  /// What segments that are here say that they stand in the place of, and what is known of that.
  private struct ReplacedSegments {
    /// Each segment that is said to be replaced, with those that say so. On their word alone nothing is left out or removed.
    var claimed: [VaultPath: [VaultPath]]
    /// Each segment on the remote that was compared, with the segment here that has all of it.
    var there: [VaultPath: VaultPath] = [:]
  }

  /// Which of these, as they stand here, are replaced, and which would be if they were not too recent.
  private func replacedHere(
    _ paths: Set<VaultPath>, _ replaced: ReplacedSegments, _ vault: Vault
  ) throws(SyncError) -> (gone: Set<VaultPath>, recent: Set<VaultPath>) {
    var (gone, recent): (Set<VaultPath>, Set<VaultPath>) = ([], [])
    for (path, claiming) in replaced.claimed where paths.contains(path) {
      guard let file = try exchange.stored(path) else { continue }
      if try keeping(vault.segment(inPlaceOf: path, file.bytes, among: claiming)) != nil {
        gone.insert(path)
      } else if try keeping(
        vault.segment(inPlaceOf: path, file.bytes, among: claiming, recent: true)) != nil
      {
        recent.insert(path)
      }
    }
    return (gone, recent)
  }

  /// Removes from the remote what a segment stands in the place of that is here and there.
  ///
  /// - Parameter sent: Segments that were put there a moment ago.
  private func remove(
    _ paths: Set<VaultPath>, _ replaced: ReplacedSegments, _ vault: Vault,
    whole sent: Set<VaultPath>
  ) throws(SyncError) {
    var whole: [VaultPath: Bool] = [:]
    for path in sent { whole[path] = true }
    for path in paths.sorted(by: { $0.string < $1.string }) {
      guard let claiming = replaced.claimed[path] else { continue }
      var new = replaced.there[path]
      if new == nil, let file = try exchange.fetched(path) {
        new = try keeping(vault.segment(inPlaceOf: path, file.bytes, among: claiming))
      }
      guard let new else { continue }
      let isWhole: Bool
      if let known = whole[new] { isWhole = known } else { isWhole = try standsWhole(new) }
      whole[new] = isWhole
      guard isWhole else { continue }
      try asking(session.remote.remove(BlobPath(path.string)))
    }
  }

  /// Whether the remote has this segment as it is here, by now: what does not hold there is put anew.
  private func standsWhole(_ path: VaultPath) throws(SyncError) -> Bool {
    guard let here = try exchange.stored(path) else { return false }
    if let there = try exchange.fetched(path) { return there.bytes == here.bytes }
    guard session.options.repairsRemote else { return false }
    try session.put(path, here.bytes)
    return true
  }

  private func segments(
    in store: any BlobStore, limit: Int
  ) throws(BlobStoreError) -> Set<VaultPath> {
    var found: Set<VaultPath> = []
    try store.walk(under: "audit", depth: 3, limit: limit) { path, entry in
      if let path, entry.kind == .blob, let known = VaultPath(parsing: path.string),
        case .auditSegment = known
      {
        found.insert(known)
      }
      return .goOn
    }
    return found
  }

  private func pull(
    _ paths: Set<VaultPath>, _ vault: Vault, _ replaced: inout ReplacedSegments
  ) throws(SyncError) {
    var taken: [(path: VaultPath, bytes: [UInt8], facts: SignedFacts)] = []
    var brokenCount = 0
    for path in paths.sorted(by: { $0.string < $1.string }) {
      // The own log has its end here, unless a copy of this machine has gone on with it; a segment of it that is not here
      // any more stays where it is.
      if case .auditSegment(session.home.device, let first) = path,
        try !keeping(vault.audit.isOfElsewhere(first))
      {
        continue
      }
      guard try isCarried(path) else { continue }
      guard let file = try exchange.fetched(path) else {
        brokenCount += 1
        if brokenCount < Self.brokenLimit { continue }
        session.note(.brokenLogs(brokenCount))
        break
      }
      let claiming = replaced.claimed[path] ?? []
      let new = try keeping(vault.segment(inPlaceOf: path, file.bytes, among: claiming))
      replaced.there[path] = new
      guard new == nil else { continue }
      taken.append((path, file.bytes, file.facts))
      session.tally(.pull, path, byteCount: UInt64(file.bytes.count))
    }
    if session.options.isDryRun { return }
    let files = taken
    try keeping(vault.place(files))
  }

  /// So many segments that do not hold are read. Each may have a megabyte, and anybody can put any number there.
  private static let brokenLimit = 1000

  /// Whether the log is of somebody whose files are carried: a stranger's is left, and of whom nothing is here nothing is
  /// said.
  private func isCarried(_ path: VaultPath) throws(SyncError) -> Bool {
    guard let vouching = session.home.vouching, !session.options.takesStrangers,
      case .auditSegment(let device, _) = path
    else { return true }
    let persons = exchange.tree.persons(of: device)
    if persons.isEmpty { return session.memory.leftCargo.isEmpty }
    if persons.contains(where: vouching.people.contains) { return true }
    for person in persons where try exchange.vouchesForFolder(of: person, vouching) { return true }
    return false
  }

  /// - Returns: What was put there.
  @discardableResult
  private func push(_ paths: Set<VaultPath>) throws(SyncError) -> Set<VaultPath> {
    var sent: Set<VaultPath> = []
    for path in paths.sorted(by: { $0.string < $1.string }) {
      do {
        if let file = try exchange.stored(path) {
          try session.put(path, file.bytes)
          sent.insert(path)
        }
      } catch {
        // One damaged file is to keep nothing else from being synced.
        guard case .vault(let error) = error, error.isDamage else { throw error }
        session.note(SyncProblem(error, here: path.string))
      }
    }
    return sent
  }
}
