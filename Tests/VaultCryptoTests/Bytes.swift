import Testing
import VaultModel

@testable import VaultCrypto

/// The bytes that hexadecimal digits spell; blanks and line breaks do not count.
func hex(_ text: String) -> [UInt8] {
  guard let bytes = Hex.decode(text.filter { !$0.isWhitespace }.lowercased()) else {
    fatalError("not hexadecimal: \(text)")
  }
  return bytes
}

extension SecretBytes {
  /// The bytes in ordinary memory: for comparing in tests only.
  var exposed: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// Content that is neither all zeros nor repeating within a block.
func content(_ size: Int) -> [UInt8] {
  var state: UInt64 = 0x9e37_79b9_7f4a_7c15
  return (0..<size).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state >> 24)
  }
}

/// The same keys in every run, so that a failure can be looked into.
enum Sample {
  static let vault = VaultID((0..<16).map { UInt8($0) })!
  static let member = MemberID((0..<32).map { UInt8($0 + 100) })!
  static let person = PersonID((0..<32).map { UInt8($0 + 50) })!
  static let otherPerson = PersonID((0..<32).map { UInt8($0 + 51) })!
  static let device = DeviceID((0..<32).map { UInt8($0 + 70) })!
  static let binding = Binding(vault: vault)
  static let otherBinding = Binding(vault: VaultID([UInt8](repeating: 7, count: 16))!)
  static let familyMemberKeyBytes = (0..<32).map { UInt8($0 * 3) }

  static func familyMemberKey() -> FamilyMemberKey {
    FamilyMemberKey(SecretBytes(copying: familyMemberKeyBytes))
  }

  static func epochKeys() -> EpochKeys {
    EpochKeys(familyMemberKey(), member: member, binding: binding)
  }
}
