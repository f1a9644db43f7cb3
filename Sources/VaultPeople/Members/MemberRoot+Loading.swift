import BlobStore
import VaultErrors
import VaultModel
import VaultTrust

extension MemberRoot {
  /// A member's root, verified.
  ///
  /// - Parameter memory: What counted here before; read where the root does not hold.
  /// - Throws: `missing`; `damaged` when it is another member's, or its creator's device is not known or does not count.
  package static func load(
    _ member: MemberID, files: SignedFiles, people: People,
    memory: @autoclosure () throws(VaultError) -> LinkMemory = LinkMemory()
  ) throws(VaultError) -> MemberRoot {
    let path = VaultPath.memberRoot(member)
    let bytes = try storing(files.store.read(BlobPath(path.string), limit: Limits.signedFileBytes))
    return try load(member, from: bytes, people: people, memory: memory())
  }

  /// A member's root, verified, from the bytes of its file.
  static func load(
    _ member: MemberID, from bytes: [UInt8], people: People,
    memory: @autoclosure () throws(VaultError) -> LinkMemory
  ) throws(VaultError) -> MemberRoot {
    let path = VaultPath.memberRoot(member)
    do {
      if let root = try people.trust.root(of: member, decoding: bytes) { return root }
    } catch {
      // Whoever has a removed device makes members without end; only what counted here is worth asking for.
      if error == .departed {
        let countedHere = try memory().files[path] != nil
        throw .damaged(path: path.string, reason: .unlisted(countedHere: countedHere))
      }
      throw .damaged(path: path.string, reason: "\(error)")
    }
    throw .damaged(path: path.string, reason: "its creator is not in this vault")
  }
}
