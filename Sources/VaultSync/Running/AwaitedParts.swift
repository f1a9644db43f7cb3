import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// What heads of a member wait for that are here as they are on the remote: no plan says that anything is to be done about
/// these, and without the part they would never count.
///
/// Only where the remote has what was found wanting, and it is not whole here: else such a head goes on waiting, and nothing
/// is told of it.
struct AwaitedParts {
  let session: SyncSession
  let exchange: SignedExchange
  let vault: Vault
  let member: MemberID

  /// The devices whose head waits for such a part.
  func devices(of heads: [VaultPath]) throws(SyncError) -> Set<DeviceID> {
    guard let open = vault.member(member), open.standstill() == nil else { return [] }
    var found: Set<DeviceID> = []
    for path in heads {
      guard case .head(_, let device) = path, device != session.home.device,
        let there = exchange.there[path], exchange.here[path]?.hash == there.hash
      else { continue }
      if try lackingPart(of: device, open) != nil { found.insert(device) }
    }
    return found
  }

  /// Looks at the heads again where what they waited for has come, and brings by itself what they still wait for: whoever follows
  /// a head passes over what a revision has in common with the one before it, which may have been lost here since. Where nothing
  /// has come nothing is asked of the disk: the remote's may stay broken, and this comes again with each sync.
  ///
  /// - Parameters:
  ///   - hasCome: Whether anything was brought before. Whoever asks what a head waits for looks at the heads, so the disk has it
  ///     before that.
  ///   - failures: How many barriers had failed before anything was brought for them.
  func bring(
    for devices: Set<DeviceID>, hasCome: Bool, since failures: UInt64
  ) throws(SyncError) {
    guard !devices.isEmpty, let open = vault.member(member) else { return }
    if hasCome { try refresh(open, since: failures) }
    for device in devices.sorted() {
      // Each is whole here afterwards, so that none is asked for twice.
      while let part = try lackingPart(of: device, open), try bring(part, open) {
        try refresh(open, since: failures)
      }
    }
  }

  /// Has what has come be on the disk before a head counts that names it, and looks at the heads.
  private func refresh(_ open: Member, since failures: UInt64) throws(SyncError) {
    try keeping(vault.barrier(since: failures))
    let count = try keeping(open.refresh()).count
    session.change { $0.changedRecordCount += count }
  }

  // MARK: One part

  private func lackingPart(of device: DeviceID, _ open: Member) throws(SyncError) -> ObjectName? {
    guard let there = exchange.there[.head(member, device)],
      let part = try keeping(open.awaitedPart(of: device, there.hash)),
      try !isWhole(part, open), try isThere(open.sealedObjects.vaultPath(of: part))
    else { return nil }
    return part
  }

  /// What has come whole can only be wrong in itself, and would be so again.
  private func isWhole(_ name: ObjectName, _ open: Member) throws(SyncError) -> Bool {
    do {
      _ = try open.sealedObjects.sealedObject(name)
      return true
    } catch {
      guard error.isDamage else { throw .vault(error) }
      return false
    }
  }

  private func isThere(_ path: VaultPath) throws(SyncError) -> Bool {
    do { return try session.remote.size(of: BlobPath(path.string)) != nil } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return false
    }
  }

  /// - Returns: False when the remote's is not whole either, which is noted.
  private func bring(_ name: ObjectName, _ open: Member) throws(SyncError) -> Bool {
    let path = open.sealedObjects.vaultPath(of: name)
    let file: [UInt8]
    do {
      file = try session.remote.read(
        BlobPath(path.string), limit: ObjectStore.fileSizeLimit(of: .announcement))
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(SyncProblem(VaultError(error), there: path.string))
      return false
    }
    do { _ = try open.sealedObjects.authenticate(name, kind: nil, file: file) } catch {
      session.note(SyncProblem(error, there: path.string))
      return false
    }
    try keeping(open.sealedObjects.place(name, file: file))
    session.tally(.pull, path, byteCount: UInt64(file.count))
    return true
  }
}
