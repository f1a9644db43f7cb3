import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// A walk that moves nothing: whether all that it comes to is here.
struct ObjectsHere: ObjectTransfer {
  let objects: ObjectStore
  /// What is where the objects are wanted, with everything that it names.
  let coverage: Coverage
  /// Whether chunks are opened as well, and not only looked for.
  var opensChunks = false

  func bring(_ object: ObjectReference, isReplaced: Bool) throws(TransferFailure) -> [UInt8]? {
    let digest = object.digest
    do throws(VaultError) {
      guard object.kind == .chunk else {
        return try objects.placedContent(digest, kind: object.kind)
      }
      if try objects.isPresent(digest) {
        if opensChunks { _ = try objects.placedContent(digest, kind: .chunk) }
        return []
      }
      // A lazy vault brings it before it is sent on.
      if objects.isLazy { return [] }
      throw VaultError.missing(path: objects.vaultPath(of: digest).string)
    } catch {
      guard error.isDamage else { throw .fatal(.vault(error)) }
      throw .object(error)
    }
  }

  func note(_ revision: RecordRevision, named digest: ContentDigest) {}

  func peek(_ digest: ContentDigest, kind: ObjectKind) -> [UInt8]? {
    // What is wrong with it is told when it is to be sent.
    try? objects.placedContent(digest, kind: kind)
  }

  func holds(_ revision: RecordRevision) -> Bool { coverage.holds(revision) }
}
