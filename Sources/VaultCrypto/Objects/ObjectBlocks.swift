import VaultModel

/// The blocks of one object as messages of its cipher: nonce ⊕ index, and additional data that says
/// which block is the last. Docs/Format.md, "6. Objects". Must not outlive the call that lent it.
struct BlockMessages {
  let cipher: KeyedCipher
  private let baseNonce: UnsafeRawPointer
  /// Nonce, then additional data.
  private let scratch: UnsafeMutableRawBufferPointer

  static let scratchSize = GCM.nonceSize + ObjectLayout.headerSize + 1

  init(
    cipher: KeyedCipher, nonce: UnsafeRawPointer, header: UnsafeRawPointer,
    scratch: UnsafeMutableRawBufferPointer
  ) {
    self.cipher = cipher
    baseNonce = nonce
    self.scratch = scratch
    let start = scratch.baseAddress!
    start.copyMemory(from: nonce, byteCount: GCM.nonceSize)
    (start + GCM.nonceSize).copyMemory(from: header, byteCount: ObjectLayout.headerSize)
  }

  func start(block: Int, isLast: Bool) {
    // Of the index as 12 bytes, the first four are zero.
    let lowerNonce = baseNonce.loadUnaligned(fromByteOffset: 4, as: UInt64.self)
    scratch.storeBytes(
      of: lowerNonce ^ UInt64(block).bigEndian, toByteOffset: 4, as: UInt64.self)
    scratch[Self.scratchSize - 1] = isLast ? 1 : 0
    cipher.start(
      nonce: scratch.baseAddress!,
      additionalData: UnsafeRawBufferPointer(
        rebasing: scratch[GCM.nonceSize..<Self.scratchSize]))
  }
}

/// The body of an object that is about to be sealed: content, zeros, length, without putting them
/// together anywhere.
struct SealedBody {
  let content: UnsafeRawBufferPointer
  let size: Int

  init(content: UnsafeRawBufferPointer) {
    self.content = content
    size = ObjectLayout.bodySize(contentSize: content.count)
  }

  /// The bytes of `range`, at most a block, in up to three parts, each with its offset in `range`.
  func forEachPart(of range: Range<Int>, _ use: (UnsafeRawBufferPointer, _ offset: Int) -> Void) {
    let lengthOffset = size - ObjectLayout.lengthSize
    let inContent = range.clamped(to: 0..<content.count)
    if !inContent.isEmpty {
      use(UnsafeRawBufferPointer(rebasing: content[inContent]), 0)
    }
    let inZeros = range.clamped(to: content.count..<lengthOffset)
    if !inZeros.isEmpty {
      use(
        UnsafeRawBufferPointer(rebasing: Self.zeros[..<inZeros.count]),
        inZeros.lowerBound - range.lowerBound)
    }
    let inLength = range.clamped(to: lengthOffset..<size)
    if !inLength.isEmpty {
      withUnsafeBytes(of: UInt64(content.count).bigEndian) { length in
        let part = inLength.lowerBound - lengthOffset..<inLength.upperBound - lengthOffset
        use(
          UnsafeRawBufferPointer(rebasing: length[part]), inLength.lowerBound - range.lowerBound)
      }
    }
  }

  /// As many zeros as the largest block, never written and never freed.
  private nonisolated(unsafe) static let zeros: UnsafeRawBufferPointer = {
    let zeros = UnsafeMutableRawBufferPointer.allocate(
      byteCount: ObjectLayout.blocksOf16KiB.blockSize, alignment: 16)
    zeros.initializeMemory(as: UInt8.self, repeating: 0)
    return UnsafeRawBufferPointer(zeros)
  }()
}
