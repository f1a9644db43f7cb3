import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel

/// Reads, writes, signs and seals the statements and registers of one vault.
package struct SignedFiles: Sendable {
  package let store: any BlobStore
  package let binding: Binding

  package init(store: any BlobStore, binding: Binding) {
    (self.store, self.binding) = (store, binding)
  }

  /// Reads a signed file; nothing in it is verified yet.
  ///
  /// - Throws: `missing`, `damaged` when it is no signed file.
  package func load(_ path: VaultPath) throws(VaultError) -> LoadedSignedFile {
    let blobPath = BlobPath(path.string)
    let bytes = try storing(store.read(blobPath, limit: Limits.signedFileBytes))
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
    _ body: [UInt8], _ label: FileLabel, _ path: VaultPath, with key: borrowing SigningKey
  ) -> [UInt8] {
    let message = binding.signedMessage(label, path: path.string, body: body)
    return SignedFile(body: body, signature: key.sign(message)).encoded()
  }

  package func sign(
    _ body: [UInt8], _ label: FileLabel, _ path: VaultPath, with device: ThisDevice
  ) -> [UInt8] {
    sign(body, label, path, with: device.signingKey)
  }

  /// Writes a file that is written once or rewritten by its one owner; on disk when this returns.
  package func store(
    _ bytes: [UInt8], at path: VaultPath, in folder: any LocalStore
  ) throws(VaultError) {
    try storing(folder.replace(BlobPath(path.string), bytes, durably: true))
  }

  package func seal(
    _ plaintext: [UInt8], with key: SealingKey, _ label: FileLabel, _ path: VaultPath,
    counter: UInt64
  ) -> Sealed {
    key.seal(plaintext, label: label, path: path.string, counter: counter)
  }

  package func open(
    _ sealed: Sealed, with key: SealingKey, _ label: FileLabel, _ path: VaultPath,
    counter: UInt64
  ) throws(VaultError) -> [UInt8] {
    do {
      return try key.open(
        sealed, label: label, path: path.string, counter: counter)
    } catch {
      throw VaultError(error, path: path.string)
    }
  }
}

/// A signed file as read.
package struct LoadedSignedFile: Sendable {
  package let path: VaultPath
  package let hash: FileHash
  package let file: SignedFile
  fileprivate let binding: Binding

  init(path: VaultPath, hash: FileHash, file: SignedFile, binding: Binding) {
    self.path = path
    self.hash = hash
    self.file = file
    self.binding = binding
  }

  /// The body, decoded. Its signature is not checked by this.
  package func decode<Body>(
    _ decode: ([UInt8]) throws(ModelError) -> Body
  ) throws(VaultError) -> Body {
    do { return try decode(file.body) } catch { throw VaultError(error, path: path.string) }
  }

  /// Names the statement: SHA-256 of what is signed.
  func statementID(_ label: FileLabel) -> StatementID {
    StatementID(storage: Digest.sha256(message(label)).storage)
  }

  /// - Throws: `damaged` unless the signature is that of the key.
  package func verify(_ label: FileLabel, publicKey: [UInt8]) throws(VaultError) {
    let isValid = verifySignature(
      of: message(label), signature: file.signature, publicKey: publicKey)
    guard isValid else {
      throw .damaged(path: path.string, reason: "its signature does not hold")
    }
  }

  private func message(_ label: FileLabel) -> [UInt8] {
    binding.signedMessage(label, path: path.string, body: file.body)
  }
}
