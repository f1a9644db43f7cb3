import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel

/// An object as it travels, and what is in it.
package struct SealedObject: Sendable {
  package var kind: ObjectKind
  /// The whole file, header included.
  package var file: [UInt8]
  /// Empty for a chunk: nobody who carries it needs it.
  package var content: [UInt8]
}

/// How objects come in from other copies of the vault and go out to them.
extension ObjectStore {
  /// Where the object stands in every copy of the vault.
  package func vaultPath(of name: ObjectName) -> VaultPath { .object(member, name) }

  /// Where the content belongs under the keys in use.
  package func vaultPath(of digest: ContentDigest) -> VaultPath { vaultPath(of: name(of: digest)) }

  /// The largest file that an object of this kind can be.
  package static func fileSizeLimit(of kind: ObjectKind) -> Int {
    ObjectLayout.largestFileSize(of: kind)
  }

  /// Which key an object's file says it is sealed with; nil when it is no object's. Nothing is authenticated.
  package static func keyID(of file: [UInt8]) -> KeyID? {
    file.withUnsafeBytes { bytes in
      do throws(CryptoError) { return try ObjectHeader(decoding: bytes).keyID } catch {
        return nil
      }
    }
  }

  /// Whether the file under this name says that it is sealed with a key that this person does not have.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  package func isUnderUnknownKey(_ name: ObjectName) throws(VaultError) -> Bool {
    try keys[keyID(of: name)] == nil
  }

  /// Whether a file can be an object, as far as that is seen without its key: its header is one, and what follows has a
  /// length that such an object can have.
  package static func hasForm(_ file: [UInt8]) -> Bool {
    file.withUnsafeBytes { bytes in
      do throws(CryptoError) {
        let header = try ObjectHeader(decoding: bytes)
        return header.layout.bodySize(fileSize: bytes.count) != nil
          && bytes.count <= fileSizeLimit(of: header.kind)
      } catch {
        return false
      }
    }
  }

  /// The object as it stands here, authenticated to the last byte, so that damage does not travel.
  ///
  /// - Parameter kind: What it must be; nil takes the header's word.
  /// - Throws: `missing`, `damaged`.
  package func sealedObject(
    _ name: ObjectName, kind: ObjectKind? = nil
  ) throws(VaultError) -> SealedObject {
    let path = path(of: name)
    let limit = Self.fileSizeLimit(of: kind ?? .announcement)
    let file = try opening { () throws(BlobStoreError) in try store.read(path, limit: limit) }
    return try authenticate(name, kind: kind, file: file)
  }

  /// The content as an object of an epoch, whichever keys it stands under here.
  ///
  /// - Throws: `missing`, `damaged`.
  package func sealedObject(
    _ digest: ContentDigest, kind: ObjectKind, in epoch: StatementID
  ) throws(VaultError) -> SealedObject {
    let place = ObjectPlace(of: digest, epochKeys(epoch))
    do { return try sealedObject(place.name, kind: kind) } catch {
      guard case .missing = error, !keys.others.isEmpty else { throw error }
    }
    let content = try placedContent(digest, kind: kind)
    let file = place.keys.seal(name: place.name, kind: kind, content: content)
    return SealedObject(kind: kind, file: file, content: kind == .chunk ? [] : content)
  }

  /// What is here of a content, which a head of this epoch names; nil where nothing is. What stands under other keys than
  /// those in use only is put under these, if they are the epoch's. On disk after the next barrier, whoever has put it there.
  ///
  /// - Throws: `damaged`; `noSpace`, `io`.
  package func contentSealedAnew(
    _ digest: ContentDigest, kind: ObjectKind, in epoch: StatementID
  ) throws(VaultError) -> [UInt8]? {
    let keys = epochKeys(epoch)
    let name = keys.name(of: digest)
    let final = path(of: name)
    // A sync that was killed may have put it there a moment ago, and waited for no disk.
    if try storing(store.takeOver(final)) { return try sealedObject(name, kind: kind).content }
    guard try isPresent(digest) else { return nil }
    let content = try placedContent(digest, kind: kind)
    if keys.keyID == self.keys.current.keyID { _ = try write(kind, content, under: keys) }
    return kind == .chunk ? [] : content
  }

  /// A file that is said to be this object, once it was seen to be: every block authenticates and the content
  /// has this name.
  ///
  /// - Throws: `damaged`.
  package func authenticate(
    _ name: ObjectName, kind: ObjectKind?, file: [UInt8]
  ) throws(VaultError) -> SealedObject {
    let path = path(of: name).string
    return try file.withBytes { (bytes) throws(VaultError) in
      do throws(CryptoError) {
        let header = try ObjectHeader(decoding: bytes)
        guard let epoch = keys[header.keyID] else {
          throw .malformed(reason: "it is sealed with an unknown key")
        }
        let kind = kind ?? header.kind
        let content = try epoch.open(name: name, kind: kind, file: bytes)
        return SealedObject(kind: kind, file: file, content: kind == .chunk ? [] : content)
      } catch {
        throw VaultError(error, path: path)
      }
    }
  }

  /// Whether `authenticate` takes a file for this object.
  package func isWhole(_ name: ObjectName, kind: ObjectKind, file: [UInt8]) -> Bool {
    do {
      _ = try authenticate(name, kind: kind, file: file)
      return true
    } catch {
      // What is wrong with it says whoever takes it all the same.
      return false
    }
  }

  /// Puts a file in place that `authenticate` took for this object, over a damaged one too.
  ///
  /// Whole or absent under its name whenever the process ends; on disk after the next barrier.
  package func place(_ name: ObjectName, file: [UInt8]) throws(VaultError) {
    guard let staging else { throw .readOnly }
    try staging.place(name, of: member, file: file)
    forgetReader(name)
  }

  /// Removes the object's file, which nothing needs; does nothing where there is none.
  ///
  /// - Throws: `readOnly`, `io`.
  package func withdraw(_ name: ObjectName) throws(VaultError) {
    let path = path(of: name)
    try storing(store.remove(path))
    forgetReader(name)
  }

  /// Every object file of the member that stands here, with its size. Files of other names are left out.
  package func listed() throws(VaultError) -> [(name: ObjectName, byteCount: UInt64)] {
    var result: [(name: ObjectName, byteCount: UInt64)] = []
    let folder = BlobPath("members/\(member.hex)/objects")
    let folders = try storing(store.list(folder))
    for part in folders where part.isFolder && part.name.utf8.count == 2 {
      let inside = folder.appending(part.name)
      for entry in try storing(store.list(inside)) {
        if let name = ObjectName(hex: part.name + entry.name) { result.append((name, entry.size)) }
      }
    }
    return result
  }
}
