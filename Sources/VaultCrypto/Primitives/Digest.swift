import COpenSSL
import VaultModel

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
