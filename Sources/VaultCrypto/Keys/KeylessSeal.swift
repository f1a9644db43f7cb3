import VaultModel

/// Seals for a person what is noted while none of their keys is here. Docs/Format.md, section 13, "Events that wait".
///
/// Everybody can make one who knows the public key of the generation, so nothing in it proves who did.
package struct KeylessSeal: Sendable {
  package let person: PersonID
  /// The closing that opened the generation whose key opens it.
  package let generation: StatementID
  private let binding: Binding

  package init(person: PersonID, generation: StatementID, binding: Binding) {
    self.person = person
    self.generation = generation
    self.binding = binding
  }

  /// Of the wrap that stands before what is sealed.
  package static let wrapByteCount = HybridWrap.byteCount

  /// A wrap of a new key, and what is sealed with that key for this path and counter.
  ///
  /// Throws `invalidKey` for a public key that must not be used.
  package func seal(
    _ plaintext: [UInt8], for agreementPublicKey: [UInt8], path: String, counter: UInt64
  ) throws(CryptoError) -> (wrap: [UInt8], sealed: Sealed) {
    let secret = SecretBytes(randomCount: GCM.keySize)
    let wrap = try HybridWrap.wrap(secret, for: agreementPublicKey, info: info)
    let key = SealingKey(secret, binding: binding)
    return (wrap, key.seal(plaintext, label: .waiting, path: path, counter: counter))
  }

  /// What was sealed; throws as `HybridWrap.unwrap` and `SealingKey.open`.
  package func open(
    _ wrap: [UInt8], _ sealed: Sealed, with agreementKey: ExpandedAgreementKey,
    path: String, counter: UInt64
  ) throws(CryptoError) -> [UInt8] {
    let key = SealingKey(
      try HybridWrap.unwrap(wrap, with: agreementKey, info: info), binding: binding)
    return try key.open(sealed, label: .waiting, path: path, counter: counter)
  }

  private var info: [UInt8] {
    binding.info(label: "waiting-wrap", context: person.bytes + generation.bytes)
  }
}
