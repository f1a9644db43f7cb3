import FoundationEssentials
import VaultModel

/// What `--json` prints: one JSON value, its keys sorted, with a line feed at the end.
enum JSONOutput {
  static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }

  /// The bytes of a name or path as hexadecimal digits if they are not UTF-8, so that the text beside them, which has
  /// U+FFFD in it, does not say it all; else nil.
  static func hexUnlessText(_ bytes: [UInt8]) -> String? {
    String(validating: bytes, as: UTF8.self) == nil ? Hex.encode(bytes) : nil
  }

  static func print(_ value: some Encodable) throws {
    Terminal.write(try text(value))
  }
}
