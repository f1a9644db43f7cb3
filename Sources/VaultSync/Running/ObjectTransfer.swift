import Vault
import VaultModel
import VaultObjects

/// The objects of a member as heads of one epoch name them.
struct NamedObjects: Sendable {
  let objects: ObjectStore
  let epoch: StatementID
  /// What heads name that stood where the objects are wanted before anything was brought.
  var coverage = Coverage()
}

/// Where a walk over objects finds them, and where it wants them.
protocol ObjectTransfer: Sendable {
  /// Sees that the object is where it is wanted, authenticated, and gives what is in it; nil when everything that it
  /// names is known to be there too. A chunk's content is empty.
  ///
  /// - Parameter isReplaced: It is a revision that another one has replaced: history may end before it.
  /// - Throws: `TransferFailure`.
  func bring(_ object: ObjectReference, isReplaced: Bool) throws(TransferFailure) -> [UInt8]?

  /// Notes a revision that was brought and that another one did not replace.
  func note(_ revision: RecordRevision, named digest: ContentDigest)

  /// What is in the object as it stands here, moving nothing; nil when it is not here or not whole.
  func peek(_ digest: ContentDigest, kind: ObjectKind) -> [UInt8]?

  /// Whether everything that the revision names, and what it replaced, is surely where it is wanted.
  func holds(_ revision: RecordRevision) -> Bool
}
