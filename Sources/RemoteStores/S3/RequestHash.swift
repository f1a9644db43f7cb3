import COpenSSL

/// SHA-256 and HMAC-SHA-256, as request signing uses them.
enum RequestHash {
  static func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count = digest.count
    let done = EVP_Q_digest(nil, "SHA256", nil, bytes.baseAddress, bytes.count, &digest, &count)
    precondition(done == 1, "SHA-256 is missing from OpenSSL")
    return digest
  }

  static func sha256(_ text: String) -> [UInt8] {
    Array(text.utf8).withUnsafeBytes { sha256($0) }
  }

  static func hmac(_ key: [UInt8], _ text: String) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var count = 0
    let message = Array(text.utf8)
    let done = EVP_Q_mac(
      nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count,
      &count)
    precondition(done != nil, "HMAC-SHA-256 is missing from OpenSSL")
    return code
  }

  static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }
}
