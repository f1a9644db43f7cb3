import VaultCrypto
import VaultErrors
import VaultModel

/// What one person hands to another who is to join: which vault, who invites, where it is, and a secret that proves
/// whom the answer comes from. Docs/Format.md, "Invitations".
///
/// Whoever has the text can join once, and is then taken for the one who was invited; it opens no record.
package struct Invitation: Sendable {
  package let vault: VaultID
  package let inviter: PersonID
  /// What the inviter calls themself.
  package let inviterName: String
  /// Where another copy of the vault is; empty when the folder is handed over by other means.
  package let remote: String
  let secret: [UInt8]

  init(
    vault: VaultID, inviter: PersonID, inviterName: String, remote: String, secret: [UInt8]
  ) {
    self.vault = vault
    self.inviter = inviter
    self.inviterName = inviterName
    self.remote = remote
    self.secret = secret
  }

  private static let version: UInt8 = 1
  private static let checksumByteCount = 4
  /// The most bytes of the name or of the remote's address.
  static let textLimit = 255

  // MARK: Text

  /// One line of capital letters, digits and hyphens, as a QR code takes them best.
  package var text: String {
    var bytes = [Self.version] + vault.bytes + inviter.bytes + secret
    for text in [inviterName, remote] {
      let utf8 = Array(text.utf8)
      precondition(utf8.count <= Self.textLimit, "too long for an invitation")
      bytes += [UInt8(utf8.count)] + utf8
    }
    bytes += Self.checksum(of: bytes)
    let digits = Array(Base32.encode(bytes))
    return "KIN-"
      + stride(from: 0, to: digits.count, by: 6).map {
        String(digits[$0..<min($0 + 6, digits.count)])
      }.joined(separator: "-")
  }

  /// Reads the text as it was pasted or typed: in capitals or not, with or without hyphens and blanks.
  ///
  /// - Throws: `badInvitation`; `unsupported` when a newer version made it.
  package init(parsing text: String) throws(VaultError) {
    let digits = text.uppercased().filter { !$0.isWhitespace && $0 != "-" }
    guard digits.utf8.count <= 2000, digits.hasPrefix("KIN"),
      let bytes = Base32.decode(digits.dropFirst(3)), bytes.count > Self.checksumByteCount
    else { throw .badInvitation }
    let body = Array(bytes.dropLast(Self.checksumByteCount))
    guard Self.checksum(of: body) == Array(bytes.suffix(Self.checksumByteCount)) else {
      throw .badInvitation
    }
    guard body.first == Self.version else {
      throw .unsupported(
        what: "an invitation of version", found: "\(body.first ?? 0)", supported: "1")
    }
    var rest = body.dropFirst()
    guard let vault = Self.take(VaultID.byteCount, from: &rest).flatMap({ VaultID($0) }),
      let inviter = Self.take(PersonID.byteCount, from: &rest).flatMap({ PersonID($0) }),
      let secret = Self.take(OpenInvitation.secretByteCount, from: &rest),
      let name = Self.takeText(from: &rest), let remote = Self.takeText(from: &rest), rest.isEmpty
    else { throw .badInvitation }
    self.init(
      vault: vault, inviter: inviter, inviterName: name, remote: remote, secret: secret)
  }

  private static func checksum(of bytes: [UInt8]) -> [UInt8] {
    Array(Digest.sha256(bytes).bytes.prefix(checksumByteCount))
  }

  private static func take(_ count: Int, from bytes: inout ArraySlice<UInt8>) -> [UInt8]? {
    guard bytes.count >= count else { return nil }
    defer { bytes = bytes.dropFirst(count) }
    return Array(bytes.prefix(count))
  }

  private static func takeText(from bytes: inout ArraySlice<UInt8>) -> String? {
    guard let count = take(1, from: &bytes)?.first, let text = take(Int(count), from: &bytes)
    else { return nil }
    return String(validating: text, as: UTF8.self)
  }
}
