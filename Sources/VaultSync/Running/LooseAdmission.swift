import Vault
import VaultErrors
import VaultModel
import VaultTrust

/// Decides which of the news that hold are left on the remote, as nobody stands for them who is carried, and there is no
/// room for more of such files. Docs/Sync.md, "Strangers".
struct LooseAdmission {
  let session: SyncSession
  let sight: Sight
  /// As it would be with the news.
  let tree: SignedTree

  /// - Parameter news: Files of the remote that hold and are not here, and how many bytes they have.
  /// - Returns: Those for which nobody stands, and which of these are left. What it costs to tell is paid only where there may
  ///   be any.
  func run(
    _ news: [VaultPath: Int]
  ) throws(SyncError) -> (loose: Set<VaultPath>, left: Set<VaultPath>) {
    guard !session.options.takesStrangers, let known = session.home.vouching else {
      return ([], [])
    }
    let possible = try keeping(tree.loose(among: news.keys, known))
    if possible.isEmpty { return ([], []) }
    let members = sight.local.members.union(sight.look.members)
    let vouching = try keeping(tree.extending(known, by: members))
    // What stands in a stranger's folder was weighed with it.
    let carried = possible.filter { CargoOwner($0).map(vouching.carries) ?? false }
    let loose = try keeping(tree.loose(among: carried, vouching))
    if loose.isEmpty { return ([], []) }
    let here = CargoHere(session: session, local: sight.local, tree: tree, vouching: vouching)
    var room = session.options.strangersLimit.less(try here.weight()).less(sight.cargo.weight)
    let fetched = try fetchedWhileLocked()
    for (path, size) in fetched where isNowhereElse(path) {
      room = room.less(CargoWeight(fileCount: 1, byteCount: size))
    }
    var left: Set<VaultPath> = []
    for (path, size) in smallestFirst(loose, news, after: fetched) {
      let weight = CargoWeight(fileCount: 1, byteCount: UInt64(size))
      if weight.fits(room) { room = room.less(weight) } else { left.insert(path) }
    }
    tell(left)
    return (loose, left)
  }

  /// What a sync while locked has taken keeps its room, whatever has come to the remote since: the next one takes no more.
  private func fetchedWhileLocked() throws(SyncError) -> [VaultPath: UInt64] {
    guard let name = session.name else { return [:] }
    return try saving(try IncomingFolder(session.home, remote: name).statements())
  }

  /// Whether neither the folder here nor the remote has it: then nobody can tell whether somebody stands for it.
  private func isNowhereElse(_ path: VaultPath) -> Bool {
    sight.look.files[path] == nil && !sight.local.files.contains(path)
  }

  /// Those first that were fetched already.
  private func smallestFirst(
    _ loose: Set<VaultPath>, _ news: [VaultPath: Int], after fetched: [VaultPath: UInt64]
  ) -> [(path: VaultPath, size: Int)] {
    loose.map { path in
      (path: path, rank: (fetched[path] == nil ? 1 : 0, news[path] ?? 0, path.string))
    }.sorted { $0.rank < $1.rank }.map { ($0.path, $0.rank.1) }
  }

  /// Once, as long as it is the same.
  private func tell(_ left: Set<VaultPath>) {
    let memory = session.memory
    let isNew = left.contains { path in
      guard let fingerprint = sight.look.files[path]?.fingerprint,
        let before = memory.brokenFile(path, marked: fingerprint)
      else { return true }
      return before.finding != nil
    }
    if isNew { session.note(.looseFiles(on: session.nameToType)) }
  }
}
