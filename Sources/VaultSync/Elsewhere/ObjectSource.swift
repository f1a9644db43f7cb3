import BlobStore

/// Somewhere else where files of the vault may be had: other remotes that this machine knows.
package protocol ObjectSource: Sendable {
  /// The file, from the first that has it whole; nil when nobody who can be reached has.
  ///
  /// Blocks; called from any thread.
  func read(_ path: BlobPath, limit: Int, where isWhole: ([UInt8]) -> Bool) -> [UInt8]?
}
