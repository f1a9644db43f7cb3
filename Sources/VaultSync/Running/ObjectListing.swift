import BlobStore
import Vault
import VaultErrors
import VaultModel

/// Every object of one member that a store lists, with its size.
enum ObjectListing {
  /// More objects than a member of a family has.
  static let limit = 20_000_000

  /// What is said to be larger counts as so large, as no object is: sums of what a remote makes up are to stay numbers.
  static let sizeLimit: UInt64 = 1 << 32

  /// What the remote lists; a part of it where that does not end, which is noted.
  ///
  /// - Throws: What keeps the remote from being listed at all.
  static func load(
    _ member: MemberID, session: SyncSession
  ) throws(SyncError) -> [ObjectName: UInt64] {
    try list(member, session: session).sizes
  }

  /// All that the remote lists; nil where that does not end or breaks off, which is noted. Whoever has no key of the member does not
  /// know what a head names, so only with this is all of it there that may be needed.
  ///
  /// - Throws: As `load`.
  static func loadWhole(
    _ member: MemberID, session: SyncSession
  ) throws(SyncError) -> [ObjectName: UInt64]? {
    let listed = try list(member, session: session)
    return listed.isWhole ? listed.sizes : nil
  }

  private static func list(
    _ member: MemberID, session: SyncSession
  ) throws(SyncError) -> (sizes: [ObjectName: UInt64], isWhole: Bool) {
    var sizes: [ObjectName: UInt64] = [:]
    let folder = BlobPath("members/\(member.hex)/objects")
    do {
      try session.remote.walk(under: folder, depth: 3, limit: limit) { path, entry in
        if let path, case .object(_, let name)? = VaultPath(parsing: path.string) {
          sizes[name] = min(entry.size, sizeLimit)
        } else {
          session.noteForeign(path, named: entry.name)
        }
        return .goOn
      }
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(.endlessListing(folder.string))
      return (sizes, false)
    }
    return (sizes, true)
  }

  /// The same list with the sizes of these objects, also where it says none: some servers list all files with 0, and each has to
  /// be asked for. No object is empty, so on others those are a few that were torn.
  static func measured(
    _ listed: [ObjectName: UInt64], for names: some Sequence<ObjectName>, of member: MemberID,
    session: SyncSession
  ) throws(SyncError) -> [ObjectName: UInt64] {
    let unsaid = names.filter { listed[$0] == 0 }
    if unsaid.isEmpty { return listed }
    let found = Gathered<(ObjectName, UInt64)>()
    try session.forEach(unsaid) { (name) throws(SyncError) in
      let path = BlobPath(VaultPath.object(member, name).string)
      do throws(BlobStoreError) {
        if let size = try session.remote.size(of: path) {
          found.add((name, min(size, Self.sizeLimit)))
        }
      } catch {
        guard error.concernsOneFile else { throw .remote(error) }
      }
    }
    var sizes = listed
    for (name, size) in found.all { sizes[name] = size }
    return sizes
  }

  /// What is in the vault's own folder of a member, also one whose keys are not here.
  static func loadHere(
    _ member: MemberID, session: SyncSession
  ) throws(SyncError) -> [ObjectName: UInt64] {
    var sizes: [ObjectName: UInt64] = [:]
    do {
      try session.home.store.walk(under: BlobPath("members/\(member.hex)/objects"), depth: 3) {
        path, entry in
        if let path, case .object(_, let name)? = VaultPath(parsing: path.string) {
          sizes[name] = entry.size
        }
        return .goOn
      }
    } catch {
      throw .vault(VaultError(error))
    }
    return sizes
  }
}
