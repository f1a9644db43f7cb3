import BlobStore
import Threads
import Vault
import VaultCrypto
import VaultModel

/// Puts the small objects that a sync brings to a remote there once more in packs, where they are many: whoever clones
/// the vault then asks for a few files instead of each. Docs/Format.md, "Packs".
final class PackWriter: Sendable {
  private struct State {
    var objects: [ObjectPack.Object] = []
    var byteCount = 0
    var hasWritten = false

    mutating func take() -> [ObjectPack.Object] {
      defer { (objects, byteCount, hasWritten) = ([], 0, true) }
      return objects
    }
  }

  /// Of fewer objects no pack is made.
  static let leastCount = 256
  /// A pack is written when it has so many bytes.
  private static let usualByteCount = 4 << 20

  private let session: SyncSession
  private let member: MemberID
  private let state = Guarded(State())

  init(session: SyncSession, member: MemberID) {
    self.session = session
    self.member = member
  }

  /// Where a remote has the packs of a member.
  static func folder(of member: MemberID) -> BlobPath { BlobPath("members/\(member.hex)/packs") }

  /// An object that stands on the remote by now.
  func add(_ name: ObjectName, _ file: [UInt8]) throws(SyncError) {
    guard file.count <= ObjectPack.objectByteLimit else { return }
    let full = state.withLock { state -> [ObjectPack.Object]? in
      state.objects.append(ObjectPack.Object(name: name, file: file))
      state.byteCount += file.count
      return state.byteCount >= Self.usualByteCount ? state.take() : nil
    }
    if let full { try write(full) }
  }

  /// Nothing more comes.
  func finish() throws(SyncError) {
    let rest = state.withLock { state in
      state.objects.count >= Self.leastCount || state.hasWritten ? state.take() : []
    }
    if !rest.isEmpty { try write(rest) }
  }

  private func write(_ objects: [ObjectPack.Object]) throws(SyncError) {
    if session.options.isDryRun { return }
    let bytes = ObjectPack(objects).encoded()
    let path = Self.folder(of: member).appending(Digest.sha256(bytes).hex)
    try asking(session.remote.put(path, bytes, .always))
    session.notePack(path)
  }
}
