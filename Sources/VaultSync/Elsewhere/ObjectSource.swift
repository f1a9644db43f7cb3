import BlobStore

/// Somewhere else where files of the vault may be had: other remotes that this machine knows.
package protocol ObjectSource: Sendable {
  /// The file as it stands there, not verified yet; nil when nobody who can be reached has it.
  ///
  /// Blocks; called from any thread.
  func read(_ path: BlobPath, limit: Int) -> [UInt8]?
}
