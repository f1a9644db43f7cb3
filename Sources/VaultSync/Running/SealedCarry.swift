import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultObjects

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
    // Once a head is here nothing more is asked for that it may name.
    guard let there = try ObjectListing.loadWhole(member, session: session) else {
      return session.change { $0.untakenHeadCount += paths.count }
    }
    let failures = vault.failedBarriers
    let missing = try missing(of: there, beside: here.filter { !vault.isDoubtful($0.key) })
    var weight = CargoWeight()
    for object in missing { weight.add(byteCount: object.value) }
    let room = try room()
    guard weight.fits(room) else {
      session.note(.noRoomToCarry(member))
      return session.change { $0.untakenHeadCount += paths.count }
    }
    // A remote may give more than it lists.
    let left = exchange.cargo.rooms[member] ?? CargoRoom(room)
    let refused = Gathered<ObjectName>()
    try session.forEach(missing) { [self] (object) throws(SyncError) in
      guard !left.isUsedUp else { return refused.add(object.key) }
      if try !take(object, into: vault, left) { refused.add(object.key) }
    }
    let comes = Set(missing.map(\.key))
    try session.forEach(there.keys.filter { !comes.contains($0) }) {
      [self] (name) throws(SyncError) in
      if try !takeOver(name) { refused.add(name) }
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
    try keeping(vault.placeSealedHeads(placed, since: failures))
  }

  /// What is there and not here, or torn here: that comes anew.
  private func missing(
    of there: [ObjectName: UInt64], beside here: [ObjectName: UInt64]
  ) throws(SyncError) -> [(key: ObjectName, value: UInt64)] {
    var missing: [(key: ObjectName, value: UInt64)] = []
    for object in there.sorted(by: { $0.key < $1.key }) where here[object.key] != object.value {
      var isMissing = here[object.key] == nil
      if !isMissing { isMissing = try isTornHere(object.key) }
      if isMissing { missing.append(object) }
    }
    return missing
  }

  /// Has the disk wait for an object that is here: a sync that was killed may have put it there a moment ago, and waited for
  /// nothing.
  ///
  /// - Returns: False when it is gone by now, or could not be opened, which is noted.
  private func takeOver(_ name: ObjectName) throws(SyncError) -> Bool {
    if session.options.isDryRun { return true }
    let path = VaultPath.object(member, name)
    do { return try session.home.copy.store.takeOver(BlobPath(path.string)) } catch {
      let cause = VaultError(error)
      guard error.concernsOneFile else { throw .vault(cause) }
      session.note(SyncProblem(cause, here: path.string))
      return false
    }
  }

  /// What may be carried for others: who reads this vault keeps room on the disk to write in it, whatever somebody puts under a
  /// member that nobody reads here.
  private func room() throws(SyncError) -> CargoWeight {
    let space = try keeping(storing(session.home.copy.store.space()))
    return CargoWeight(fileCount: .max, byteCount: space.bytesToSpare)
  }

  /// - Returns: False when it cannot be had, which is noted.
  private func take(
    _ object: (key: ObjectName, value: UInt64), into vault: Vault, _ room: CargoRoom
  ) throws(SyncError) -> Bool {
    let path = VaultPath.object(member, object.key)
    if !session.options.isDryRun {
      let file: [UInt8]
      do {
        file = try session.remote.read(
          BlobPath(path.string), limit: Self.sizeLimit)
      } catch {
        guard error.concernsOneFile else { throw .remote(error) }
        session.note(SyncProblem(VaultError(error), there: path.string))
        return false
      }
      guard room.take(byteCount: file.count) else {
        session.note(SyncProblem(.moreThanListed(path.string), there: path.string))
        return false
      }
      do {
        try vault.placeSealed(object.key, of: member, file: file)
      } catch {
        guard case .damaged = error else { throw .vault(error) }
        session.note(SyncProblem(error, there: path.string))
        return false
      }
    }
    session.tally(.pull, path, byteCount: object.value)
    return true
  }

  /// Puts every object that is here and the remote does not list there, and then these heads, unless an object could not be
  /// read just now. Without any head, links all the same: who has left has no key any more.
  func push(_ paths: [VaultPath]) throws(SyncError) {
    guard !paths.isEmpty else {
      return try StatementSync(session: session, exchange: exchange).push(member)
    }
    let here = try ObjectListing.loadHere(member, session: session)
    let there = try ObjectListing.measured(
      ObjectListing.load(member, session: session), for: here.keys, of: member, session: session)
    let other = here.filter { there[$0.key] != $0.value }.sorted { $0.key < $1.key }
    let keys = try keysInUse()
    let unread = Gathered<ObjectName>()
    try session.forEach(other) { [self] (object) throws(SyncError) in
      if try !put(object.key, byteCountThere: there[object.key], keys) { unread.add(object.key) }
    }
    try StatementSync(session: session, exchange: exchange).push(member)
    // Once a head is there nothing more is put there that it may name.
    guard unread.all.isEmpty else { return }
    try session.flush()
    var files: [SignedExchange.HeadFile] = []
    for path in paths {
      if let file = try exchange.stored(path) { files.append((path, file.bytes, file.facts)) }
    }
    _ = try exchange.put(files, of: member)
  }

  /// Puts an object there; where one stands of another length, only if that can be none and this one can.
  ///
  /// - Returns: False when it could not be read just now, and so may be missing there.
  private func put(
    _ name: ObjectName, byteCountThere: UInt64?, _ keys: Set<KeyID>
  ) throws(SyncError) -> Bool {
    let path = VaultPath.object(member, name)
    let file: [UInt8]
    switch try readHere(path) {
    case .read(let bytes): file = bytes
    case .useless: return true
    case .unread:
      guard byteCountThere != nil else { return false }
      return try hasForm(there: path)
    }
    // What older epochs left is not brought back to where it was removed.
    guard isInUse(file, keys) else { return true }
    guard ObjectStore.hasForm(file) else {
      session.note(
        SyncProblem(
          .damaged(path: path.string, reason: "\(file.count) bytes is no size of an object"),
          here: path.string))
      return true
    }
    if byteCountThere != nil, try hasForm(there: path) { return true }
    try session.put(path, file)
    return true
  }

  /// What came of reading an object's file here.
  private enum FileHere {
    case read([UInt8])
    /// It is gone by now, or can be no object, which is noted: it keeps nothing else away.
    case useless
    /// The disk did not give it, which is noted: it may be whole.
    case unread
  }

  private func readHere(_ path: VaultPath) throws(SyncError) -> FileHere {
    do {
      let bytes = try session.home.store.read(BlobPath(path.string), limit: Self.sizeLimit)
      return .read(bytes)
    } catch {
      if case .notFound = error { return .useless }
      let cause = VaultError(error)
      guard error.concernsOneFile else { throw .vault(cause) }
      session.note(SyncProblem(cause, here: path.string))
      return cause.isDamage ? .useless : .unread
    }
  }

  private func isTornHere(_ name: ObjectName) throws(SyncError) -> Bool {
    guard case .read(let file) = try readHere(.object(member, name)) else { return true }
    return !ObjectStore.hasForm(file)
  }

  /// Whether what the remote has there can be an object. Which of two that can is the right one only a key tells.
  private func hasForm(there path: VaultPath) throws(SyncError) -> Bool {
    do {
      return ObjectStore.hasForm(
        try session.remote.read(BlobPath(path.string), limit: Self.sizeLimit))
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return false
    }
  }

  private static let sizeLimit = ObjectStore.fileSizeLimit(of: .announcement)

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
