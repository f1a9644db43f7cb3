import VaultModel

/// The six words by which two people find that they see one another's real keys: each reads them aloud.
///
/// A forger in the middle needs two made-up persons whose words are equal: with 66 bits some 2^33 of each, and every
/// one costs an Argon2id of a quarter gigabyte. Docs/Format.md, "Comparing words".
package enum ComparisonWords {
  package static let count = 6
  static let cost = Argon2Cost(passes: 6, memoryKiB: 256 << 10)

  /// The words of the two people, whose order does not matter. Takes about a second, on purpose.
  ///
  /// - Throws: `outOfMemory`.
  package static func words(
    _ first: PersonID, _ second: PersonID, binding: Binding
  ) throws(CryptoError) -> [String] {
    let (low, high) = first < second ? (first, second) : (second, first)
    let stretched = try PasswordHash.stretch(
      SecretBytes(copying: low.bytes + high.bytes), salt: binding.vault.bytes, cost: cost)
    let bits = HKDF.derive(stretched, info: binding.info(label: "comparison-words"))
    return bits.withUnsafeBytes { Wordlist.words(count, of: $0) }
  }
}
