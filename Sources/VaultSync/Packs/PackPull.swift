import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// Takes what packs on a remote hold of a member of which nothing is here yet, so that not each small object is asked
/// for. What they lack, or hold damaged, is taken one by one afterwards. Docs/Format.md, "Packs".
struct PackPull {
  let session: SyncSession
  let member: MemberID
  let objects: ObjectStore
  /// Takes what is in them, for the walk that comes to it.
  let opened: OpenedContents
  /// How many records are needed.
  let recordCount: Int

  /// Costs one listing, and one request for each pack.
  func run() throws(SyncError) {
    if session.options.isDryRun || recordCount < PackWriter.leastCount { return }
    let folder = PackWriter.folder(of: member)
    let entries: [BlobEntry]
    do { entries = try session.remote.list(folder) } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(.endlessListing(folder.string))
      return
    }
    var left = byteLimit
    var wanted: [(path: BlobPath, byteCount: Int)] = []
    for entry in entries where entry.kind == .blob && FileHash(hex: entry.name) != nil {
      // Some servers say no sizes, and then it is listed as 0.
      let limit = UInt64(ObjectPack.byteLimit)
      let size = entry.size == 0 ? limit : min(entry.size, limit)
      let weight = max(entry.size, size, Self.leastWeight)
      guard weight <= left else { break }
      left -= weight
      wanted.append((folder.appending(entry.name), Int(size)))
    }
    try session.forEach(wanted) { (path, byteCount) throws(SyncError) in
      try take(path, byteCount: byteCount)
    }
  }

  /// A pack that is said to be smaller counts as if it were so large: a remote may list any number that are empty.
  private static let leastWeight: UInt64 = 64 << 10

  /// More than the records and their history need is not fetched, whatever a remote lists.
  private var byteLimit: UInt64 { UInt64(max(64 << 20, recordCount * (64 << 10))) }

  /// - Parameter byteCount: As it was listed, or the most that it can have; a larger one is none.
  private func take(_ path: BlobPath, byteCount: Int) throws(SyncError) {
    let pack: ObjectPack
    do {
      let bytes = try session.remote.read(path, limit: byteCount)
      do { pack = try ObjectPack(decoding: bytes) } catch {
        session.note(.unusablePack(path.string, "\(error)."))
        return
      }
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(.unusablePack(path.string, VaultError(error).message))
      return
    }
    var refused = 0
    for object in pack.objects where try !take(object) { refused += 1 }
    if refused > 0 {
      session.note(.unusablePack(path.string, "\(refused) of the objects in it cannot be opened."))
    }
  }

  /// - Returns: False when the object does not open.
  private func take(_ object: ObjectPack.Object) throws(SyncError) -> Bool {
    let sealed: SealedObject
    do {
      if try objects.isPresent(object.name), !objects.isDoubtful(object.name) { return true }
      sealed = try objects.authenticate(object.name, kind: nil, file: object.file)
    } catch {
      guard case .damaged = error else { throw .vault(error) }
      return false
    }
    // A lazy vault leaves chunks on the remote until they are read.
    if sealed.kind == .chunk, objects.isLazy { return true }
    do { try objects.place(object.name, file: object.file) } catch {
      throw .vault(error)
    }
    if sealed.kind != .chunk { opened.hold(object.name, sealed.content) }
    session.tally(
      .pull, objects.vaultPath(of: object.name), byteCount: UInt64(object.file.count))
    return true
  }
}
