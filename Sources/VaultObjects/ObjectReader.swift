import BlobStore
import Threads
import VaultCrypto
import VaultErrors
import VaultModel

/// One chunk, open for reading parts of it; only the blocks that a read touches are decrypted, and each is checked
/// with its hash: whoever has the keys can seal other blocks, but not such that the name is theirs.
///
/// Stays readable when its file is renamed or removed. Safe to use from any thread.
final class ObjectReader: Sendable {
  let digest: ContentDigest
  let path: BlobPath
  private let place: ObjectPlace
  private let blob: any BlobReader
  private let bodySize: Int
  private let paddedSize: Int
  private let buffers: BufferPool
  /// Nil before the first read.
  private let opened = Guarded<Opened?>(nil)

  private static let layout = ObjectLayout(of: .chunk)

  /// What the blocks are opened and checked with.
  private struct Opened: Sendable {
    let cipher: ObjectCipher
    let hashes: BlockHashes
  }

  /// Reads nothing of the file yet.
  ///
  /// - Parameter path: Where the file is, which may be the staging folder.
  /// - Throws: `damaged` when the file's size is none that a chunk has.
  init(
    digest: ContentDigest, place: ObjectPlace, path: BlobPath, blob: any BlobReader,
    buffers: BufferPool
  ) throws(VaultError) {
    self.digest = digest
    self.place = place
    self.path = path
    self.buffers = buffers
    self.blob = blob
    let fileSize = Int(clamping: blob.size)
    guard fileSize <= ObjectLayout.largestFileSize(of: .chunk),
      let bodySize = Self.layout.bodySize(fileSize: fileSize)
    else {
      throw .damaged(path: path.string, reason: "\(fileSize) bytes is no size of an object")
    }
    self.bodySize = bodySize
    paddedSize = Self.layout.paddedSize(bodySize: bodySize)
  }

  /// Under which the object stands.
  var name: ObjectName { place.name }

  /// False while the object is held in memory.
  var isOfFile: Bool { !(blob is HeldBlob) }

  /// Whether its file was removed, whose room on the disk this reader alone still takes.
  var isRemoved: Bool { blob.isRemoved }

  /// Says that the object will soon be read from its beginning.
  func willReadOn() { blob.readAhead(0..<blob.size) }

  /// Reads what its blocks are checked with, for whoever will look something up in it.
  ///
  /// - Throws: `damaged`.
  func willLookUp() throws(VaultError) { _ = try prepare(for: 0..<0) }

  // MARK: Reading

  /// Fills `target` with the content from `offset` on.
  ///
  /// What lies beyond the content's length reads as zeros up to the padded length; callers know the
  /// length from the record.
  ///
  /// - Returns: How many bytes were there; less than asked only at the end of the object.
  /// - Throws: `damaged` when a block that the range touches is not the one that the name is of.
  func read(
    at offset: Int, into target: UnsafeMutableRawBufferPointer
  ) throws(VaultError) -> Int {
    guard 0..<paddedSize ~= offset, target.count > 0, let start = target.baseAddress else {
      return 0
    }
    let count = min(target.count, paddedSize - offset)
    let opened = try prepare(for: offset..<offset + count)
    var done = 0
    while done < count {
      // A megabyte at a time, so that the pooled buffers suffice.
      let from = offset + done
      let step = min(count - done, 1 << 20 - from % Self.layout.blockSize)
      try readStep(from, UnsafeMutableRawBufferPointer(start: start + done, count: step), opened)
      done += step
    }
    return count
  }

  private func readStep(
    _ offset: Int, _ target: UnsafeMutableRawBufferPointer, _ opened: Opened
  ) throws(VaultError) {
    let blocks = Self.layout.blocks(covering: offset..<(offset + target.count))
    let body = Self.layout.bodyRange(ofBlocks: blocks, bodySize: bodySize)
    if body == offset..<offset + target.count, body.upperBound <= paddedSize {
      try open(blocks, opened, into: target)
      return
    }
    let plain = buffers.take()
    defer { buffers.put(plain) }
    let bytes = UnsafeMutableRawBufferPointer(rebasing: plain[..<body.count])
    try open(blocks, opened, into: bytes)
    let skipped = offset - body.lowerBound
    target.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: bytes[skipped..<(skipped + target.count)]))
  }

  private static let otherContent: Flaw = "somebody with the keys has put other content there"

  /// How many blocks are opened before they are checked: what was just opened is still in the processor's first cache.
  private static let groupSize = 4

  /// Opens these blocks of the body, the last of which may end behind the content and zeros, and checks them.
  private func open(
    _ blocks: Range<Int>, _ opened: Opened, into target: UnsafeMutableRawBufferPointer
  ) throws(VaultError) {
    let sealed = buffers.take()
    defer { buffers.put(sealed) }
    let ciphertext = try fill(sealed, withBlocks: blocks)
    for first in stride(from: blocks.lowerBound, to: blocks.upperBound, by: Self.groupSize) {
      let group = first..<min(first + Self.groupSize, blocks.upperBound)
      let position = first - blocks.lowerBound
      let plain = UnsafeMutableRawBufferPointer(
        rebasing: target[(position * Self.layout.blockSize)...].prefix(
          group.count * Self.layout.blockSize))
      let start = position * Self.layout.sealedBlockSize
      let size = min(group.count * Self.layout.sealedBlockSize, ciphertext.count - start)
      try decrypt(
        group, UnsafeRawBufferPointer(rebasing: ciphertext[start..<start + size]),
        with: opened.cipher, into: plain)
      let content = plain.prefix(paddedSize - first * Self.layout.blockSize)
      guard opened.hashes.match(UnsafeRawBufferPointer(rebasing: content), first: first) else {
        throw .damaged(path: path.string, reason: Self.otherContent)
      }
    }
  }

  /// Reads these blocks as the file has them, into the beginning of `buffer`.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  private func fill(
    _ buffer: UnsafeMutableRawBufferPointer, withBlocks blocks: Range<Int>
  ) throws(VaultError) -> UnsafeRawBufferPointer {
    let file = Self.layout.fileRange(ofBlocks: blocks, bodySize: bodySize)
    let sealed = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<file.count])
    let blob = self.blob
    let count = try storing(blob.read(at: UInt64(file.lowerBound), into: sealed))
    guard count == file.count else {
      throw .damaged(path: path.string, reason: "it was cut short")
    }
    return UnsafeRawBufferPointer(sealed)
  }

  private func decrypt(
    _ blocks: Range<Int>, _ ciphertext: UnsafeRawBufferPointer, with cipher: ObjectCipher,
    into target: UnsafeMutableRawBufferPointer
  ) throws(VaultError) {
    do {
      try cipher.openBlocks(
        blocks, isLast: blocks.upperBound == Self.layout.blockCount(bodySize: bodySize),
        ciphertext: ciphertext, into: target)
    } catch {
      throw VaultError(error, path: path.string)
    }
  }

  // MARK: Opening

  /// Reads what the blocks are checked with, once: the end of the body, where the hashes and the length stand. Of one
  /// block, that block and the length.
  ///
  /// - Parameter range: What will be read of the content next: the disk may fetch it meanwhile.
  private func prepare(for range: Range<Int>) throws(VaultError) -> Opened {
    if let known = opened.withLock({ $0 }) { return known }
    let first = paddedSize > Self.layout.blockSize ? paddedSize / Self.layout.blockSize : 0
    let blocks = first..<Self.layout.blockCount(bodySize: bodySize)
    let wanted = Self.layout.blocks(covering: range)
    if wanted.lowerBound < first {
      let file = Self.layout.fileRange(ofBlocks: wanted, bodySize: bodySize)
      blob.readAhead(UInt64(file.lowerBound)..<UInt64(file.upperBound))
    }
    let body = Self.layout.bodyRange(ofBlocks: blocks, bodySize: bodySize)
    let cipher = place.keys.cipher(for: place.name, kind: .chunk)
    let hashes = try withUnsafeTemporaryAllocation(byteCount: body.count, alignment: 16) {
      (end) throws(VaultError) in
      let sealed = buffers.take()
      defer { buffers.put(sealed) }
      let ciphertext = try fill(sealed, withBlocks: blocks)
      try decrypt(blocks, ciphertext, with: cipher, into: end)
      return try storedHashes(in: UnsafeRawBufferPointer(end), from: body.lowerBound)
    }
    guard hashes.digest == digest else {
      throw .damaged(path: path.string, reason: Self.otherContent)
    }
    let found = Opened(cipher: cipher, hashes: hashes)
    opened.withLock { $0 = found }
    return found
  }

  /// What the end of the body says of the blocks; `start` is where it begins in the body.
  private func storedHashes(
    in end: UnsafeRawBufferPointer, from start: Int
  ) throws(VaultError) -> BlockHashes {
    let lengthStart = end.count - ObjectLayout.lengthSize
    let contentSize: Int
    do {
      contentSize = try ObjectCipher.contentSize(
        end: UnsafeRawBufferPointer(rebasing: end[lengthStart...]), bodySize: bodySize,
        layout: Self.layout)
    } catch {
      throw VaultError(error, path: path.string)
    }
    if start == 0 {
      return BlockHashes(of: UnsafeRawBufferPointer(rebasing: end[..<contentSize]))
    }
    let stored = Array(end[(paddedSize - start)..<lengthStart])
    guard let hashes = BlockHashes(contentSize: contentSize, bytes: stored) else {
      preconditionFailure("as many hashes as a body of this size has")
    }
    return hashes
  }
}

extension ObjectHeader {
  /// The header of an object's file.
  ///
  /// - Throws: `damaged` when it is none.
  static func load(from blob: any BlobReader, path: String) throws(VaultError) -> ObjectHeader {
    var bytes = [UInt8](repeating: 0, count: ObjectLayout.headerSize)
    let count = try storing(bytes.fill(from: blob, at: 0))
    return try bytes.withBytes { (bytes) throws(VaultError) in
      do throws(CryptoError) {
        return try ObjectHeader(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      } catch {
        throw VaultError(error, path: path)
      }
    }
  }
}

extension [UInt8] {
  /// Fills this array from the blob.
  ///
  /// - Returns: How many bytes were there.
  fileprivate mutating func fill(
    from blob: any BlobReader, at offset: UInt64
  ) throws(BlobStoreError) -> Int {
    try withUnsafeMutableBufferPointer { (bytes) throws(BlobStoreError) in
      try blob.read(at: offset, into: UnsafeMutableRawBufferPointer(bytes))
    }
  }
}
