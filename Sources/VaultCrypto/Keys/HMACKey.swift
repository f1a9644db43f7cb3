import COpenSSL

/// A key of HMAC-SHA-256 (RFC 2104), set up once, for many messages from many threads.
///
/// OpenSSL keeps what it makes of the key in ordinary memory, and erases it when this object goes.
final class HMACKey: Sendable {
  static let size = 32

  private let contexts: ContextPool

  convenience init(_ key: UnsafeRawBufferPointer) {
    self.init(first: KeyedContext(key))
  }

  convenience init(_ key: borrowing SecretBytes) {
    self.init(first: key.withUnsafeBytes { KeyedContext($0) })
  }

  private init(first: KeyedContext) {
    contexts = ContextPool(
      make: { mustExist(EVP_MAC_CTX_dup(first.context)) }, free: { EVP_MAC_CTX_free($0) })
  }

  /// Writes the 32 bytes of the code of `first ‖ second` to `output`.
  func authenticate(
    _ first: UnsafeRawBufferPointer,
    _ second: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    into output: UnsafeMutableRawBufferPointer
  ) {
    precondition(output.count == Self.size, "HMAC-SHA-256 has 32 bytes")
    contexts.withContext { context in
      // Without a key this starts anew with the one that is set.
      mustSucceed(EVP_MAC_init(context, nil, 0, nil))
      update(context, first)
      update(context, second)
      var written = 0
      mustSucceed(
        EVP_MAC_final(
          context, output.baseAddress!.assumingMemoryBound(to: UInt8.self), &written, Self.size))
    }
  }

  private func update(_ context: OpaquePointer, _ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    mustSucceed(EVP_MAC_update(context, start.assumingMemoryBound(to: UInt8.self), bytes.count))
  }
}

/// A context that has the key, of which the ones in use are duplicates. Never used itself, so that
/// any thread may duplicate it.
private final class KeyedContext: @unchecked Sendable {
  let context: OpaquePointer

  init(_ key: UnsafeRawBufferPointer) {
    let context = mustExist(EVP_MAC_CTX_new(Algorithms.hmac))
    self.context = context
    var digest = Array("SHA256".utf8CString)
    // An empty key is a key (RFC 5869 uses it), but OpenSSL takes nil for "no key given".
    let emptyKey: StaticString = ""
    let start = key.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? emptyKey.utf8Start
    digest.withUnsafeMutableBufferPointer { name in
      let parameters = [
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.baseAddress, 0),
        OSSL_PARAM_construct_end(),
      ]
      mustSucceed(EVP_MAC_init(context, start, key.count, parameters))
    }
  }

  deinit { EVP_MAC_CTX_free(context) }
}
