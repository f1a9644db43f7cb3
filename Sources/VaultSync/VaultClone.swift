import BlobStore
import Vault
import VaultModel

import struct SystemPackage.FilePath

/// Begins a copy of a vault on this machine: an empty folder, filled from a remote.
///
/// It brings the vault's id and its people, verified, which is what `Vault.recover` needs to make this machine a device
/// with the 24 words. Then the vault opens, without members, and the first sync brings those. Whoever stops in
/// between begins again with the same call.
package enum VaultClone {
  /// What a clone begins with.
  package struct Beginning: Sendable {
    package var vault: VaultID
    /// How many people were found. The words must be those of one of them.
    package var personCount: Int
    package var problems: [SyncProblem]
  }

  /// Fills a folder, which is made if it is missing.
  ///
  /// - Parameters:
  ///   - known: Whose files come whatever they weigh: who has invited this person. Of everyone else, of whom nothing can be
  ///     known yet, those come that fit into what a vault takes of strangers, the smallest first.
  ///   - takesStrangers: Takes everyone.
  /// - Throws: `noVault` when the remote holds none, `notThisVault` when it is of a kind that is not known,
  ///   `folderNotEmpty` when the folder has anything in it but what an interrupted clone of this vault left.
  package static func begin(
    from remote: any BlobStore, into folder: FilePath, knowing known: Set<PersonID> = [],
    takesStrangers: Bool = false
  ) throws(SyncError) -> Beginning {
    let store: DirectoryStore
    do throws(BlobStoreError) { store = try DirectoryStore(making: folder) } catch {
      throw .vault(VaultError(error))
    }
    return try begin(
      from: remote, into: store, called: folder.string, knowing: known,
      takesStrangers: takesStrangers)
  }

  /// `begin` in any store; `name` is what the folder is called in messages.
  static func begin(
    from remote: any BlobStore, into store: any LocalStore, called name: String,
    knowing known: Set<PersonID> = [], takesStrangers: Bool = false,
    strangersLimit: CargoWeight = CargoQuota.limit
  ) throws(SyncError) -> Beginning {
    let description = try Self.description(of: remote)
    try requireFree(store, for: description, called: name)
    var problems: [SyncProblem] = []
    let files = try readPeople(remote, &problems)
    let tree = try keeping(try SignedTree(vault: description.vault, store: store).adding(files))
    let personCount = tree.personCount
    let left =
      takesStrangers ? [:] : try Self.left(files, known, besides: store, strangersLimit)
    if !left.isEmpty { problems.append(.strangers(leftByClone: left)) }
    for (path, bytes) in files.sorted(by: { $0.key.cloneRank < $1.key.cloneRank }) {
      if let owner = CargoOwner(path), left[owner] != nil { continue }
      do throws(VaultError) { _ = try tree.verify(path, bytes) } catch {
        // Of no use to anyone, and of no harm.
        if case .signedByRemovedDevice = error { continue }
        problems.append(SyncProblem(error, there: path.string))
        continue
      }
      try write(path, bytes, into: store)
    }
    // A folder without people is no vault that could be opened.
    guard personCount > 0 else { throw .noVault }
    try write(.vault, description.encoded(), into: store)
    return Beginning(vault: description.vault, personCount: personCount, problems: problems)
  }

  /// What a remote says it holds.
  ///
  /// - Throws: `noVault` when it holds none, `notThisVault` when it is of a kind that is not known.
  package static func description(
    of remote: any BlobStore
  ) throws(SyncError) -> VaultDescription {
    let bytes: [UInt8]
    do throws(BlobStoreError) {
      bytes = try remote.read(
        BlobPath(VaultPath.vault.string), limit: VaultDescription.byteLimit)
    } catch {
      if case .notFound = error { throw .noVault }
      throw .remote(error)
    }
    do { return try VaultDescription(decoding: bytes) } catch {
      throw .notThisVault(reason: "\(error)")
    }
  }

  private static func requireFree(
    _ store: any LocalStore, for description: VaultDescription, called name: String
  ) throws(SyncError) {
    do throws(BlobStoreError) {
      let entries = try store.list(.root).filter { !$0.name.hasPrefix(".") }
      if entries.allSatisfy({ $0.name == "people" && $0.isFolder }) { return }
      let path = BlobPath(VaultPath.vault.string)
      if try store.size(of: path) != nil,
        try store.read(path, limit: VaultDescription.byteLimit) == description.encoded()
      {
        return
      }
    } catch {
      throw .vault(VaultError(error))
    }
    throw .vault(.folderNotEmpty(folder: name))
  }

  private static func readPeople(
    _ remote: any BlobStore, _ problems: inout [SyncProblem]
  ) throws(SyncError) -> [VaultPath: [UInt8]] {
    var paths: [VaultPath] = []
    try asking(
      try remote.walk(under: "people", depth: 6, limit: RemoteLook.nameLimit) { path, entry in
        if let path, entry.kind == .blob, let known = VaultPath(parsing: path.string) {
          paths.append(known)
        }
        return .goOn
      })
    var files: [VaultPath: [UInt8]] = [:]
    let unverified = UnverifiedBytes()
    for path in paths {
      let isRead = try unverified.take { () throws(SyncError) in
        try read(path, of: remote, &problems)
      } then: {
        files[path] = $0
      }
      guard isRead else { throw .tooManyPeople(fileCount: paths.count) }
    }
    return files
  }

  /// Those for whom there is no room, with what their files weigh.
  private static func left(
    _ files: [VaultPath: [UInt8]], _ known: Set<PersonID>, besides store: any LocalStore,
    _ limit: CargoWeight
  ) throws(SyncError) -> [CargoOwner: CargoWeight] {
    let here: LocalLook
    do throws(BlobStoreError) { here = try LocalLook(store) } catch {
      throw .vault(VaultError(error))
    }
    var room = limit
    var weights: [CargoOwner: CargoWeight] = [:]
    for (path, bytes) in files {
      guard let owner = CargoOwner(path) else { continue }
      if case .person(let person) = owner, known.contains(person) { continue }
      if here.files.contains(path) {
        room = room.less(CargoWeight(fileCount: 1, byteCount: UInt64(bytes.count)))
      } else {
        weights[owner, default: CargoWeight()].add(byteCount: UInt64(bytes.count))
      }
    }
    let order = weights.sorted {
      ($0.value.byteCount, $0.value.fileCount, $0.key)
        < ($1.value.byteCount, $1.value.fileCount, $1.key)
    }
    for (owner, weight) in order where weight.fits(room) {
      weights[owner] = nil
      room = room.less(weight)
    }
    return weights
  }

  private static func read(
    _ path: VaultPath, of remote: any BlobStore, _ problems: inout [SyncProblem]
  ) throws(SyncError) -> [UInt8]? {
    do throws(BlobStoreError) {
      return try remote.read(BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      problems.append(SyncProblem(VaultError(error), there: path.string))
      return nil
    }
  }

  private static func write(
    _ path: VaultPath, _ bytes: [UInt8], into store: any LocalStore
  ) throws(SyncError) {
    do throws(BlobStoreError) {
      try store.replace(BlobPath(path.string), bytes, durably: true)
    } catch {
      throw .vault(VaultError(error))
    }
  }
}

extension VaultPath {
  /// Closings first, then certificates: the rest is verified against them.
  fileprivate var cloneRank: String {
    switch self {
    case .closing: "0" + string
    case .certificate: "1" + string
    default: "2" + string
    }
  }
}
