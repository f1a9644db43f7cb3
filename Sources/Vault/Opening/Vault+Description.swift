import BlobStore
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

extension Vault {
  /// What `vault.json` says.
  ///
  /// - Throws: `notAVault`, `unsupported`; `permission` or `io` where the folder cannot be looked into.
  package static func describe(folder: FilePath) throws(VaultError) -> VaultDescription {
    try describe(store: openFolder(folder), folder: folder.string)
  }

  /// What lies in a folder, whether that is a vault's or not.
  ///
  /// - Throws: `notAVault` where there is no such folder; `permission` or `io` where it cannot be looked into.
  static func openFolder(_ folder: FilePath) throws(VaultError) -> DirectoryStore {
    do { return try DirectoryStore(opening: folder) } catch {
      switch error {
      case .notFound, .notABlob: throw .notAVault(folder: folder.string)
      default: throw VaultError(error)
      }
    }
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
