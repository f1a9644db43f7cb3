import Crypto
import Foundation

/// A vault of `Fixtures/vaults`, read with nothing but what a person has on paper, from the folder up to each member's keys.
struct FrozenVault {
  static let fixtures = repository.appending(path: "Fixtures/vaults")

  let primitives: Primitives
  private let folder: URL
  private let secrets: URL

  init(_ name: String = "2") throws {
    folder = Self.fixtures.appending(path: name)
    secrets = Self.fixtures.appending(path: "\(name).secrets")
    struct Description: Decodable { let format, suite, vault: String, version: Int }
    let json = try Data(contentsOf: folder.appending(path: "vault.json"))
    let description = try JSONDecoder().decode(Description.self, from: json)
    try Refused.unless(
      description.format == "kinvault" && description.version == 2
        && description.suite == "AES256GCM-HMACSHA256-XWING-ED25519-ARGON2ID", "vault.json")
    primitives = Primitives(vault: try Array(hex: description.vault))
  }

  // MARK: The folder

  private static let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  func file(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: path)))
  }

  func has(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: path).path)
  }

  func names(in path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path).sorted()
  }

  /// The only name in the folder at `path`.
  func onlyName(in path: String) throws -> String {
    let names = try names(in: path)
    try Refused.unless(names.count == 1, "\(names.count) files in \(path)")
    return names[0]
  }

  /// What stands in a file of the fixture that is not part of the vault.
  func secret(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: secrets.appending(path: path)))
  }

  /// The names of the files in such a folder, in order.
  func secretNames(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: secrets.appending(path: folder).path(percentEncoded: false)
    ).sorted()
  }

  /// The words of such a file.
  func secretWords(_ path: String) throws -> [String] {
    String(decoding: try secret(path), as: UTF8.self).split(whereSeparator: \.isWhitespace).map(
      String.init)
  }

  /// The first line of such a file.
  func secretLine(_ path: String) throws -> String {
    let text = String(decoding: try secret(path), as: UTF8.self)
    return String(text.split(separator: "\n", omittingEmptySubsequences: false)[0])
  }

  /// The 2,048 words of BIP 39, as this repository has them.
  static func wordlist() throws -> [String] {
    let source = try String(
      contentsOf: repository.appending(path: "Sources/VaultCrypto/Words/Wordlist+English.swift"),
      encoding: .utf8)
    return try RecoveryWords.wordlist(inSource: source)
  }
}
