import VaultModel

/// All keys of one member and epoch, and what is done with them: naming, sealing and opening
/// objects. Docs/Format.md, "4. Keys" and "6. Objects".
///
/// May be used from every thread; threads do not wait for each other. The keys are set up in
/// OpenSSL once, in ordinary memory that it erases when this object goes.
package final class EpochKeys: Sendable {
  package let member: MemberID
  /// Tells which epoch sealed an object, without naming the epoch.
  package let keyID: KeyID
  /// Seals the heads of this epoch.
  package let registerKey: SealingKey
  /// Opens what was noted in the member's journal during the epoch.
  package let journalKey: JournalKey

  /// Under what a doorbell is rung when something of the member has come, and listened to: 40 hexadecimal digits. Tells
  /// nothing of the keys, and is none.
  package let doorbellTopic: String

  /// A half of what `DerivedKeys` are made of.
  let derivedKey: HMACKey

  private let nameKey: HMACKey
  private let objectKey: HMACKey

  package init(_ key: borrowing FamilyMemberKey, member: MemberID, binding: Binding) {
    self.member = member
    nameKey = HMACKey(key.derive("name", member: member, binding: binding))
    objectKey = HMACKey(key.derive("object", member: member, binding: binding))
    derivedKey = HMACKey(key.derive("derived", member: member, binding: binding))
    registerKey = SealingKey(
      key.derive("register", member: member, binding: binding), binding: binding)
    journalKey = JournalKey(
      key.derive("journal", member: member, binding: binding), member: member, binding: binding)
    keyID = key.keyID(member: member, binding: binding)
    doorbellTopic = Hex.encode(key.doorbellTopic(member: member, binding: binding))
  }

  // MARK: Naming

  /// The name of the object with this content; only who has the epoch's key can compute it.
  package func name(of digest: ContentDigest) -> ObjectName {
    withUnsafeTemporaryAllocation(byteCount: HMACKey.size, alignment: 8) { code in
      digest.withUnsafeBytes { nameKey.authenticate($0, into: code) }
      return ObjectName(storage: Bytes32(exactly: UnsafeRawBufferPointer(code)))
    }
  }

  // MARK: Sealing

  /// Writes the whole file of the object with this content.
  ///
  /// `name` must be that of its digest, or two contents could meet under one key.
  /// `file` must have exactly as many bytes as the kind's layout says and not overlap
  /// the content, which must not be longer than the format allows for its kind; traps otherwise. The
  /// content is read once and not copied. The same content gives the same file, always.
  package func seal(
    _ content: HashedContent, as name: ObjectName, into file: UnsafeMutableRawBufferPointer
  ) {
    precondition(
      content.bytes.count <= ObjectLayout.maximumContentSize(of: content.kind),
      "content beyond the limits")
    precondition(
      file.count == ObjectLayout(of: content.kind).fileSize(contentSize: content.bytes.count),
      "no room of the right size")
    cipher(for: name, kind: content.kind).seal(content, into: file)
  }

  package func seal(name: ObjectName, kind: ObjectKind, content: [UInt8]) -> [UInt8] {
    let size = ObjectLayout(of: kind).fileSize(contentSize: content.count)
    return [UInt8](unsafeUninitializedCapacity: size) { output, initializedCount in
      let file = UnsafeMutableRawBufferPointer(
        rebasing: UnsafeMutableRawBufferPointer(output)[..<size])
      content.withUnsafeBytes { seal(HashedContent(kind, $0), as: name, into: file) }
      initializedCount = size
    }
  }

  // MARK: Opening

  /// What opens single blocks of the object of this name. Costs two short HMACs, so keep it while
  /// the object is read.
  ///
  /// A block that opens was sealed by somebody with the epoch's key. Whether it belongs to the content that the name is
  /// of, only `BlockHashes` tell.
  package func cipher(for name: ObjectName, kind: ObjectKind) -> ObjectCipher {
    ObjectCipher(
      name: name, header: ObjectHeader(kind: kind, keyID: keyID), objectKey: objectKey)
  }

  /// The content of a whole object.
  ///
  /// Checks all there is to check: header, every block, padding, that the content belongs under this name, and that the
  /// hashes in it are those of its blocks.
  /// Throws for whatever is wrong; allocates no more than the file's size.
  package func open(
    name: ObjectName, kind: ObjectKind, file: UnsafeRawBufferPointer
  ) throws(CryptoError) -> [UInt8] {
    let header = try ObjectHeader(decoding: file)
    let cipher = cipher(for: name, kind: kind)
    try cipher.check(header)
    let layout = header.layout
    let bodySize = try cipher.bodySize(fileSize: file.count)
    var failure: CryptoError?
    let content = [UInt8](unsafeUninitializedCapacity: bodySize) { output, initializedCount in
      let body = UnsafeMutableRawBufferPointer(
        rebasing: UnsafeMutableRawBufferPointer(output)[..<bodySize])
      do throws(CryptoError) {
        let blocks = UnsafeRawBufferPointer(rebasing: file[ObjectLayout.headerSize...])
        try cipher.openBlocks(
          0..<layout.blockCount(bodySize: bodySize), isLast: true, ciphertext: blocks, into: body)
        initializedCount = try checkedSize(of: UnsafeRawBufferPointer(body), kind, name)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return content
  }

  /// How much of an opened body is content, once it is known to be of this name.
  private func checkedSize(
    of body: UnsafeRawBufferPointer, _ kind: ObjectKind, _ name: ObjectName
  ) throws(CryptoError) -> Int {
    let layout = ObjectLayout(of: kind)
    let size = try ObjectCipher.contentSize(body: body, layout: layout)
    let content = HashedContent(kind, UnsafeRawBufferPointer(rebasing: body[..<size]))
    guard self.name(of: content.digest) == name else { throw .nameMismatch }
    let hashes = body[layout.paddedSize(bodySize: body.count)...].dropLast(ObjectLayout.lengthSize)
    if !hashes.isEmpty, content.blocks?.bytes.elementsEqual(hashes) != true {
      throw .malformed(reason: "an object whose hashes are not those of its content")
    }
    return size
  }

  package func open(
    name: ObjectName, kind: ObjectKind, file: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    try file.span.bytes.withUnsafeBytes { bytes throws(CryptoError) in
      try open(name: name, kind: kind, file: bytes)
    }
  }
}
