import BlobStore
import MachineState
import Vault
import VaultErrors
import VaultModel

/// Ciphertext that was fetched from a remote while the vault was locked, in this machine's state: the tree of a vault,
/// of which nothing is trusted before it is verified. Docs/Format.md, "This machine's state".
///
/// What a sync that has the keys needs and finds here it does not fetch again. Then it takes what is here as from a remote:
/// the one that it came from may have lost it meanwhile.
struct IncomingFolder: BlobStore {
  private let store: any LocalStore
  private let folder: BlobPath
  private let vault: VaultID

  init(_ home: SyncHome, remote: RemoteName) {
    self.init(home.state, vault: home.id, remote: remote)
  }

  init(_ state: StateFolder, vault: VaultID, remote: RemoteName) {
    store = state.store
    folder = Self.path(of: remote)
    self.vault = vault
  }

  /// In this machine's state.
  static func path(of remote: RemoteName) -> BlobPath {
    top.appending(remote.string)
  }

  private static let top: BlobPath = "incoming"

  /// Whether nothing is in it.
  func isEmpty() throws(BlobStoreError) -> Bool { try list(.root).isEmpty }

  /// What may still be fetched, from all remotes: as much as is kept here stays free on the disk. The sync with the keys puts
  /// what it takes into the vault before it goes from here, so where vault and state are on one disk more would keep it from
  /// taking any; it takes from the remote what was not fetched.
  func room() throws(BlobStoreError) -> CargoWeight {
    var held = CargoWeight()
    try store.walk(under: Self.top) { _, entry in
      held.add(byteCount: Self.diskByteCount(entry.size))
      return .goOn
    }
    let space = try store.space()
    // Some file systems make inodes as they need them, and report none.
    let fileCount = space.totalFiles == 0 ? Int.max : Int(clamping: space.availableFiles)
    let free = CargoWeight(fileCount: fileCount, byteCount: space.bytesToSpare).less(held)
    return CargoWeight(fileCount: free.fileCount / 2, byteCount: free.byteCount / 2)
  }

  /// What a file of so many bytes takes on most file systems.
  static func diskByteCount(_ byteCount: UInt64) -> UInt64 {
    let block: UInt64 = 4096
    return byteCount > UInt64.max - block ? .max : (byteCount + block - 1) / block * block
  }

  /// Forgets everything in it.
  func clear() throws(BlobStoreError) { try store.removeFolder(folder) }

  /// Forgets what is in it of one member.
  func clear(_ member: MemberID) throws(BlobStoreError) {
    try store.removeFolder(inside(BlobPath("members/\(member.hex)")))
  }

  /// The members of which something is in it, with the heads.
  func heads() throws(BlobStoreError) -> [MemberID: [VaultPath]] {
    var found: [MemberID: [VaultPath]] = [:]
    for entry in try list("members") {
      guard let member = MemberID(hex: entry.name) else { continue }
      let heads = try list(BlobPath("members/\(member.hex)/heads"))
      found[member] = heads.compactMap { entry in
        DeviceID(hex: entry.name).map { .head(member, $0) }
      }
    }
    return found
  }

  /// Reads what was fetched. `vault.json` is none of it, and is made up: a sync asks each remote for that first.
  func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    if path.string == VaultPath.vault.string { return VaultDescription(vault: vault).encoded() }
    return try store.read(inside(path), limit: limit)
  }

  /// A file that was fetched; nil where there is none, or it cannot be read: then it is fetched again, or passed over.
  ///
  /// - Throws: What concerns this machine's whole disk.
  func fetched(_ path: BlobPath, limit: Int) throws(SyncError) -> [UInt8]? {
    do { return try read(path, limit: limit) } catch {
      guard error.concernsOneFile else { throw .vault(VaultError(error)) }
      return nil
    }
  }

  func read(_ path: BlobPath, at offset: UInt64, count: Int) throws(BlobStoreError) -> [UInt8] {
    try store.read(inside(path), at: offset, count: count)
  }

  func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    try store.size(of: inside(path))
  }

  func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    try store.put(inside(path), bytes, condition)
  }

  var decidesRaces: Bool { store.decidesRaces }

  func remove(_ path: BlobPath) throws(BlobStoreError) { try store.remove(inside(path)) }

  func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    try store.list(inside(folder))
  }

  func flush() throws(BlobStoreError) { try store.flush() }

  private func inside(_ path: BlobPath) -> BlobPath {
    path.isRoot ? folder : BlobPath("\(folder)/\(path)")
  }
}

extension IncomingFolder {
  /// The statements in it, with how many bytes they have.
  func statements() throws(BlobStoreError) -> [VaultPath: UInt64] {
    var found: [VaultPath: UInt64] = [:]
    try walk(under: .root, entering: { !$0.string.hasSuffix("/objects") }) { path, entry in
      if !entry.isFolder, let path, let file = VaultPath(parsing: path.string), file.isStatement {
        found[file] = entry.size
      }
      return .goOn
    }
    return found
  }

  /// The counter of a head or register that was fetched; nil for one that counts for nothing.
  func counter(of path: VaultPath, _ tree: SignedTree) throws(SyncError) -> UInt64? {
    guard let bytes = try fetched(BlobPath(path.string), limit: Limits.signedFileBytes) else {
      return nil
    }
    switch try keeping(tree.verdict(on: path, bytes)) {
    case .counts(let facts): return facts.counter
    case .retired, .former: return nil
    // If its device has signed it, it may wait for what has not come yet.
    case .broken: return tree.signedCounter(of: path, bytes)
    }
  }
}

extension SignedTree {
  /// The counter of the head or register in its place; 0 where none counts.
  func storedCounter(of path: VaultPath) throws(SyncError) -> UInt64 {
    guard case .counts(let facts)? = try keeping(verdictOnStored(path)) else { return 0 }
    return facts.counter
  }
}
