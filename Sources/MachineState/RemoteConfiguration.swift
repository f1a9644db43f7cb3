import VaultCrypto
import VaultErrors
import VaultModel

/// A remote as this machine knows it: another copy of the vault, and how to reach it.
package struct RemoteConfiguration: Hashable, Sendable {
  /// What this machine calls it.
  package var name: RemoteName
  /// As a person typed it, without a secret: `s3://bucket/folder`, `/media/usb/Family`, `rclone:drive:Family`.
  package var address: String
  /// What else is needed to reach it, by name; no secrets.
  package var options: [String: String]
  /// When it was added; milliseconds since 1970.
  package var created: UInt64
  /// `RemoteLogin`, sealed with this device's unlock key; nil where the environment or the program behind
  /// the remote has them.
  package var credentials: Sealed?

  package init(
    name: RemoteName, address: String, options: [String: String] = [:], created: UInt64,
    credentials: Sealed? = nil
  ) {
    self.name = name
    self.address = address
    self.options = options
    self.created = created
    self.credentials = credentials
  }
}

/// What a remote is called on this machine: 1 to 64 of a-z, 0-9, `-` and `_`, so that it is a file's name everywhere.
package struct RemoteName: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let string: String

  /// Nil for any other text.
  package init?(_ text: some StringProtocol) {
    let isValid = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isValid, 1...64 ~= text.utf8.count else { return nil }
    string = String(text)
  }

  package var description: String { string }

  package static func < (left: RemoteName, right: RemoteName) -> Bool { left.string < right.string }
}

/// What proves to a remote that this machine may use it, as it is kept sealed in the state folder.
package struct RemoteLogin: Hashable, Sendable {
  /// A user's name, or the id of an access key.
  package var user: String
  /// A password, or an access key's secret.
  package var secret: String

  package init(user: String, secret: String) {
    self.user = user
    self.secret = secret
  }
}

extension RemoteLogin {
  private static func path(_ name: RemoteName) -> String { "remotes/\(name)" }

  /// Sealed for this machine's state: only this device's unlock key opens them.
  package func sealed(
    for name: RemoteName, vault: VaultID, with key: borrowing DeviceUnlockKey
  ) -> Sealed {
    var plain = Array(user.utf8) + [0] + Array(secret.utf8)
    defer { wipe(&plain) }
    let sealing = key.sealingKey(binding: Binding(vault: vault))
    return sealing.seal(plain, label: .remote, path: Self.path(name), counter: 0)
  }

  /// - Throws: `damaged` when they do not open with this key, or were sealed for another remote.
  package init(
    opening sealed: Sealed, of name: RemoteName, vault: VaultID,
    with key: borrowing DeviceUnlockKey
  ) throws(VaultError) {
    let path = Self.path(name)
    let sealing = key.sealingKey(binding: Binding(vault: vault))
    var plain: [UInt8]
    do {
      plain = try sealing.open(sealed, label: .remote, path: path, counter: 0)
    } catch {
      throw VaultError(error, path: path)
    }
    defer { wipe(&plain) }
    guard let end = plain.firstIndex(of: 0) else {
      throw .damaged(path: path, reason: "its credentials make no sense")
    }
    user = String(decoding: plain[..<end], as: UTF8.self)
    secret = String(decoding: plain[(end + 1)...], as: UTF8.self)
  }
}
