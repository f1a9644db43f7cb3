import VaultModel

/// The eight words by which a device that is trusted and a new machine know each other, while both wait. They open
/// nothing. Docs/Format.md, "Adding a device without the words".
package struct ApprovalWords: ~Copyable, Sendable {
  package static let count = 8
  private static let markSize = 2
  private static let secretSize = 10
  static let cost = ComparisonWords.cost

  // The mark of the person, random bytes, and a byte that shows most mistakes.
  private let bytes: SecretBytes

  /// New words for a device of the person.
  package static func random(for person: PersonID) -> ApprovalWords {
    var bytes = SecretBytes(randomCount: secretSize + 1)
    let mark = mark(of: person, bytes)
    bytes.withUnsafeMutableBytes { bytes in
      for position in 0..<markSize { bytes[position] = mark[position] }
    }
    let checksum = checksum(bytes)
    bytes.withUnsafeMutableBytes { $0[secretSize] = checksum }
    return ApprovalWords(bytes: bytes)
  }

  private init(bytes: consuming SecretBytes) { self.bytes = bytes }

  /// Reads the words as `RecoveryWords` reads its own.
  package init(parsing text: some StringProtocol) throws(WordsError) {
    let bytes = try Wordlist.bytes(parsing: text, count: Self.count)
    guard bytes.withUnsafeBytes({ $0[Self.secretSize] }) == Self.checksum(bytes) else {
      throw .badChecksum
    }
    self.init(bytes: bytes)
  }

  /// The words, to be shown to the person.
  package var words: [String] {
    bytes.withUnsafeBytes { Wordlist.words(Self.count, of: $0) }
  }

  /// Whether they may be for a device of this person: of some 32,768 others one is as good, and only who knows the words
  /// can tell which.
  package func mayBe(for person: PersonID) -> Bool {
    let shown = bytes.withUnsafeBytes { Array($0[..<Self.markSize]) }
    // Older programs show the first bytes of the person.
    return shown == Self.mark(of: person, bytes)
      || shown == Array(person.bytes[..<Self.markSize])
  }

  /// What seals the request of a device of the person, and the approval of it. Takes about a second, on purpose.
  ///
  /// - Throws: `outOfMemory`.
  package func sealingKey(for person: PersonID, binding: Binding) throws(CryptoError) -> SealingKey
  {
    let secret = try stretched(binding)
    return Self.sealingKey(of: secret, for: person, binding: binding)
  }

  /// The same for each of these people, in no more time.
  package func sealingKeys(
    for people: [PersonID], binding: Binding
  ) throws(CryptoError) -> [SealingKey] {
    let secret = try stretched(binding)
    var keys: [SealingKey] = []
    for person in people {
      keys.append(Self.sealingKey(of: secret, for: person, binding: binding))
    }
    return keys
  }

  private func stretched(_ binding: Binding) throws(CryptoError) -> SecretBytes {
    try PasswordHash.stretch(
      bytes.prefix(Self.secretSize), salt: binding.vault.bytes, cost: Self.cost)
  }

  private static func sealingKey(
    of stretched: borrowing SecretBytes, for person: PersonID, binding: Binding
  ) -> SealingKey {
    SealingKey(
      HKDF.derive(stretched, info: binding.info(label: "device-approval", context: person.bytes)),
      binding: binding)
  }

  /// What the random bytes make of a person. Without them nobody can make up a person whose mark is the same.
  private static func mark(of person: PersonID, _ bytes: borrowing SecretBytes) -> [UInt8] {
    bytes.withUnsafeBytes { bytes in
      person.withUnsafeBytes { person in
        withUnsafeTemporaryAllocation(byteCount: Hasher256.size, alignment: 8) { hash -> [UInt8] in
          let random = UnsafeRawBufferPointer(rebasing: bytes[markSize..<secretSize])
          Hasher256.with { $0.hash(random, person, into: hash.baseAddress!) }
          return Array(hash[..<markSize])
        }
      }
    }
  }

  private static func checksum(_ bytes: borrowing SecretBytes) -> UInt8 {
    bytes.withUnsafeBytes {
      Digest.sha256(UnsafeRawBufferPointer(rebasing: $0[..<secretSize])).bytes[0]
    }
  }
}
