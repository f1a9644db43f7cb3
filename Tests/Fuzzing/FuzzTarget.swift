import BlobStore
import Notes
import Vault
import VaultCrypto
import VaultModel

/// A decoder of bytes that somebody else may have written, as the bounded run in the tests and `Scripts/fuzz` feed it.
package struct FuzzTarget: Sendable {
  package let name: String
  /// Bytes that it takes, to begin with.
  package let seeds: [[UInt8]]
  /// Decodes; whether the bytes are taken or refused does not matter. Throws what no decoder may throw.
  package let run: @Sendable ([UInt8]) throws -> Void

  /// Every decoder there is: the one list. A new decoder is added here.
  package static func all() throws -> [FuzzTarget] {
    try SampleDecoder.all().map { sample in
      FuzzTarget(
        name: sample.name.map { $0 == " " ? "-" : String($0) }.joined(), seeds: [sample.valid]
      ) {
        do { _ = try sample.reencode($0) } catch is ModelError {}
      }
    } + texts() + objects() + stateFiles() + remotes() + searching()
  }

  /// A value that is another one after encoding and decoding.
  struct Unstable: Error {}

  private static func texts() -> [FuzzTarget] {
    let person = String(repeating: "ab", count: 32)
    let words = RecoveryWords(entropy: SecretBytes(count: RecoveryWords.entropySize)).words
    return [
      FuzzTarget(
        name: "vault-path",
        seeds: ["vault.json", "people/\(person)/closings/\(person)", "audit/\(person)/17"].map {
          Array($0.utf8)
        }
      ) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let path = VaultPath(parsing: text), path.string != text { throw Unstable() }
      },
      FuzzTarget(name: "blob-path", seeds: [Array("people/a/identity".utf8)]) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        guard let path = try? BlobPath(parsing: text) else { return }
        if path.string != text || path.name.isEmpty { throw Unstable() }
      },
      FuzzTarget(name: "record-path", seeds: [Array("Emma/Vaccines/a".utf8)]) { bytes in
        if let path = RecordPath(bytes: bytes), RecordPath(bytes: path.bytes) != path {
          throw Unstable()
        }
      },
      FuzzTarget(name: "words", seeds: [Array(words.joined(separator: " ").utf8)]) { bytes in
        do {
          _ = try RecoveryWords(parsing: String(decoding: bytes, as: UTF8.self))
        } catch is WordsError {}
      },
      FuzzTarget(
        name: "front-matter",
        seeds: [
          Array(
            "---\ntype: visit\ndate: 2024-05-06\ntags: [a, b]\nx: {y: |\n  z\n}\n---\ntext".utf8),
          Array("---\n&a [*a]\n--- \r\n".utf8),
        ]
      ) { bytes in
        do { _ = try RecordDocument(bytes).frontMatter() } catch is FrontMatterError {}
      },
    ]
  }

  private static func objects() -> [FuzzTarget] {
    var random = SeededRandom(seed: 7)
    let member: MemberID = random.id()
    // Fixed, so that what is found can be found again.
    let key = FamilyMemberKey(SecretBytes(copying: random.bytes(32)))
    let keys = EpochKeys(key, member: member, binding: Binding(vault: random.id()))
    let content = random.bytes(600)
    let name = content.withUnsafeBytes { keys.name(of: HashedContent(.chunk, $0).digest) }
    let sealed = keys.seal(name: name, kind: .chunk, content: content)
    return [
      FuzzTarget(name: "object-header", seeds: [Array(sealed.prefix(16))]) { bytes in
        let header = bytes.withUnsafeBytes { try? ObjectHeader(decoding: $0) }
        if let header, header.encoded != Array(bytes.prefix(16)) { throw Unstable() }
      },
      FuzzTarget(name: "object", seeds: [sealed]) { bytes in
        let opened = try? keys.open(name: name, kind: .chunk, file: bytes)
        if let opened, opened != content { throw Unstable() }
      },
    ]
  }
}
