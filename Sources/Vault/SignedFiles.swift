import BlobStore
import VaultCrypto
import VaultModel

/// What a signed file is, as its signature says it. Docs/Format.md, "Signed files".
enum SignedFileKind: String, Sendable {
  case identity
  case certificate
  case device
  case root
  case grant
  case head
  case audit
}

/// Reads, writes, signs and seals the statements and registers of one vault.
struct SignedFiles: Sendable {
  let store: any BlobStore
  let binding: Binding

  static let sizeLimit = 1 << 20

  /// Reads a signed file; nothing in it is verified yet.
  ///
  /// - Throws: `missing`, `damaged` when it is no signed file.
  func load(_ path: VaultPath) throws(VaultError) -> LoadedSignedFile {
    let blobPath = BlobPath(path.string)
    let bytes = try storing { () throws(BlobStoreError) in
      try store.read(blobPath, limit: Self.sizeLimit)
    }
    do {
      return LoadedSignedFile(
        path: path, hash: Digest.sha256(bytes), file: try SignedFile(decoding: bytes),
        binding: binding)
    } catch {
      throw VaultError(error, path: path.string)
    }
  }

  /// The bytes of a file with this body, signed.
  func sign(
    _ body: [UInt8], _ kind: SignedFileKind, _ path: VaultPath, with key: borrowing SigningKey
  ) -> [UInt8] {
    let signature = key.sign(
      label: kind.rawValue, binding: binding, path: path.signedText, body: body)
    return SignedFile(body: body, signature: signature).encoded()
  }

  func sign(
    _ body: [UInt8], _ kind: SignedFileKind, _ path: VaultPath, with device: ThisDevice
  ) -> [UInt8] {
    sign(body, kind, path, with: device.signingKey)
  }

  /// Writes a file that is written once or rewritten by its one owner; on disk when this returns.
  func store(_ bytes: [UInt8], at path: VaultPath) throws(VaultError) {
    try storing { () throws(BlobStoreError) in
      try store.replace(BlobPath(path.string), bytes, durably: true)
    }
  }

  func seal(
    _ plaintext: [UInt8], with key: SealingKey, _ kind: SignedFileKind, _ path: VaultPath,
    counter: UInt64
  ) -> Sealed {
    key.seal(
      plaintext, label: kind.rawValue, path: path.string, counter: counter, binding: binding)
  }

  func open(
    _ sealed: Sealed, with key: SealingKey, _ kind: SignedFileKind, _ path: VaultPath,
    counter: UInt64
  ) throws(VaultError) -> [UInt8] {
    do {
      return try key.open(
        sealed, label: kind.rawValue, path: path.string, counter: counter, binding: binding)
    } catch {
      throw VaultError(error, path: path.string)
    }
  }
}

/// A signed file as read.
struct LoadedSignedFile: Sendable {
  let path: VaultPath
  let hash: FileHash
  let file: SignedFile
  fileprivate let binding: Binding

  init(path: VaultPath, hash: FileHash, file: SignedFile, binding: Binding) {
    self.path = path
    self.hash = hash
    self.file = file
    self.binding = binding
  }

  /// The body, decoded. Its signature is not checked by this.
  func decode<Body>(_ decode: ([UInt8]) throws(ModelError) -> Body) throws(VaultError) -> Body {
    do { return try decode(file.body) } catch { throw VaultError(error, path: path.string) }
  }

  /// - Throws: `damaged` unless the signature is that of the key.
  func verify(_ kind: SignedFileKind, publicKey: [UInt8]) throws(VaultError) {
    let isValid = verifySignature(
      label: kind.rawValue, binding: binding, path: path.signedText, body: file.body,
      signature: file.signature, publicKey: publicKey)
    guard isValid else {
      throw .damaged(path: path.string, reason: "its signature does not hold")
    }
  }
}

extension VaultPath {
  /// The path as it is signed. A member's root cannot know its own name, which is its hash.
  var signedText: String {
    if case .memberRoot = self { "members/root" } else { string }
  }
}
