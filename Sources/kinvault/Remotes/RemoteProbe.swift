import BlobStore
import Vault
import VaultCrypto
import VaultModel
import VaultSync

/// Tries whether a remote can be used, and sees what it holds.
struct RemoteProbe {
  enum Holds: Equatable {
    case nothing
    case thisVault
  }

  /// What was found.
  struct Finding {
    let holds: Holds
    let text: String
  }

  private let remote: KnownRemote
  private let vault: VaultID
  private let memory: RemoteMemory

  /// - Parameter memory: What this machine remembers of the remote.
  init(_ remote: KnownRemote, vault: VaultID, memory: RemoteMemory = RemoteMemory()) {
    self.remote = remote
    self.vault = vault
    self.memory = memory
  }

  /// Reads what is there, and writes and removes a small file.
  ///
  /// - Throws: `refused` when another vault, or something else, is there; `emptied` when nothing is and something was;
  ///   what the store throws.
  func run() throws -> Finding {
    let store = try remote.open()
    let holds = try look(store)
    if holds == .nothing, memory.hasHeldFiles { throw SyncError.emptied(remote: remote.name) }
    try tryWriting(store)
    let text =
      switch holds {
      case .nothing: "The remote can be used. It is empty; the first sync fills it."
      case .thisVault: "The remote can be used. It holds this vault."
      }
    return Finding(holds: holds, text: text)
  }

  private func look(_ store: any BlobStore) throws -> Holds {
    let path = BlobPath(VaultPath.vault.string)
    var description: [UInt8]?
    do { description = try store.read(path, limit: 4096) } catch {
      guard case .notFound = error else { throw error }
    }
    if let description {
      let found: VaultID
      do { found = try VaultDescription(decoding: description).vault } catch {
        throw CommandError.refused("A vault.json is there that this version cannot read: \(error).")
      }
      guard found == vault else {
        throw CommandError.refused(
          "Another vault is there (\(found.shortHex)). Give this vault a folder or bucket of its own."
        )
      }
      return .thisVault
    }
    guard let example = RemoteRoot.stranger(among: try store.list(.root)) else { return .nothing }
    throw CommandError.refused(
      "Something else is there: \u{201C}\(Terminal.visible(example.name))\u{201D}. Give the vault an empty folder or bucket."
    )
  }

  private func tryWriting(_ store: any BlobStore) throws {
    // A name that no reader of a vault minds, and in no folder that would stay.
    let path = BlobPath(".kinvault-test-\(Hex.encode(randomBytes(8)))")
    let content = randomBytes(64)
    try store.put(path, content)
    let back = try store.read(path, limit: 4096)
    try store.remove(path)
    guard back == content else {
      throw CommandError.refused("The remote gave back something else than was put there.")
    }
  }
}
