import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultTrust

/// What is here of strangers: their folders, and in those of others what nobody stands for who is carried.
struct CargoHere {
  let session: SyncSession
  let local: LocalLook
  /// As it would be with the news.
  let tree: SignedTree
  let vouching: Vouching

  /// As far as it is within the limit.
  func weight() throws(SyncError) -> CargoWeight {
    let limit = session.options.strangersLimit
    let store = session.home.store
    let loose = try looseFiles()
    var weight = CargoWeight()
    do {
      for owner in local.owners.sorted() where !vouching.carries(owner) {
        if !weight.fits(limit) { break }
        try store.walk(under: BlobPath(owner.path)) { _, entry in
          weight.add(byteCount: entry.size)
          return weight.fits(limit) ? .goOn : .stop
        }
      }
      for path in loose where weight.fits(limit) {
        weight.add(byteCount: try store.size(of: BlobPath(path.string)) ?? 0)
      }
    } catch {
      throw .vault(VaultError(error))
    }
    return weight
  }

  private func looseFiles() throws(SyncError) -> Set<VaultPath> {
    let carried = local.files.filter { CargoOwner($0).map(vouching.carries) ?? false }
    return try keeping(tree.loose(among: carried, vouching))
  }
}
