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

/// The body of an object that is about to be sealed: content, zeros, hashes, length, without putting them
/// together anywhere.
struct SealedBody {
  private let content: HashedContent
  private let paddedSize: Int
  private let hashesSize: Int
  let size: Int

  init(content: HashedContent) {
    self.content = content
    paddedSize = ObjectLayout.paddedSize(contentSize: content.bytes.count)
    hashesSize = ObjectLayout(of: content.kind).hashesSize(paddedSize: paddedSize)
    size = paddedSize + hashesSize + ObjectLayout.lengthSize
  }

  /// The bytes of `range`, at most a block, in up to four parts, each with its offset in `range`.
  func forEachPart(of range: Range<Int>, _ use: (UnsafeRawBufferPointer, _ offset: Int) -> Void) {
    /// The part of the bytes, which start at `start` in the body, that is in the range.
    func part(_ bytes: UnsafeRawBufferPointer, at start: Int) {
      let shared = range.clamped(to: start..<start + bytes.count)
      guard !shared.isEmpty else { return }
      let inBytes = shared.lowerBound - start..<shared.upperBound - start
      use(UnsafeRawBufferPointer(rebasing: bytes[inBytes]), shared.lowerBound - range.lowerBound)
    }
    part(content.bytes, at: 0)
    let inZeros = range.clamped(to: content.bytes.count..<paddedSize)
    if !inZeros.isEmpty { part(Zeros.bytes(inZeros.count), at: inZeros.lowerBound) }
    if hashesSize > 0 {
      content.blocks?.bytes.withUnsafeBytes { part($0, at: paddedSize) }
    }
    withUnsafeBytes(of: UInt64(content.bytes.count).bigEndian) {
      part($0, at: paddedSize + hashesSize)
    }
  }
}
