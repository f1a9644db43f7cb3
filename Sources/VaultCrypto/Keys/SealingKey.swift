import VaultModel

extension Sealed {
  /// Random bytes that look as if so many had been sealed; nothing opens them.
  package static func nothing(like byteCount: Int) -> Sealed {
    Sealed(nonce: randomBytes(GCM.nonceSize), ciphertext: randomBytes(byteCount + GCM.tagSize))
  }
}

/// Seals what stands inside registers, audit segments and the password slot: AES-256-GCM with a
/// random nonce, bound to the file that it stands in. Docs/Format.md, "5. Signed files", *Sealed*.
///
/// May be used from every thread.
package final class SealingKey: Sendable {
  let key: SecretBytes
  let binding: Binding

  init(_ key: consuming SecretBytes, binding: Binding) {
    precondition(key.count == GCM.keySize, "a sealing key has 32 bytes")
    self.key = key
    self.binding = binding
  }

  /// Seals for the file of this label, path and counter only.
  package func seal(_ plaintext: [UInt8], label: FileLabel, path: String, counter: UInt64)
    -> Sealed
  {
    let nonce = randomBytes(GCM.nonceSize)
    let additionalData = binding.additionalData(label, path: path, counter: counter)
    let size = plaintext.count
    let ciphertext = [UInt8](unsafeUninitializedCapacity: size + GCM.tagSize) { output, count in
      withCipher(.seal, nonce, additionalData) { cipher in
        plaintext.withUnsafeBytes { cipher.update($0, into: output.baseAddress!) }
        cipher.finishSealing(tag: output.baseAddress! + size)
      }
      count = size + GCM.tagSize
    }
    return Sealed(nonce: nonce, ciphertext: ciphertext)
  }

  /// What was sealed; throws `malformed` for impossible sizes, else `authenticationFailed` if
  /// anything differs: key, bytes, label, path or counter.
  package func open(_ sealed: Sealed, label: FileLabel, path: String, counter: UInt64)
    throws(CryptoError) -> [UInt8]
  {
    try sealed.ciphertext.span.bytes.withUnsafeBytes { bytes throws(CryptoError) in
      try open(nonce: sealed.nonce, bytes, label: label, path: path, counter: counter)
    }
  }

  /// What was sealed, of a ciphertext that is not copied first; throws as the other `open`.
  func open(
    nonce: [UInt8], _ ciphertext: UnsafeRawBufferPointer, label: FileLabel, path: String,
    counter: UInt64
  ) throws(CryptoError) -> [UInt8] {
    guard nonce.count == GCM.nonceSize, ciphertext.count >= GCM.tagSize,
      let start = ciphertext.baseAddress
    else { throw .malformed(reason: "a sealed value of impossible size") }
    let additionalData = binding.additionalData(label, path: path, counter: counter)
    let size = ciphertext.count - GCM.tagSize
    var isAuthentic = false
    let plaintext = [UInt8](unsafeUninitializedCapacity: size) { output, count in
      isAuthentic = withCipher(.open, nonce, additionalData) { cipher in
        if let output = output.baseAddress {
          cipher.update(UnsafeRawBufferPointer(rebasing: ciphertext[..<size]), into: output)
        }
        return cipher.finishOpening(tag: start + size)
      }
      count = isAuthentic ? size : 0
    }
    guard isAuthentic else { throw .authenticationFailed }
    return plaintext
  }

  private func withCipher<Result>(
    _ direction: GCM.Direction, _ nonce: [UInt8], _ additionalData: [UInt8],
    _ body: (KeyedCipher) -> Result
  ) -> Result {
    key.withUnsafeBytes { key in
      GCM.withCipher(key: key.baseAddress!, direction) { cipher in
        nonce.withUnsafeBytes { nonce in
          additionalData.withUnsafeBytes {
            cipher.start(nonce: nonce.baseAddress!, additionalData: $0)
          }
        }
        return body(cipher)
      }
    }
  }
}
