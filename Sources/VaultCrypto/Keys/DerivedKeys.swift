import VaultModel

/// The keys of what one machine has derived from the records of one member in one epoch, and could derive again: an index
/// for searching, for one. Docs/Format.md, "What is derived".
///
/// It takes both to have them: the device unlock key of this machine and the epoch's key. May be used from every thread.
package final class DerivedKeys: Sendable {
  private let nameKey: HMACKey
  private let sealingKey: SealingKey

  /// - Parameters:
  ///   - machine: The device unlock key, which seals what is in this machine's state.
  ///   - epoch: The member's, of which it is derived.
  package init(machine: SealingKey, epoch: EpochKeys) {
    let binding = machine.binding
    let own = HKDF.derive(machine.key, info: binding.info(label: "derived-machine"))
    var secret = SecretBytes(count: HMACKey.size)
    secret.withUnsafeMutableBytes { output in
      own.withUnsafeBytes { epoch.derivedKey.authenticate($0, into: output) }
    }
    nameKey = HMACKey(HKDF.derive(secret, info: binding.info(label: "derived-name")))
    sealingKey = SealingKey(
      HKDF.derive(secret, info: binding.info(label: "derived-seal")), binding: binding)
  }

  /// Under what name something stands: 64 hexadecimal digits that tell nothing of it.
  package func name(of content: [UInt8]) -> String {
    var code = [UInt8](repeating: 0, count: HMACKey.size)
    code.withUnsafeMutableBytes { output in
      content.withUnsafeBytes { nameKey.authenticate($0, into: output) }
    }
    return Hex.encode(code)
  }

  /// The file: nonce, ciphertext and tag. It opens under this path only.
  package func seal(_ content: [UInt8], path: String) -> [UInt8] {
    let sealed = sealingKey.seal(content, label: .derived, path: path, counter: 0)
    return sealed.nonce + sealed.ciphertext
  }

  /// What is in a file; nil for one that is torn, changed, of another path, or sealed with other keys.
  package func open(_ file: [UInt8], path: String) -> [UInt8]? {
    do {
      return try file.span.bytes.withUnsafeBytes { bytes throws(CryptoError) in
        try sealingKey.open(
          nonce: Array(bytes.prefix(GCM.nonceSize)),
          UnsafeRawBufferPointer(rebasing: bytes.dropFirst(GCM.nonceSize)), label: .derived,
          path: path, counter: 0)
      }
    } catch {
      // Whatever is wrong with it, it is made again.
      return nil
    }
  }
}
