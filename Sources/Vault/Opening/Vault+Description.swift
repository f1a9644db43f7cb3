import BlobStore
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

extension Vault {
  /// What `vault.json` says.
  ///
  /// - Throws: `notAVault`, `unsupported`.
  package static func describe(folder: FilePath) throws(VaultError) -> VaultDescription {
    let store: DirectoryStore
    do { store = try DirectoryStore(opening: folder) } catch {
      throw .notAVault(folder: folder.string)
    }
    return try describe(store: store, folder: folder.string)
  }

  static func describe(store: any LocalStore, folder: String) throws(VaultError) -> VaultDescription
  {
    let path = BlobPath(VaultPath.vault.string)
    let bytes: [UInt8]
    do { bytes = try store.read(path, limit: 4096) } catch {
      switch error {
      case .notFound: throw .notAVault(folder: folder)
      default: throw VaultError(error)
      }
    }
    do { return try VaultDescription(decoding: bytes) } catch {
      if case .unsupported(let what, let found, let supported) = error {
        throw .unsupported(what: what, found: found, supported: supported)
      }
      throw VaultError(error, path: path.string)
    }
  }
}
