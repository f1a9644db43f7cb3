import CFido2
import VaultCrypto
import VaultModel

/// A FIDO2 token that is plugged in, by libfido2: a credential on it turns a salt into a secret that nothing else has
/// (`hmac-secret`, CTAP 2.1 section 12.5), after a touch.
package struct SecurityToken: Sendable {
  /// How libfido2 reaches it.
  let path: String
  /// What it calls itself.
  package let name: String
  /// Other functions to reach it with than the machine's HID devices.
  private let port: TokenPort?

  package init(path: String, name: String, port: TokenPort? = nil) {
    self.path = path
    self.name = name
    self.port = port
  }

  /// Functions that read and write a token's reports.
  package struct TokenPort: Sendable {
    let functions: fido_dev_io_t

    package init(
      open: @escaping @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutableRawPointer?,
      close: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
      read:
        @escaping @convention(c) (
          UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int, Int32
        ) -> Int32,
      write:
        @escaping @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, Int) -> Int32
    ) {
      functions = fido_dev_io_t(open: open, close: close, read: read, write: write)
    }
  }

  /// The relying party that credentials are for: a name that no web page has.
  private static let relyingParty = "kinvault.local"
  private static let listLimit = 64

  /// Every token that is plugged in.
  package static func all() -> [SecurityToken] {
    fido_init(0)
    var list = fido_dev_info_new(listLimit)
    guard list != nil else { return [] }
    defer { fido_dev_info_free(&list, listLimit) }
    var count = 0
    guard fido_dev_info_manifest(list, listLimit, &count) == FIDO_OK else { return [] }
    return (0..<count).compactMap { index in
      let info = fido_dev_info_ptr(list, index)
      guard let path = fido_dev_info_path(info).map({ String(cString: $0) }) else { return nil }
      let name = [fido_dev_info_manufacturer_string(info), fido_dev_info_product_string(info)]
        .compactMap { $0.map { String(cString: $0) } }.joined(separator: " ")
      return SecurityToken(path: path, name: name.isEmpty ? "token" : name)
    }
  }

  // MARK: What it is asked

  /// Whether it has a PIN, which then has to be typed before it makes a credential.
  ///
  /// - Throws: `noneHere`, `unsuitable`.
  package func hasPIN() throws(TokenError) -> Bool {
    try opened { device throws(TokenError) in fido_dev_has_pin(device) }
  }

  /// Makes a credential, once the person has touched the token; it keeps nothing in the token.
  ///
  /// - Parameter user: 16 to 64 bytes that no other credential has.
  /// - Throws: `wrongPIN`, `lockedOut`, `needsPIN`, `notConfirmed`, `unsuitable`, `noneHere`, `failed`.
  package func makeCredential(
    user: [UInt8], pin: borrowing SecretBytes?
  ) throws(TokenError) -> [UInt8] {
    var credential = fido_cred_new()
    guard credential != nil else { throw .failed("no memory") }
    defer { fido_cred_free(&credential) }
    let challenge = randomBytes(32)
    try check(fido_cred_set_type(credential, COSE_ES256))
    try check(fido_cred_set_clientdata_hash(credential, challenge, challenge.count))
    try check(fido_cred_set_rp(credential, Self.relyingParty, "Kinvault"))
    try check(fido_cred_set_user(credential, user, user.count, "kinvault", "Kinvault", nil))
    try check(fido_cred_set_extensions(credential, FIDO_EXT_HMAC_SECRET))
    try check(fido_cred_set_rk(credential, FIDO_OPT_FALSE))
    try opened { device throws(TokenError) in
      try check(Self.with(pin) { fido_dev_make_cred(device, credential, $0) })
    }
    guard let id = fido_cred_id_ptr(credential), fido_cred_id_len(credential) > 0 else {
      throw .unsuitable("it made a credential without an id")
    }
    return Array(UnsafeBufferPointer(start: id, count: fido_cred_id_len(credential)))
  }

  /// Whether it is the one that made the credential, without a touch; true where it does not say without a PIN.
  ///
  /// - Throws: `noneHere`, `failed`.
  package func knows(_ credential: [UInt8]) throws(TokenError) -> Bool {
    var assertion = try assertion(of: credential)
    defer { fido_assert_free(&assertion) }
    try check(fido_assert_set_up(assertion, FIDO_OPT_FALSE))
    return try opened { device throws(TokenError) in
      let status = fido_dev_get_assert(device, assertion, nil)
      switch status {
      case FIDO_ERR_NO_CREDENTIALS, FIDO_ERR_INVALID_CREDENTIAL: return false
      case FIDO_ERR_PIN_REQUIRED, FIDO_ERR_UNSUPPORTED_OPTION: return true
      default:
        try check(status)
        return true
      }
    }
  }

  /// The 32 bytes that it makes of the salt, once the person has touched it.
  ///
  /// - Parameter pin: The same as ever, or none as ever: a token gives another secret with a PIN than without.
  /// - Throws: `another`, `wrongPIN`, `lockedOut`, `needsPIN`, `notConfirmed`, `noneHere`, `failed`.
  package func secret(
    of credential: [UInt8], salt: [UInt8], pin: borrowing SecretBytes?
  ) throws(TokenError) -> SecretBytes {
    var assertion = try assertion(of: credential)
    defer { fido_assert_free(&assertion) }
    try check(fido_assert_set_up(assertion, FIDO_OPT_TRUE))
    try check(fido_assert_set_extensions(assertion, FIDO_EXT_HMAC_SECRET))
    try check(fido_assert_set_hmac_salt(assertion, salt, salt.count))
    try opened { device throws(TokenError) in
      try check(Self.with(pin) { fido_dev_get_assert(device, assertion, $0) })
    }
    guard let bytes = fido_assert_hmac_secret_ptr(assertion, 0),
      fido_assert_hmac_secret_len(assertion, 0) == SlotSecret.partSize
    else { throw .unsuitable("it gives no hmac-secret") }
    return SecretBytes(
      copying: UnsafeRawBufferPointer(start: bytes, count: SlotSecret.partSize))
  }

  private func assertion(of credential: [UInt8]) throws(TokenError) -> OpaquePointer? {
    let assertion = fido_assert_new()
    guard assertion != nil else { throw .failed("no memory") }
    let challenge = randomBytes(32)
    try check(fido_assert_set_clientdata_hash(assertion, challenge, challenge.count))
    try check(fido_assert_set_rp(assertion, Self.relyingParty))
    try check(fido_assert_allow_cred(assertion, credential, credential.count))
    return assertion
  }

  // MARK: The library

  private func opened<Value>(
    _ body: (OpaquePointer) throws(TokenError) -> Value
  ) throws(TokenError) -> Value {
    fido_init(0)
    var device = fido_dev_new()
    guard let opened = device else { throw .failed("no memory") }
    defer {
      fido_dev_close(opened)
      fido_dev_free(&device)
    }
    if var functions = port?.functions { try check(fido_dev_set_io_functions(opened, &functions)) }
    let status = fido_dev_open(opened, path)
    guard status == FIDO_OK else { throw .noneHere(String(cString: fido_strerr(status))) }
    guard fido_dev_is_fido2(opened) else { throw .unsuitable("it is older than FIDO2") }
    return try body(opened)
  }

  private static func with(
    _ pin: borrowing SecretBytes?, _ body: (UnsafePointer<CChar>?) -> Int32
  ) -> Int32 {
    guard let text = Self.terminated(pin) else { return body(nil) }
    return text.withUnsafeBytes { body($0.bindMemory(to: CChar.self).baseAddress) }
  }

  /// A PIN as the text of C that the library takes.
  private static func terminated(_ pin: borrowing SecretBytes?) -> SecretBytes? {
    switch pin {
    case .none: return nil
    case .some(let pin):
      var text = SecretBytes(count: pin.count + 1)
      text.withUnsafeMutableBytes { output in pin.withUnsafeBytes { output.copyMemory(from: $0) } }
      return text
    }
  }

  private func check(_ status: Int32) throws(TokenError) {
    switch status {
    case FIDO_OK: return
    case FIDO_ERR_PIN_INVALID, FIDO_ERR_PIN_AUTH_INVALID: throw .wrongPIN
    case FIDO_ERR_PIN_BLOCKED, FIDO_ERR_PIN_AUTH_BLOCKED, FIDO_ERR_UV_BLOCKED: throw .lockedOut
    case FIDO_ERR_PIN_REQUIRED: throw .needsPIN
    case FIDO_ERR_PIN_NOT_SET: throw .hasNoPIN
    case FIDO_ERR_NO_CREDENTIALS, FIDO_ERR_INVALID_CREDENTIAL: throw .another
    case FIDO_ERR_OPERATION_DENIED, FIDO_ERR_USER_ACTION_TIMEOUT, FIDO_ERR_ACTION_TIMEOUT,
      FIDO_ERR_TIMEOUT, FIDO_ERR_KEEPALIVE_CANCEL:
      throw .notConfirmed
    case FIDO_ERR_UNSUPPORTED_EXTENSION, FIDO_ERR_UNSUPPORTED_ALGORITHM,
      FIDO_ERR_UNSUPPORTED_OPTION:
      throw .unsuitable(String(cString: fido_strerr(status)))
    default: throw .failed(String(cString: fido_strerr(status)))
    }
  }
}
