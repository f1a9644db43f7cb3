/// Where the bytes of an object stand in its file: Docs/Format.md, "6. Objects".
///
/// The *body* is the content, zeros up to its padded size, for a chunk of more than one block the hashes of its
/// padded blocks, and the length of the content. It is cut into blocks; each is stored sealed, with its tag. Content
/// starts at the start of the body, so an offset in the content is the same offset in the body.
///
/// Sizes handed in must not be negative and far from overflow (at most 2^56); sizes of files that
/// others wrote go through `bodySize(fileSize:)` first, which takes any number.
package struct ObjectLayout: Hashable, Sendable {
  /// The block size as a power of two, as the header says it: 4 KiB for chunks, which programs read here and there,
  /// 16 KiB for everything that is read whole.
  package let blockShift: Int
  /// Whether the hashes of its blocks stand in the body, so that a part can be checked without the rest.
  private let hasHashes: Bool

  package init(of kind: ObjectKind) {
    hasHashes = kind == .chunk
    blockShift = hasHashes ? 12 : 14
  }

  /// What stands for the block size in the header.
  package var headerByte: UInt8 { UInt8(blockShift) }

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
  /// Bytes of the hash of a block.
  package static let hashSize = 32
  /// Content is padded to no less than this.
  package static let paddedFloor = 480
  /// The largest block of all kinds.
  package static let largestBlockSize = 1 << 14

  /// The most content that an object of a kind holds: Docs/Format.md, "12. Limits".
  package static func maximumContentSize(of kind: ObjectKind) -> Int {
    switch kind {
    case .chunk, .record: 1 << 20
    case .index: 64 << 10
    case .page, .segment, .authored: 16 << 20
    case .announcement: 64 << 20
    }
  }

  /// The size of the largest file of an object of a kind.
  package static func largestFileSize(of kind: ObjectKind) -> Int {
    ObjectLayout(of: kind).fileSize(contentSize: maximumContentSize(of: kind))
  }

  // MARK: The body

  /// Bytes of content and zeros after it.
  package static func paddedSize(contentSize: Int) -> Int {
    Padding.padme(max(contentSize, paddedFloor))
  }

  /// Bytes of content, zeros, hashes and length.
  package func bodySize(contentSize: Int) -> Int {
    bodySize(paddedSize: Self.paddedSize(contentSize: contentSize))
  }

  private func bodySize(paddedSize: Int) -> Int {
    paddedSize + hashesSize(paddedSize: paddedSize) + Self.lengthSize
  }

  /// Bytes of the hashes that stand after this many bytes of content and zeros. The hash of one block stands nowhere:
  /// who checks that block has all there is.
  package func hashesSize(paddedSize: Int) -> Int {
    guard hasHashes, paddedSize > blockSize else { return 0 }
    return blockCount(bodySize: paddedSize) * Self.hashSize
  }

  /// Bytes of content and zeros in a body of this size, which is one that an object can have or another number: then
  /// what comes out has another body.
  package func paddedSize(bodySize: Int) -> Int {
    let rest = bodySize - Self.lengthSize
    guard hasHashes, rest > blockSize else { return rest }
    let hashedBlockSize = blockSize + Self.hashSize
    return rest - (rest + hashedBlockSize - 1) / hashedBlockSize * Self.hashSize
  }

  /// How many blocks a body of this size has; the last one is never empty.
  package func blockCount(bodySize: Int) -> Int {
    (bodySize + blockSize - 1) >> blockShift
  }

  /// Whether a body of this size may hold this much content: only the canonical padding counts.
  package func isCanonical(contentSize: Int, bodySize: Int) -> Bool {
    contentSize >= 0 && contentSize <= bodySize - Self.lengthSize
      && self.bodySize(contentSize: contentSize) == bodySize
  }

  // MARK: The file

  /// The size of the file of an object with this much content.
  package func fileSize(contentSize: Int) -> Int {
    fileSize(bodySize: bodySize(contentSize: contentSize))
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
    let padded = paddedSize(bodySize: body)
    guard padded >= Self.paddedFloor, blockCount(bodySize: body) == blocks,
      Padding.padme(padded) == padded, bodySize(paddedSize: padded) == body
    else { return nil }
    return body
  }

  /// Whether a file of this size may be an object with at least this much content.
  package func mayHold(contentSize: Int, fileSize: Int) -> Bool {
    bodySize(fileSize: fileSize) != nil && fileSize >= self.fileSize(contentSize: contentSize)
  }

  // MARK: Blocks

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

  private func isInside(_ blocks: Range<Int>, bodySize: Int) -> Bool {
    blocks.lowerBound >= 0 && blocks.upperBound <= blockCount(bodySize: bodySize)
  }
}
