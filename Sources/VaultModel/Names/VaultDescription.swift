/// The content of `vault.json`: `Docs/Format.md` section 2.
///
/// Version and suite are fixed, since this program knows only one of each.
package struct VaultDescription: Hashable, Sendable {
  package static let version = 2
  /// What every label of the format begins with, so that nothing derived or signed in one version is valid in another.
  package static let labelPrefix = Array("kinvault/\(version)/".utf8)
  package static let suite = "AES256GCM-HMACSHA256-XWING-ED25519-ARGON2ID"
  private static let format = "kinvault"
  private static let file = "vault.json"
  /// Longer than any sensible `vault.json`.
  package static let byteLimit = 4_096

  package var vault: VaultID

  package init(vault: VaultID) { self.vault = vault }

  /// The only form that is written: one line.
  package func encoded() -> [UInt8] {
    let text = """
      {"format": "\(Self.format)", "version": \(Self.version), "suite": "\(Self.suite)", \
      "vault": "\(vault.hex)"}

      """
    return Array(text.utf8)
  }

  /// Throws `unsupported`, with what was found, for a version or a suite that is not known;
  /// `malformed` for whatever else is not exactly as the format says.
  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try Limits.check(bytes.count, Self.byteLimit, "size of vault.json")
    var values = try FlatJSON.parse(bytes, what: Self.file)
    guard values.removeValue(forKey: "format") == .string(Self.format) else {
      throw .malformed(what: Self.file, reason: "it does not say \"format\": \"kinvault\"")
    }
    // The version first: another one may have other keys.
    guard case .number(let version)? = values.removeValue(forKey: "version") else {
      throw .malformed(what: Self.file, reason: "its version is no number, or missing")
    }
    guard version == UInt64(Self.version) else {
      throw .unsupported(
        what: "a vault of format version", found: "\(version)", supported: "\(Self.version)")
    }
    guard case .string(let suite)? = values.removeValue(forKey: "suite") else {
      throw .malformed(what: Self.file, reason: "its cipher suite is no text, or missing")
    }
    guard suite == Self.suite else {
      throw .unsupported(what: "a vault of cipher suite", found: suite, supported: Self.suite)
    }
    guard case .string(let hex)? = values.removeValue(forKey: "vault"),
      let vault = VaultID(hex: hex)
    else { throw .malformed(what: Self.file, reason: "its vault id is not 32 hex digits") }
    guard values.isEmpty else {
      throw .malformed(what: Self.file, reason: "it has keys that the format does not")
    }
    self.vault = vault
  }
}
