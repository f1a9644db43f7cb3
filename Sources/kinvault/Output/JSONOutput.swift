import FoundationEssentials

/// What `--json` prints: one JSON value, its keys sorted, with a line feed at the end.
enum JSONOutput {
  static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }

  static func print(_ value: some Encodable) throws {
    Terminal.write(try text(value))
  }
}
