import Glibc
import Vault
import VaultErrors
import VaultModel

/// Takes one file's content into a member's vault as it comes, in parts of any size. At most a chunk of it is in memory.
///
/// What it makes are staged objects; they count once a commit names them.
package struct ContentImport {
  private let member: Member
  /// Whether a short content may stand in its item instead of an object.
  private let mayBeInline: Bool
  private var chunk: [UInt8] = []
  private var chunks: [ContentDigest?] = []
  private var byteCount: UInt64 = 0
  private static let zeros = [UInt8](repeating: 0, count: Limits.chunkBytes)

  /// - Parameter name: What the file is called in the vault: a note's content may stand in its item.
  package init(into member: Member, named name: FileName) {
    self.member = member
    mayBeInline = name == .record
  }

  /// Takes the next bytes.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) throws(VaultError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // Put only when more comes: a content of one short part may stand in its item.
      if chunk.count == Limits.chunkBytes { try put() }
      if chunk.capacity == 0 { chunk.reserveCapacity(min(Limits.chunkBytes, rest.count)) }
      let part = rest.prefix(Limits.chunkBytes - chunk.count)
      chunk.append(contentsOf: part)
      rest = rest.dropFirst(part.count)
      byteCount += UInt64(part.count)
    }
  }

  /// The whole content. Nothing may be added after that.
  package mutating func finish() throws(VaultError) -> (size: UInt64, content: Item.Content) {
    if byteCount == 0 { return (0, .none) }
    if mayBeInline, chunks.isEmpty, chunk.count <= Limits.inlineContentBytes {
      return (byteCount, .inline(chunk))
    }
    try put()
    return (byteCount, try member.content(of: chunks))
  }

  /// Makes the chunk an object, or a hole if it is all zeros, which is as good.
  private mutating func put() throws(VaultError) {
    let isHole = chunk.withUnsafeBytes { chunk in
      Self.zeros.withUnsafeBytes { memcmp(chunk.baseAddress!, $0.baseAddress!, chunk.count) == 0 }
    }
    chunks.append(isHole ? nil : try member.putChunk(chunk))
    chunk.removeAll(keepingCapacity: true)
  }
}
