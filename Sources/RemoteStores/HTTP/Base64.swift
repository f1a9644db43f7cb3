import FoundationEssentials

/// Base64 as HTTP's basic authentication wants it (RFC 4648).
enum Base64 {
  static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
  }
}
