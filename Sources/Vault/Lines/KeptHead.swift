import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

/// The newest head of a member that this machine has written, as the device that it is or was: as it keeps it in its own state
/// (Docs/Format.md, `heads/<member>`). Nothing of it is verified.
struct KeptHead: Sendable {
  let bytes: [UInt8]
  let hash: FileHash
  /// What it says in the open; nil where a power cut has torn it.
  let body: HeadFile?

  var device: DeviceID? { body?.device }

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    hash = Digest.sha256(bytes)
    do { body = try HeadFile(decoding: SignedFile(decoding: bytes).body) } catch { body = nil }
  }
}

/// A kept head that holds, of the device that this machine is, or was while that is still to be written anew.
struct VerifiedKeptHead {
  let head: LoadedHead
  let bytes: [UInt8]
}

extension Member {
  /// Nil where none was kept.
  func keptHead() throws(VaultError) -> KeptHead? {
    try context.state.keptHead(of: id).map(KeptHead.init)
  }

  /// Whether this machine has written the head, in this process or another one, and none after it.
  func isKept(_ hash: FileHash) throws(VaultError) -> Bool { try keptHead()?.hash == hash }

  /// Whether what is followed here of a device was written by this machine, before it became another one.
  func hasWritten(_ device: DeviceID, _ heads: HeadsState) throws(VaultError) -> Bool {
    guard mayWrite, let known = heads.loaded[device] else { return false }
    return try isKept(known.hash)
  }
}
