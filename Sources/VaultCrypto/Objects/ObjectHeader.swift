import VaultModel

/// The 16 bytes before the first block of an object: Docs/Format.md, "6. Objects".
///
/// They are additional data of every block, so they are authenticated when a block is opened, not
/// before.
package struct ObjectHeader: Hashable, Sendable {
  package var kind: ObjectKind
  package var keyID: KeyID

  package var layout: ObjectLayout { ObjectLayout(of: kind) }

  private static let magic = Array("KVOB".utf8)
  private static let version = UInt8(VaultDescription.version)

  package init(kind: ObjectKind, keyID: KeyID) {
    self.kind = kind
    self.keyID = keyID
  }

  /// Reads the header from the first bytes of a file.
  ///
  /// Throws `malformed` for what is no object of any version, and `unsupportedVersion`.
  package init(decoding file: UnsafeRawBufferPointer) throws(CryptoError) {
    guard file.count >= ObjectLayout.headerSize else {
      throw .malformed(reason: "\(file.count) bytes are no object")
    }
    guard file[0..<4].elementsEqual(Self.magic) else {
      throw .malformed(reason: "not an object: it does not start with KVOB")
    }
    guard file[4] == Self.version else { throw .unsupportedVersion(found: file[4]) }
    guard let kind = ObjectKind(rawValue: file[5]) else {
      throw .malformed(reason: "an object of unknown kind \(file[5])")
    }
    guard file[6] == ObjectLayout(of: kind).headerByte, file[7] == 0 else {
      throw .malformed(reason: "an object with unknown block size or flags")
    }
    guard let keyID = KeyID(UnsafeRawBufferPointer(rebasing: file[8..<16])) else {
      preconditionFailure("a key id has 8 bytes")
    }
    self.init(kind: kind, keyID: keyID)
  }

  package var encoded: [UInt8] {
    Self.magic + [Self.version, kind.rawValue, layout.headerByte, 0] + keyID.bytes
  }
}
