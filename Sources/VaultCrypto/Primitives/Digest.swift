import COpenSSL
import VaultModel

/// SHA-256 (FIPS 180-4) of one message after the other. Must not outlive the call that lent it.
struct Hasher256 {
  static let size = 32

  private let context: OpaquePointer

  private static let contexts = ContextPool(
    make: {
      let context = mustExist(EVP_MD_CTX_new())
      mustSucceed(EVP_DigestInit_ex2(context, Algorithms.sha256, nil))
      return context
    },
    free: { EVP_MD_CTX_free($0) })

  static func with<Result>(_ body: (Hasher256) -> Result) -> Result {
    contexts.withContext { body(Hasher256(context: $0)) }
  }

  /// Writes the 32 bytes of the hash of `first ‖ second ‖ third` to `output`.
  func hash(
    _ first: UnsafeRawBufferPointer,
    _ second: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    _ third: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    into output: UnsafeMutableRawPointer
  ) {
    // Of the function that the context has: naming it once more would look it up again.
    mustSucceed(EVP_DigestInit_ex2(context, nil, nil))
    update(first)
    update(second)
    update(third)
    mustSucceed(
      EVP_DigestFinal_ex(context, output.assumingMemoryBound(to: UInt8.self), nil))
  }

  private func update(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0 else { return }
    mustSucceed(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
  }
}

/// SHA-256 (FIPS 180-4), of what is not secret.
package enum Digest {
  package static func sha256(_ bytes: UnsafeRawBufferPointer) -> FileHash {
    withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { output in
      mustSucceed(
        EVP_Digest(
          bytes.baseAddress, bytes.count, output.baseAddress!.assumingMemoryBound(to: UInt8.self),
          nil, Algorithms.sha256, nil))
      return FileHash(storage: Bytes32(exactly: UnsafeRawBufferPointer(output)))
    }
  }

  package static func sha256(_ bytes: [UInt8]) -> FileHash {
    bytes.withUnsafeBytes { sha256($0) }
  }
}

// Docs/Format.md, "Names and ids".

extension PersonID {
  /// The name of the person with this root key.
  package init(rootPublicKey: [UInt8]) {
    self.init(storage: Digest.sha256(Array("kinvault person".utf8) + [0] + rootPublicKey).storage)
  }
}

extension DeviceID {
  /// The name of the device with these keys.
  package init(signingPublicKey: [UInt8], agreementPublicKey: [UInt8]) {
    let bytes = Array("kinvault device".utf8) + [0] + signingPublicKey + agreementPublicKey
    self.init(storage: Digest.sha256(bytes).storage)
  }
}

extension MemberID {
  /// The name of the member whose root statement is this file.
  package init(rootFile: [UInt8]) {
    self.init(storage: Digest.sha256(rootFile).storage)
  }
}

extension SecretBytes {
  /// The SHA-256 of a secret that has bits enough, or that something else keeps from being guessed: 32 bytes.
  package func sha256() -> SecretBytes {
    var hash = SecretBytes(count: Hasher256.size)
    hash.withUnsafeMutableBytes { output in
      withUnsafeBytes { bytes in Hasher256.with { $0.hash(bytes, into: output.baseAddress!) } }
    }
    return hash
  }
}
