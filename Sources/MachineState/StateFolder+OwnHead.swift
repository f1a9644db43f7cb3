import BlobStore
import VaultErrors
import VaultModel

/// What this machine keeps of what it has written itself, and whether it has become another device.
extension StateFolder {
  // MARK: What is to be told

  private static let untoldPath: BlobPath = "parted"

  /// This machine has become another device, which nobody at it has been told.
  package func notePartedUntold() throws(VaultError) {
    try storing(store.replace(Self.untoldPath, [], durably: false))
  }

  /// Whether that is still to be told.
  package func isPartedUntold() throws(VaultError) -> Bool {
    try readIfThere(Self.untoldPath, limit: 1) != nil
  }

  package func forgetPartedUntold() throws(VaultError) {
    do { try store.remove(Self.untoldPath) } catch {
      switch error {
      // Who cannot write there is told again.
      case .notFound, .readOnly, .permission, .noSpace: break
      default: throw VaultError(error)
      }
    }
  }

  // MARK: The newest own head

  private static let keptHeads: BlobPath = "heads"

  private static func keptHeadPath(of member: MemberID) -> BlobPath {
    keptHeads.appending(member.hex)
  }

  /// The members of which `keepHead` kept something.
  package func membersOfKeptHeads() throws(VaultError) -> [MemberID] {
    try storing(store.list(Self.keptHeads)).compactMap { MemberID(hex: $0.name) }
  }

  /// Keeps the bytes of this device's newest head of a member.
  ///
  /// - Parameter durably: Whether no power cut takes them once this returns. A commit does not wait for that.
  package func keepHead(
    _ bytes: [UInt8], of member: MemberID, durably: Bool
  ) throws(VaultError) {
    try storing(store.replace(Self.keptHeadPath(of: member), bytes, durably: durably))
  }

  /// What `keepHead` kept, of which nothing is verified; nil if nothing was.
  package func keptHead(of member: MemberID) throws(VaultError) -> [UInt8]? {
    try readIfThere(Self.keptHeadPath(of: member), limit: Limits.signedFileBytes)
  }
}
