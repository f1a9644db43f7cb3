import BlobStore
import Foundation
import TestSupport
import VaultCrypto
import VaultModel

import struct SystemPackage.FilePath

@testable import Vault

/// A copy of a vault that was frozen when its format was released.
struct FrozenVault {
  /// What its makers saw in it.
  struct Expected: Decodable {
    var format: Int
    var members: [Member]

    struct Member: Decodable {
      var name: Name
      var records: [Record]
    }

    struct Record: Decodable {
      var path: [Name]
      var mode: UInt32
      var items: [Item]
    }

    struct Item: Decodable {
      var name: Name
      var mode: UInt32
      var links: Int
      var modified: [Int64]
      var size: UInt64?
      var sha256: String?
      var target: Name?
      var xattrs: [String: String]?
    }

    /// Text, or bytes that are no text.
    struct Name: Decodable {
      var bytes: [UInt8]

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
          bytes = Array(text.utf8)
        } else {
          bytes = Hex.decode(try container.decode([String: String].self)["hex"] ?? "?") ?? []
        }
      }
    }
  }

  private static let fixtures = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "../../Fixtures/vaults").standardizedFileURL

  let temporary: TemporaryFolder
  private let name: String

  var folder: FilePath { temporary.appending("vault") }
  var stateRoot: FilePath { temporary.appending("state") }

  /// - Parameter machine: Whose state is to be used, of those among the fixture's secrets.
  /// - Throws: When there is no such fixture.
  init(_ name: String, machine: String = "state") throws {
    self.name = name
    temporary = try TemporaryFolder()
    let files = FileManager.default
    let secrets = Self.fixtures.appending(path: "\(name).secrets")
    try files.copyItem(
      atPath: Self.fixtures.appending(path: name).path, toPath: temporary.appending("vault").string)
    try files.copyItem(
      atPath: secrets.appending(path: machine).path, toPath: temporary.appending("state").string)
  }

  var expected: Expected {
    get throws {
      let json = try Data(contentsOf: Self.fixtures.appending(path: "\(name).expected.json"))
      return try JSONDecoder().decode(Expected.self, from: json)
    }
  }

  private func secret(_ file: String) throws -> String {
    let url = Self.fixtures.appending(path: "\(name).secrets/\(file)")
    return try String(contentsOf: url, encoding: .utf8).trimmingCharacters(in: .newlines)
  }

  /// Opens it as the device that made it.
  func open(_ options: OpenOptions = OpenOptions()) throws -> Vault {
    let password = SecretBytes(copying: Array(try secret("password").utf8))
    let copy = try VaultCopy.find(in: folder, stateRoot: stateRoot)
    let key = try UnlockSlots(of: copy).open(password: password).takeKey()
    return try Vault.open(copy, key: key, options: options)
  }

  /// Opens it as a new device of whoever knows the words.
  func openWithWords(_ file: String = "words") throws -> Vault {
    let copy = try VaultCopy.find(
      in: folder, stateRoot: temporary.appending("state for \(file)"))
    let words = try RecoveryWords(parsing: try secret(file))
    let key = try Vault.recover(
      copy, words: words, device: MemoryVault.newDevice,
      password: SecretBytes(copying: Array("another one".utf8)))
    return try Vault.open(copy, key: key)
  }
}
