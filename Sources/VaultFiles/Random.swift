import VaultModel

extension FixedBytes {
  /// A random value, from the system's generator.
  static func random() -> Self {
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    while bytes.count < byteCount {
      Swift.withUnsafeBytes(of: generator.next()) { bytes += $0 }
    }
    guard let value = Self(bytes.prefix(byteCount)) else {
      preconditionFailure("as many as it has")
    }
    return value
  }
}
