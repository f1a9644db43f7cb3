import CSodium
import VaultModel

/// The key of one object, derived once, to seal it or to open any of its blocks:
/// Docs/Format.md, "6. Objects".
///
/// May be used from every thread; threads do not wait for each other. The key stands in ordinary
/// memory and is erased when this object goes: it opens nothing but this one object.
package final class ObjectCipher: @unchecked Sendable {
  // Sendable: never written after `init`.
  /// Key, then nonce, then header.
  private let material: UnsafeMutableRawPointer
  private static let nonceOffset = GCM.keySize
  private static let headerOffset = GCM.keySize + GCM.nonceSize
  private static let materialSize = headerOffset + ObjectLayout.headerSize

  let header: ObjectHeader

  init(name: ObjectName, header: ObjectHeader, objectKey: HMACKey) {
    self.header = header
    material = .allocate(byteCount: Self.materialSize, alignment: 8)
    (Array("object".utf8) + name.bytes).withUnsafeBytes { info in
      HKDF.expand(
        objectKey, info: info,
        into: UnsafeMutableRawBufferPointer(start: material, count: Self.headerOffset))
    }
    header.encoded.withUnsafeBytes {
      (material + Self.headerOffset).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
    }
  }

  deinit {
    sodium_memzero(material, Self.materialSize)
    material.deallocate()
  }

  // MARK: Opening

  /// Throws unless this is the header of an object of this kind and epoch.
  func check(_ found: ObjectHeader) throws(CryptoError) {
    guard found.kind == header.kind else {
      throw .wrongKind(found: found.kind.rawValue, expected: header.kind)
    }
    guard found.keyID == header.keyID else {
      throw .otherKey(found: found.keyID, expected: header.keyID)
    }
  }

  /// The size of the body in a file of this size.
  ///
  /// Throws `malformed` for a size that no object of this kind has, such as that of a truncated file.
  func bodySize(fileSize: Int) throws(CryptoError) -> Int {
    guard fileSize <= ObjectLayout.largestFileSize(of: header.kind),
      let size = header.layout.bodySize(fileSize: fileSize)
    else {
      throw .malformed(reason: "no object of its kind has \(fileSize) bytes")
    }
    return size
  }

  /// Opens consecutive blocks: `ciphertext` is what the file holds at
  /// `ObjectLayout.fileRange(ofBlocks:bodySize:)`, `output` receives what
  /// `ObjectLayout.bodyRange(ofBlocks:bodySize:)` says, exactly.
  ///
  /// `isLast` says that the last of them is the object's last block. Throws `malformed` if
  /// `ciphertext` is too short or too long for that, `authenticationFailed` if a block was altered,
  /// is another one, or is or is not the last; what `output` then holds must not be used. `output`
  /// must not be smaller than what is opened; traps otherwise.
  package func openBlocks(
    _ blocks: Range<Int>, isLast: Bool, ciphertext: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    guard isPossible(ciphertext.count, blockCount: blocks.count, isLast: isLast) else {
      throw .malformed(reason: "\(ciphertext.count) bytes are not \(blocks.count) blocks")
    }
    guard let source = ciphertext.baseAddress, let target = output.baseAddress, !blocks.isEmpty
    else { return }
    precondition(
      output.count >= ciphertext.count - blocks.count * GCM.tagSize, "no room for the blocks")
    let layout = header.layout
    let isAuthentic = withMessages(.open) { message in
      for (position, block) in blocks.enumerated() {
        let offset = position * layout.sealedBlockSize
        let size = min(layout.blockSize, ciphertext.count - offset - GCM.tagSize)
        message.start(block: block, isLast: isLast && block == blocks.upperBound - 1)
        message.cipher.update(
          UnsafeRawBufferPointer(start: source + offset, count: size),
          into: target + position * layout.blockSize)
        guard message.cipher.finishOpening(tag: source + offset + size) else { return false }
      }
      return true
    }
    guard isAuthentic else { throw .authenticationFailed }
  }

  /// How much of an opened body is content, as the body says.
  ///
  /// Throws `malformed` unless the padding is the canonical one: as long as the format says, and
  /// all zeros.
  package static func contentSize(
    body: UnsafeRawBufferPointer, layout: ObjectLayout
  ) throws(CryptoError) -> Int {
    guard body.count >= ObjectLayout.lengthSize else {
      throw .malformed(reason: "a body of \(body.count) bytes")
    }
    let end = UnsafeRawBufferPointer(rebasing: body[(body.count - ObjectLayout.lengthSize)...])
    let size = try contentSize(end: end, bodySize: body.count, layout: layout)
    guard body[size..<layout.paddedSize(bodySize: body.count)].allSatisfy({ $0 == 0 }) else {
      throw .malformed(reason: "an object with padding that is not canonical")
    }
    return size
  }

  /// How much of a body of this size is content, as the last eight bytes say. Whether zeros follow it is not looked at.
  ///
  /// Throws `malformed` for a content that has another body.
  package static func contentSize(
    end: UnsafeRawBufferPointer, bodySize: Int, layout: ObjectLayout
  ) throws(CryptoError) -> Int {
    let length = end.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let size = Int(exactly: length),
      layout.isCanonical(contentSize: size, bodySize: bodySize)
    else { throw .malformed(reason: "an object with padding that is not canonical") }
    return size
  }

  private func isPossible(_ byteCount: Int, blockCount: Int, isLast: Bool) -> Bool {
    let blockSize = header.layout.sealedBlockSize
    guard blockCount > 0, isLast else { return byteCount == blockCount * blockSize }
    let last = byteCount - (blockCount - 1) * blockSize
    return last > GCM.tagSize && last <= blockSize
  }

  // MARK: Sealing

  /// Writes the whole file; the sizes are checked by who calls.
  func seal(_ content: HashedContent, into file: UnsafeMutableRawBufferPointer) {
    file.copyMemory(
      from: UnsafeRawBufferPointer(
        start: material + Self.headerOffset, count: ObjectLayout.headerSize))
    let body = SealedBody(content: content)
    let layout = header.layout
    let blockCount = layout.blockCount(bodySize: body.size)
    withMessages(.seal) { message in
      for block in 0..<blockCount {
        let range = layout.bodyRange(ofBlocks: block..<block + 1, bodySize: body.size)
        let target = file.baseAddress! + ObjectLayout.headerSize + block * layout.sealedBlockSize
        message.start(block: block, isLast: block == blockCount - 1)
        body.forEachPart(of: range) { part, offset in
          message.cipher.update(part, into: target + offset)
        }
        message.cipher.finishSealing(tag: target + range.count)
      }
    }
  }

  // MARK: Blocks as messages

  /// Lends the cipher with this object's key, and room for nonce and additional data.
  private func withMessages<Result>(
    _ direction: GCM.Direction, _ body: (BlockMessages) -> Result
  ) -> Result {
    GCM.withCipher(key: material, direction) { cipher in
      withUnsafeTemporaryAllocation(byteCount: BlockMessages.scratchSize, alignment: 8) { scratch in
        body(
          BlockMessages(
            cipher: cipher, nonce: material + Self.nonceOffset,
            header: material + Self.headerOffset, scratch: scratch))
      }
    }
  }
}
