import BlobStore
import Vault
import VaultModel

/// What one sync saw of a remote: names, marks, and the signed files that it read. It may serve another one that follows
/// at once.
package struct RemoteSight: Sendable {
  /// On what it depends, besides the remote, what is listed and read there.
  struct Circumstances: Sendable {
    /// What was remembered of the remote.
    let memory: RemoteMemory
    /// Who was vouched for.
    let vouched: FileHash?
    /// Milliseconds since 1970.
    let time: UInt64
  }

  let look: RemoteLook
  let bytes: [VaultPath: [UInt8]]
  let circumstances: Circumstances

  /// A sync takes about so long; what changes meanwhile the next one sees. In milliseconds.
  private static let lifetime: UInt64 = 30_000

  /// Whether a sync that begins now would list and read the same, if the remote has not changed.
  func serves(_ now: Circumstances) -> Bool {
    let then = circumstances
    return now.memory == then.memory && now.vouched == then.vouched && now.time >= then.time
      && now.time - then.time <= Self.lifetime
  }
}
