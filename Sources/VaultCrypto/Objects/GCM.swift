import COpenSSL

/// AES-256-GCM with 12-byte nonces and 16-byte tags (NIST SP 800-38D).
enum GCM {
  static let keySize = 32
  static let nonceSize = 12
  static let tagSize = 16

  enum Direction: Int32 {
    case open = 0
    case seal = 1
  }

  private static let contexts = ContextPool(
    make: {
      let context = mustExist(EVP_CIPHER_CTX_new())
      mustSucceed(EVP_CipherInit_ex2(context, Algorithms.aes256GCM, nil, nil, 1, nil))
      return context
    },
    free: { EVP_CIPHER_CTX_free($0) })

  /// Lends a cipher that has this key, 32 bytes. The key is overwritten before it is lent again.
  static func withCipher<Result: ~Copyable, Failure: Error>(
    key: UnsafeRawPointer, _ direction: Direction,
    _ body: (KeyedCipher) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try contexts.withContext { context throws(Failure) in
      setKey(key, direction, context)
      return try body(KeyedCipher(context: context))
    }
  }

  private static func setKey(
    _ key: UnsafeRawPointer, _ direction: Direction, _ context: OpaquePointer
  ) {
    mustSucceed(
      EVP_CipherInit_ex2(
        context, nil, key.assumingMemoryBound(to: UInt8.self), nil, direction.rawValue, nil))
  }
}

/// AES-256-GCM under one key, for one message after the other.
///
/// A message is `start`, any number of `update`, then `finishSealing` or `finishOpening`. No nonce
/// may be used for two different messages sealed under one key. Must not outlive the call that lent
/// it.
struct KeyedCipher {
  private let context: OpaquePointer

  fileprivate init(context: OpaquePointer) { self.context = context }

  /// Starts a message; `nonce` points to 12 bytes.
  func start(nonce: UnsafeRawPointer, additionalData: UnsafeRawBufferPointer) {
    mustSucceed(
      EVP_CipherInit_ex2(
        context, nil, nil, nonce.assumingMemoryBound(to: UInt8.self), -1, nil))
    guard let start = additionalData.baseAddress, additionalData.count > 0 else { return }
    var written: Int32 = 0
    mustSucceed(
      EVP_CipherUpdate(
        context, nil, &written, start.assumingMemoryBound(to: UInt8.self),
        Int32(additionalData.count)))
  }

  /// Seals or opens the next bytes of the message; `output` has room for as many, and may be
  /// `input`.
  ///
  /// When opening, what is written must not be used before `finishOpening` has said yes.
  func update(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer) {
    guard let start = input.baseAddress, input.count > 0 else { return }
    var written: Int32 = 0
    mustSucceed(
      EVP_CipherUpdate(
        context, output.assumingMemoryBound(to: UInt8.self), &written,
        start.assumingMemoryBound(to: UInt8.self), Int32(input.count)))
  }

  /// Ends a message that was sealed, and writes its tag, 16 bytes.
  func finishSealing(tag: UnsafeMutableRawPointer) {
    var nothing: UInt8 = 0
    var written: Int32 = 0
    mustSucceed(EVP_CipherFinal_ex(context, &nothing, &written))
    mustSucceed(
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(GCM.tagSize), tag))
  }

  /// Ends a message that was opened: whether it was sealed with this key, nonce, additional data
  /// and tag.
  func finishOpening(tag: UnsafeRawPointer) -> Bool {
    mustSucceed(
      EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_SET_TAG, Int32(GCM.tagSize), UnsafeMutableRawPointer(mutating: tag)))
    var nothing: UInt8 = 0
    var written: Int32 = 0
    let isAuthentic = EVP_CipherFinal_ex(context, &nothing, &written) == 1
    if !isAuthentic { ERR_clear_error() }
    return isAuthentic
  }
}
