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

  private let nameKey: HMACKey
  private let objectKey: HMACKey

  package init(_ key: borrowing FamilyMemberKey, member: MemberID, binding: Binding) {
    self.member = member
    nameKey = HMACKey(key.derive("name", member: member, binding: binding))
    objectKey = HMACKey(key.derive("object", member: member, binding: binding))
    registerKey = SealingKey(
      key.derive("register", member: member, binding: binding), binding: binding)
    keyID = key.keyID(member: member, binding: binding)
  }

  // MARK: Naming

  /// The name of this content; only who has the epoch's key can compute it.
  package func name(kind: ObjectKind, content: UnsafeRawBufferPointer) -> ObjectName {
    withUnsafeTemporaryAllocation(byteCount: HMACKey.size, alignment: 8) { code in
      withUnsafeBytes(of: kind.rawValue) { nameKey.authenticate($0, content, into: code) }
      return ObjectName(storage: Bytes32(exactly: UnsafeRawBufferPointer(code)))
    }
  }

  package func name(kind: ObjectKind, content: [UInt8]) -> ObjectName {
    content.withUnsafeBytes { name(kind: kind, content: $0) }
  }

  // MARK: Sealing

  /// Writes the whole file of the object that has this name, kind and content.
  ///
  /// `name` must be what `name(kind:content:)` gives, or two contents could meet under one key.
  /// `file` must have exactly as many bytes as the kind's current layout says and not overlap
  /// `content`, which must not be longer than the format allows for its kind; traps otherwise. The
  /// content is read once and not copied. The same content gives the same file, always.
  package func seal(
    name: ObjectName, kind: ObjectKind, content: UnsafeRawBufferPointer,
    into file: UnsafeMutableRawBufferPointer
  ) {
    precondition(
      content.count <= ObjectLayout.maximumContentSize(of: kind), "content beyond the limits")
    precondition(
      file.count == ObjectLayout.current(for: kind).fileSize(contentSize: content.count),
      "no room of the right size")
    cipher(for: name, kind: kind).seal(content, into: file)
  }

  package func seal(name: ObjectName, kind: ObjectKind, content: [UInt8]) -> [UInt8] {
    let size = ObjectLayout.current(for: kind).fileSize(contentSize: content.count)
    return [UInt8](unsafeUninitializedCapacity: size) { output, initializedCount in
      let file = UnsafeMutableRawBufferPointer(
        rebasing: UnsafeMutableRawBufferPointer(output)[..<size])
      content.withUnsafeBytes { seal(name: name, kind: kind, content: $0, into: file) }
      initializedCount = size
    }
  }

  // MARK: Opening

  /// What opens single blocks of the object of this name. Costs two short HMACs, so keep it while
  /// the object is read.
  ///
  /// - Parameter layout: The one that the object's header says; nil for the kind's current one.
  package func cipher(
    for name: ObjectName, kind: ObjectKind, layout: ObjectLayout? = nil
  ) -> ObjectCipher {
    let layout = layout ?? .current(for: kind)
    return ObjectCipher(
      name: name, header: ObjectHeader(kind: kind, layout: layout, keyID: keyID),
      objectKey: objectKey)
  }

  /// The content of a whole object.
  ///
  /// Checks all there is to check: header, every block, padding, and, unless told not to, that the
  /// content belongs under this name, which costs a second pass (without it, someone who has the
  /// epoch's key could have put other content there; nobody else could).
  /// Throws for whatever is wrong; allocates no more than the file's size.
  package func open(
    name: ObjectName, kind: ObjectKind, file: UnsafeRawBufferPointer, checkingName: Bool = true
  ) throws(CryptoError) -> [UInt8] {
    let header = try ObjectHeader(decoding: file)
    let cipher = cipher(for: name, kind: kind, layout: header.layout)
    try cipher.check(header)
    let bodySize = try cipher.bodySize(fileSize: file.count)
    var failure: CryptoError?
    let content = [UInt8](unsafeUninitializedCapacity: bodySize) { output, initializedCount in
      let body = UnsafeMutableRawBufferPointer(
        rebasing: UnsafeMutableRawBufferPointer(output)[..<bodySize])
      do throws(CryptoError) {
        let blocks = UnsafeRawBufferPointer(rebasing: file[ObjectLayout.headerSize...])
        try cipher.openBlocks(
          0..<header.layout.blockCount(bodySize: bodySize), isLast: true, ciphertext: blocks,
          into: body)
        initializedCount = try ObjectCipher.contentSize(body: UnsafeRawBufferPointer(body))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    if checkingName, self.name(kind: kind, content: content) != name { throw .nameMismatch }
    return content
  }

  package func open(
    name: ObjectName, kind: ObjectKind, file: [UInt8], checkingName: Bool = true
  ) throws(CryptoError) -> [UInt8] {
    try file.span.bytes.withUnsafeBytes { bytes throws(CryptoError) in
      try open(name: name, kind: kind, file: bytes, checkingName: checkingName)
    }
  }
}
