import BlobStore
import VaultModel

/// The `vault.json` of a remote, where it is this vault's with something behind it: a program or a disk has damaged it, and
/// nothing else on the remote can be used for it.
struct RemoteDescription {
  private let session: SyncSession
  private let whole: [UInt8]

  init(_ session: SyncSession) {
    self.session = session
    whole = VaultDescription(vault: session.home.id).encoded()
  }

  private static let path = BlobPath(VaultPath.vault.string)

  /// False also where there is none.
  func isExtended() throws(SyncError) -> Bool {
    do {
      guard let size = try session.remote.size(of: Self.path), size > whole.count else {
        return false
      }
      return try session.remote.read(Self.path, at: 0, count: whole.count) == whole
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return false
    }
  }

  /// Writes it anew if it is extended.
  ///
  /// - Returns: Whether it was.
  func mend() throws(SyncError) -> Bool {
    guard try isExtended() else { return false }
    try session.put(.vault, whole)
    return true
  }
}
