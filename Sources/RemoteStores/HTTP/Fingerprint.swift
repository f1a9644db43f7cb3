/// A listing's change token as a number: FNV-1a, the same in every process.
enum Fingerprint {
  static func of(_ text: String, _ size: UInt64) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    text.utf8.forEach(add)
    withUnsafeBytes(of: size.littleEndian) { $0.forEach(add) }
    return hash
  }
}
