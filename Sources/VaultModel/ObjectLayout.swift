/// Where the bytes of an object stand in its file: Docs/Format.md, "6. Objects".
///
/// Content and padding and the length of the content make the *body*; the body is cut into blocks;
/// each block is stored sealed, with its tag. Content starts at the start of the body, so an offset
/// in the content is the same offset in the body.
///
/// Blocks are of one of two sizes. Which one it is stands in the header, and follows from the size of the file unless
/// the body is one block, where both look alike.
///
/// Sizes handed in must not be negative and far from overflow (at most 2^56); sizes of files that
/// others wrote go through `bodySize(fileSize:)` first, which takes any number.
package struct ObjectLayout: Hashable, Sendable {
  /// The block size as a power of two, as the header says it.
  package let blockShift: Int

  /// That of chunks, which programs read here and there.
  package static let blocksOf4KiB = ObjectLayout(blockShift: 12)
  /// That of everything that is read whole, and of chunks in older vaults.
  package static let blocksOf16KiB = ObjectLayout(blockShift: 14)
  /// All that an object may have.
  package static let all = [blocksOf4KiB, blocksOf16KiB]

  private init(blockShift: Int) { self.blockShift = blockShift }

  /// The layout that a header says; nil for one that there is not.
  package init?(headerByte: UInt8) {
    guard let known = Self.all.first(where: { $0.headerByte == headerByte }) else { return nil }
    self = known
  }

  /// What stands for the layout in the header.
  package var headerByte: UInt8 { UInt8(blockShift) }

  /// How objects of a kind are written.
  package static func current(for kind: ObjectKind) -> ObjectLayout {
    kind == .chunk ? blocksOf4KiB : blocksOf16KiB
  }

  /// The layout of a file of this size, the current one where that cannot be told; nil for a size that no object
  /// has.
  package static func ofFile(size: Int, kind: ObjectKind) -> ObjectLayout? {
    let current = current(for: kind)
    if current.bodySize(fileSize: size) != nil { return current }
    return all.first { $0.bodySize(fileSize: size) != nil }
  }

  /// Bytes of the body in every block but the last.
  package var blockSize: Int { 1 << blockShift }
  /// Bytes in the file of every block but the last.
  package var sealedBlockSize: Int { blockSize + Self.tagSize }
  /// Bytes of the tag after the ciphertext of every block.
  package static let tagSize = 16
  /// Bytes of the header before block 0.
  package static let headerSize = 16
  /// Bytes at the end of the body that hold the content's length.
  package static let lengthSize = 8
  /// Content is padded to no less than this.
  package static let paddedFloor = 480
  /// The size of the smallest file that is an object.
  package static let smallestFileSize = smallestFileSize(contentSize: 0)

  /// The most content that an object of a kind holds: Docs/Format.md, "12. Limits".
  package static func maximumContentSize(of kind: ObjectKind) -> Int {
    switch kind {
    case .chunk, .record: 1 << 20
    case .index: 64 << 10
    case .page, .segment: 16 << 20
    case .announcement: 64 << 20
    }
  }

  /// Bytes of content and zeros after it.
  package static func paddedSize(contentSize: Int) -> Int {
    Padding.padme(max(contentSize, paddedFloor))
  }

  /// Bytes of content, zeros and length.
  package static func bodySize(contentSize: Int) -> Int {
    paddedSize(contentSize: contentSize) + lengthSize
  }

  /// How many blocks a body of this size has; the last one is never empty.
  package func blockCount(bodySize: Int) -> Int {
    (bodySize + blockSize - 1) >> blockShift
  }

  /// The size of the file of an object with this much content.
  package func fileSize(contentSize: Int) -> Int {
    fileSize(bodySize: Self.bodySize(contentSize: contentSize))
  }

  /// The size of the smallest file that holds this much content, whatever its layout.
  package static func smallestFileSize(contentSize: Int) -> Int {
    blocksOf16KiB.fileSize(contentSize: contentSize)
  }

  /// The size of the largest file of an object of a kind, whatever its layout.
  package static func largestFileSize(of kind: ObjectKind) -> Int {
    blocksOf4KiB.fileSize(contentSize: maximumContentSize(of: kind))
  }

  /// Whether a file of this size may be an object with at least this much content.
  package static func mayHold(contentSize: Int, fileSize: Int) -> Bool {
    all.contains {
      $0.bodySize(fileSize: fileSize) != nil && fileSize >= $0.fileSize(contentSize: contentSize)
    }
  }

  /// The size of the file of an object with a body of this size.
  package func fileSize(bodySize: Int) -> Int {
    Self.headerSize + bodySize + blockCount(bodySize: bodySize) * Self.tagSize
  }

  /// The size of the body in a file of this size; nil for a size that no object has, such as that
  /// of a truncated file (most of them).
  package func bodySize(fileSize: Int) -> Int? {
    guard fileSize >= Self.headerSize, fileSize <= 1 << 56 else { return nil }
    let sealed = fileSize - Self.headerSize
    let blocks = (sealed + sealedBlockSize - 1) / sealedBlockSize
    let body = sealed - blocks * Self.tagSize
    let padded = body - Self.lengthSize
    guard padded >= Self.paddedFloor, blockCount(bodySize: body) == blocks,
      Padding.padme(padded) == padded
    else { return nil }
    return body
  }

  /// The blocks that hold these bytes of the body; none for an empty range.
  package func blocks(covering bodyRange: Range<Int>) -> Range<Int> {
    guard !bodyRange.isEmpty else { return 0..<0 }
    return bodyRange.lowerBound >> blockShift..<blockCount(bodySize: bodyRange.upperBound)
  }

  /// Which bytes of the body these blocks hold.
  ///
  /// `blocks` must not reach beyond the last block of the body.
  package func bodyRange(ofBlocks blocks: Range<Int>, bodySize: Int) -> Range<Int> {
    precondition(isInside(blocks, bodySize: bodySize), "blocks outside the object")
    let lower = min(blocks.lowerBound << blockShift, bodySize)
    return lower..<min(blocks.upperBound << blockShift, bodySize)
  }

  /// Where these blocks stand in the file, ciphertext and tags.
  ///
  /// `blocks` must not reach beyond the last block of the body.
  package func fileRange(ofBlocks blocks: Range<Int>, bodySize: Int) -> Range<Int> {
    precondition(isInside(blocks, bodySize: bodySize), "blocks outside the object")
    let end = fileSize(bodySize: bodySize)
    let lower = min(Self.headerSize + blocks.lowerBound * sealedBlockSize, end)
    return lower..<min(Self.headerSize + blocks.upperBound * sealedBlockSize, end)
  }

  /// Whether a body of this size may hold this much content: only the canonical padding counts.
  package static func isCanonical(contentSize: Int, bodySize: Int) -> Bool {
    contentSize >= 0 && contentSize <= bodySize - lengthSize
      && self.bodySize(contentSize: contentSize) == bodySize
  }

  private func isInside(_ blocks: Range<Int>, bodySize: Int) -> Bool {
    blocks.lowerBound >= 0 && blocks.upperBound <= blockCount(bodySize: bodySize)
  }
}
