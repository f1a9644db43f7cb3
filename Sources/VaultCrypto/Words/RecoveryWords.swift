import VaultModel

/// The recovery code of a person: 256 random bits as 24 words (BIP 39, English), written down on
/// paper and typed in when the password is lost, or to add a machine.
package struct RecoveryWords: ~Copyable, Sendable {
  package static let count = 24
  package static let entropySize = 32

  private let entropy: SecretBytes

  /// Traps unless there are 32 bytes.
  package init(entropy: consuming SecretBytes) {
    precondition(entropy.count == Self.entropySize, "24 words hold 32 bytes")
    self.entropy = entropy
  }

  package static func random() -> RecoveryWords {
    RecoveryWords(entropy: SecretBytes(randomCount: entropySize))
  }

  // MARK: Words

  /// The words, to be shown to the person. They stand in ordinary memory, which cannot be erased.
  package var words: [String] {
    var bytes = SecretBytes(count: Self.entropySize + 1)
    let checksum = Self.checksum(entropy)
    bytes.withUnsafeMutableBytes { bytes in
      entropy.withUnsafeBytes { bytes.copyMemory(from: $0) }
      bytes[Self.entropySize] = checksum
    }
    return bytes.withUnsafeBytes { Wordlist.words(Self.count, of: $0) }
  }

  /// Reads the words as a person types them: any case, any blanks and line breaks between them,
  /// each word in full or at least its first four letters, with numbers before them or without.
  package init(parsing text: some StringProtocol) throws(WordsError) {
    let bytes = try Wordlist.bytes(parsing: text, count: Self.count)
    let entropy = bytes.prefix(Self.entropySize)
    guard bytes.withUnsafeBytes({ $0[Self.entropySize] }) == Self.checksum(entropy) else {
      throw .badChecksum
    }
    self.init(entropy: entropy)
  }

  /// Reads the words from UTF-8 in secret memory, as a person types them; bytes that are not UTF-8 make an unknown word.
  package init(parsing text: borrowing SecretBytes) throws(WordsError) {
    try self.init(parsing: text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
  }

  private static func checksum(_ entropy: borrowing SecretBytes) -> UInt8 {
    entropy.withUnsafeBytes { Digest.sha256($0).bytes[0] }
  }

  // MARK: Keys

  /// The key that names the person and signs their closings; exists only while the words are there.
  package func rootSigningKey(binding: Binding) -> SigningKey {
    SigningKey(seed: HKDF.derive(entropy, info: binding.info(label: "root-signing")))
  }

  /// What opens the recovery slot with this salt and cost. Takes as long as `cost` says; throws as
  /// `PasswordHash.derive` does.
  package func seed(salt: [UInt8], cost: Argon2Cost) throws(CryptoError) -> RecoverySeed {
    RecoverySeed(try PasswordHash.stretch(entropy, salt: salt, cost: cost))
  }

  /// Whether both are the same words.
  package func isSame(as other: borrowing RecoveryWords) -> Bool {
    entropy.constantTimeEquals(other.entropy)
  }
}

/// What is wrong with words as typed. Says nothing of the words but what helps to mend
/// them.
package enum WordsError: Error, Hashable, Sendable {
  case wrongCount(found: Int, expected: Int)
  /// The word at this position, from 1, is not in the list; `nearest` is the one most like it.
  case unknownWord(position: Int, nearest: String)
  /// All are words of the list, but these do not belong together: one is wrong or two are
  /// exchanged.
  case badChecksum
}

/// The stretched recovery words: they wrap the master key in a closing of the person.
package struct RecoverySeed: ~Copyable, Sendable {
  private let secret: SecretBytes

  fileprivate init(_ secret: consuming SecretBytes) { self.secret = secret }

  func wrapKey(binding: Binding) -> SecretBytes {
    HKDF.derive(secret, info: binding.info(label: "recovery-kek"))
  }
}
