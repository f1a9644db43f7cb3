import COpenSSL

/// OpenSSL's implementations, looked up once; a lookup takes locks and is slow.
///
/// OpenSSL objects of this kind never change and may be used from every thread.
enum Algorithms {
  nonisolated(unsafe) static let sha256 = found("SHA256") { EVP_MD_fetch(nil, $0, nil) }
  nonisolated(unsafe) static let hmac = found("HMAC") { EVP_MAC_fetch(nil, $0, nil) }
  nonisolated(unsafe) static let aes256GCM = found("AES-256-GCM") { EVP_CIPHER_fetch(nil, $0, nil) }
  nonisolated(unsafe) static let aes256Wrap = found("AES-256-WRAP") {
    EVP_CIPHER_fetch(nil, $0, nil)
  }

  private static func found(
    _ name: String, fetch: (UnsafePointer<CChar>) -> OpaquePointer?
  ) -> OpaquePointer {
    guard let algorithm = fetch(name) else { fatalError("OpenSSL has no \(name) here") }
    return algorithm
  }
}

/// Asserts that OpenSSL did what cannot fail with arguments such as ours (but for lack of memory).
@inline(__always)
func mustSucceed(_ result: Int32, _ operation: StaticString = #function) {
  guard result == 1 else { preconditionFailure("OpenSSL failed in \(operation)") }
}

/// The new object that such a call of OpenSSL gives.
@inline(__always)
func mustExist(_ object: OpaquePointer?, _ operation: StaticString = #function) -> OpaquePointer {
  guard let object else { preconditionFailure("OpenSSL failed in \(operation)") }
  return object
}
