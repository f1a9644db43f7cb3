import VaultCrypto
import VaultErrors
import VaultModel

/// The content of a file, a chunk at a time.
package struct FileParts: Sendable {
  private let member: Member
  private let size: UInt64
  private let inline: [UInt8]
  private let chunks: [ContentDigest?]

  /// - Throws: `missing`, `damaged` of a list of chunks.
  package static func load(of item: Item, in member: Member) throws(VaultError) -> FileParts {
    if case .inline(let bytes) = item.content {
      let inline = Array(bytes.prefix(Int(clamping: item.size)))
      return FileParts(member: member, size: item.size, inline: inline, chunks: [])
    }
    let chunks = try member.chunks(of: item.content)
    return FileParts(member: member, size: item.size, inline: [], chunks: chunks)
  }

  package var count: Int { inline.isEmpty ? chunks.count : 1 }

  /// - Throws: `missing`, `damaged`; `away` in a lazy vault.
  package func part(_ number: Int) throws(VaultError) -> [UInt8] {
    if !inline.isEmpty { return inline }
    let whole = ObjectLayout.maximumContentSize(of: .chunk)
    let (begin, overflow) = UInt64(number).multipliedReportingOverflow(by: UInt64(whole))
    let length = overflow || begin > size ? 0 : Int(min(UInt64(whole), size - begin))
    guard let chunk = chunks[number] else { return [UInt8](repeating: 0, count: length) }
    return try member.chunk(chunk, byteCount: length)
  }
}
