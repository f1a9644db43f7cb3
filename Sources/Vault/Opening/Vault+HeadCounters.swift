import BlobStore
import VaultErrors
import VaultModel
import VaultTrust

import struct SystemPackage.FilePath

/// A head as its file says, without anything verified.
package struct ShownHead: Hashable, Sendable {
  package let path: VaultPath
  package let counter: UInt64
  /// Whether it is this device's.
  package let isOwn: Bool
}

extension Vault {
  /// How far the heads in a vault's folder have come, told without its keys. What does not decode is left out.
  ///
  /// - Parameter device: This machine's device; nil where it has none.
  package static func headCounters(
    in folder: FilePath, device: DeviceID?
  ) throws(VaultError) -> [ShownHead] {
    try storing { () throws(BlobStoreError) -> [ShownHead] in
      let store = try DirectoryStore(opening: folder)
      var heads: [ShownHead] = []
      for member in try store.list("members") {
        guard member.isFolder, let id = MemberID(hex: member.name) else { continue }
        for entry in try store.list(BlobPath("members/\(id.hex)/heads")) {
          guard entry.kind == .blob, let writer = DeviceID(hex: entry.name) else { continue }
          let path = VaultPath.head(id, writer)
          let bytes = try store.read(BlobPath(path.string), limit: Limits.signedFileBytes)
          do throws(ModelError) {
            let head = try HeadFile(decoding: SignedFile(decoding: bytes).body)
            heads.append(ShownHead(path: path, counter: head.counter, isOwn: writer == device))
          } catch {
            // A check says what is wrong with it.
          }
        }
      }
      return heads
    }
  }
}
