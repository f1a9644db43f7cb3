import BlobStore
import VaultModel

/// A file that a program which copies folders left beside a grant, since it found two of one name. Docs/Format.md, "Two
/// grants at one path".
struct GrantCopy: Hashable, Sendable {
  /// Where it would stand.
  let grant: VaultPath
  /// Where it stands.
  let path: BlobPath

  /// - Returns: Nil for a file whose name is not that of a grant with something appended.
  init?(at path: BlobPath, of member: MemberID, in epoch: EpochID) {
    let digits = PersonID.byteCount * 2
    let name = path.name
    guard name.utf8.count > digits, let person = PersonID(hex: String(name.prefix(digits))) else {
      return nil
    }
    grant = .grant(member, epoch, person)
    self.path = path
  }
}

extension Member {
  /// Puts grants in their place that stand beside one which they count before.
  ///
  /// - Returns: Whether there were any; then the grants are to be read again.
  func settleGrantCopies() throws(VaultError) -> Bool {
    let copies = register.grants.copies
    guard !context.isReadOnly, !copies.isEmpty else { return false }
    var hasSettled = false
    for copy in copies {
      let bytes: [UInt8]
      do throws(BlobStoreError) {
        bytes = try context.store.read(copy.path, limit: SignedFiles.sizeLimit)
      } catch {
        // Another program may have removed it.
        continue
      }
      let tree = try SignedTree(
        vault: context.binding.vault, store: context.store,
        seen: try context.state.loadWatermarks())
      guard try tree.isOutranked(copy.grant, by: bytes) else { continue }
      try context.signedFiles.store(bytes, at: copy.grant, in: context.store)
      hasSettled = true
    }
    return hasSettled
  }
}
