import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// Takes what a remote has of one member while the vault is locked: carries ciphertext, and joins nothing.
///
/// Signatures need no key, so signed files are verified as ever, and the same plans are made. What is new on the
/// remote is fetched into this machine's state, from where the next sync with the keys takes it; it counts as pulled.
/// Nobody knows without the keys what a head names, so everything is fetched that the remote lists, or nothing where there is
/// no room for all of it (`IncomingFolder.room`). What was fetched before stays, and need not be fetched again.
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
    let incoming = IncomingFolder(session.home, remote: name)
    // Whatever a head names is there before it: of what cannot be read here only that can be known.
    guard try fetchObjects(into: incoming) else { return }
    if !session.options.isDryRun { try saving(try incoming.flush()) }
    let room = CargoRoom(try saving(try incoming.room()))
    for path in wanted {
      guard let file = try exchange.fetched(path) else { continue }
      try exchange.save(path, file, into: incoming, room)
    }
    if room.isUsedUp { session.note(.tooMuchWhileLocked(member)) }
  }

  /// Fetches every object that the remote lists of the member and that is not here.
  ///
  /// - Returns: False when not all of it is there then, which is noted.
  private func fetchObjects(into incoming: IncomingFolder) throws(SyncError) -> Bool {
    // Which objects a lazy vault leaves there only who has the keys knows.
    guard try keeping(session.home.state.loadLazySettings()) == nil else {
      session.note(.leftWhileLocked(member))
      return false
    }
    let here = try ObjectListing.loadHere(member, session: session)
    // Whoever carries the member without its keys then would take the head without what was not listed.
    guard let there = try ObjectListing.loadWhole(member, session: session) else {
      return false
    }
    let missing = there.filter { here[$0.key] == nil }.sorted { $0.key < $1.key }
    let room = try saving(try incoming.room())
    guard try weigh(missing, besides: incoming, room).fits(room) else {
      session.note(.tooMuchWhileLocked(member))
      return false
    }
    // A remote may give more than it lists.
    let left = CargoRoom(room)
    let lost = Gathered<ObjectName>()
    try session.forEach(missing) { [self] (object) throws(SyncError) in
      guard !left.isUsedUp else { return }
      let path = VaultPath.object(member, object.key)
      if try !fetch(path, byteCount: object.value, into: incoming, left) { lost.add(object.key) }
    }
    guard !left.isUsedUp else {
      session.note(.tooMuchWhileLocked(member))
      return false
    }
    return lost.all.isEmpty
  }

  /// What these take on the disk by what the remote lists, as far as they were not fetched before; of more than there is room
  /// for, the first ones.
  private func weigh(
    _ objects: [(key: ObjectName, value: UInt64)], besides incoming: IncomingFolder,
    _ room: CargoWeight
  ) throws(SyncError) -> CargoWeight {
    var weight = CargoWeight()
    for object in objects {
      guard weight.fits(room) else { break }
      let path = BlobPath(VaultPath.object(member, object.key).string)
      if try saving(try incoming.size(of: path)) == object.value { continue }
      weight.add(byteCount: IncomingFolder.diskByteCount(object.value))
    }
    return weight
  }

  /// - Returns: False when it cannot be had, which is noted, or there is no room for it.
  private func fetch(
    _ path: VaultPath, byteCount: UInt64, into incoming: IncomingFolder, _ room: CargoRoom
  ) throws(SyncError) -> Bool {
    let blobPath = BlobPath(path.string)
    let size = try saving(try incoming.size(of: blobPath))
    if size == byteCount { return true }
    // Which of two is the right one only the key tells: the one that came first stays, if it can be one.
    if size != nil, try hasForm(blobPath, in: incoming) { return true }
    if session.options.isDryRun {
      session.tally(.pull, path, byteCount: byteCount)
      return true
    }
    let file: [UInt8]
    do {
      file = try session.remote.read(blobPath, limit: Self.sizeLimit)
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(SyncProblem(VaultError(error), there: path.string))
      return false
    }
    let diskByteCount = IncomingFolder.diskByteCount(UInt64(file.count))
    guard room.take(byteCount: Int(diskByteCount)) else { return false }
    try saving(try incoming.put(blobPath, file))
    session.tally(.pull, path, byteCount: UInt64(file.count))
    return true
  }

  private func hasForm(_ path: BlobPath, in incoming: IncomingFolder) throws(SyncError) -> Bool {
    try incoming.fetched(path, limit: Self.sizeLimit).map(ObjectStore.hasForm) ?? false
  }

  private static let sizeLimit = ObjectStore.fileSizeLimit(of: .announcement)
}

extension SignedExchange {
  /// Puts a signed file of the remote, verified, into the folder of what was fetched while locked; not over one that is
  /// there, holds, and is as new; and not where there is no room for it.
  func save(
    _ path: VaultPath, _ file: (bytes: [UInt8], facts: SignedFacts), into incoming: IncomingFolder,
    _ room: CargoRoom
  ) throws(SyncError) {
    if try hasNewer(path, file, in: incoming) { return }
    let diskByteCount = IncomingFolder.diskByteCount(UInt64(file.bytes.count))
    guard room.take(byteCount: Int(diskByteCount)) else { return }
    if !session.options.isDryRun {
      try saving(try incoming.put(BlobPath(path.string), file.bytes))
    }
    session.tally(.pull, path, byteCount: UInt64(file.bytes.count))
  }

  private func hasNewer(
    _ path: VaultPath, _ file: (bytes: [UInt8], facts: SignedFacts), in incoming: IncomingFolder
  ) throws(SyncError) -> Bool {
    guard let known = try incoming.fetched(BlobPath(path.string), limit: Limits.signedFileBytes)
    else { return false }
    if known == file.bytes { return true }
    if case .counts(let facts) = try keeping(tree.verdict(on: path, known)) {
      return facts.counter >= file.facts.counter
    }
    return tree.signedCounter(of: path, known).map { $0 >= file.facts.counter } ?? false
  }
}

/// What a call of this machine's state gives.
func saving<Value>(
  _ value: @autoclosure () throws(BlobStoreError) -> Value
) throws(SyncError) -> Value {
  do { return try value() } catch { throw .vault(VaultError(error)) }
}
