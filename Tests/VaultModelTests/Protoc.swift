import SystemPackage
import TestSupport

/// Google's own Protocol Buffers: the witness that our bytes are what `kinvault.proto` says.
struct Protoc {
  private static let folder = FilePath(#filePath).removingLastComponent().appending("Proto")

  struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  /// The fields of a message, in protoc's text format. Those that `kinvault.proto` does not know have numbers for names.
  static func text(of bytes: [UInt8], _ message: String) throws -> [UInt8] {
    try run("--decode=kinvault.v2.\(message)", input: bytes)
  }

  /// What Protocol Buffers writes of these fields, which are in protoc's text format; a number for a name is refused.
  static func bytes(of text: [UInt8], _ message: String) throws -> [UInt8] {
    try run("--encode=kinvault.v2.\(message)", input: text)
  }

  /// Bytes as protoc's text format has them.
  static func literal(_ bytes: [UInt8]) -> String {
    let digits = bytes.map { byte in
      let octal = String(byte, radix: 8)
      return "\\" + String(repeating: "0", count: 3 - octal.count) + octal
    }
    return "\"\(digits.joined())\""
  }

  private static func run(_ option: String, input: [UInt8]) throws -> [UInt8] {
    let result = try CommandRunner.run(
      "protoc", ["--proto_path=\(folder)", option, "kinvault.proto"], input: input)
    guard result.end == .exited(status: 0) else { throw Refusal(description: result.errors) }
    return result.standardOutput
  }
}
