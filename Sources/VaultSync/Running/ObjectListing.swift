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
    var sizes: [ObjectName: UInt64] = [:]
    let folder = BlobPath("members/\(member.hex)/objects")
    do {
      try session.remote.walk(under: folder, depth: 3, limit: limit) { path, entry in
        if let path, case .object(_, let name)? = VaultPath(parsing: path.string) {
          sizes[name] = min(entry.size, sizeLimit)
        } else {
          session.note(.foreign(path?.string ?? entry.name))
        }
        return .goOn
      }
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      session.note(.endlessListing(folder.string))
    }
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
