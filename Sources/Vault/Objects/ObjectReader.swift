import BlobStore
import Synchronization
import VaultCrypto
import VaultModel

/// One object, open for reading parts of it; only the blocks that a read touches are decrypted.
///
/// Stays readable when its file is renamed or removed. Safe to use from any thread.
package final class ObjectReader: Sendable {
  package let name: ObjectName
  let path: BlobPath
  private let blob: any BlobReader
  private let kind: ObjectKind
  private let keys: MemberKeys
  // Of the current epoch and, where the size leaves it open, layout, until the object turns out to be of another.
  private let cipher: Mutex<ObjectCipher>
  private let layout: ObjectLayout
  private let bodySize: Int
  private let buffers: BufferPool

  /// Reads nothing of the file yet: the header is part of what every block authenticates, and a read
  /// of it alone would cost a random read as much as the block itself.
  ///
  /// - Throws: `missing`; `damaged` when the file's size is none that such an object has.
  convenience init(
    name: ObjectName, kind: ObjectKind, path: BlobPath, store: any LocalStore, keys: MemberKeys,
    buffers: BufferPool
  ) throws(VaultError) {
    let blob = try storing { () throws(BlobStoreError) in try store.openForReading(path) }
    try self.init(
      name: name, kind: kind, path: path, blob: blob, keys: keys, buffers: buffers)
  }

  /// The same for a file that is open, or in memory.
  init(
    name: ObjectName, kind: ObjectKind, path: BlobPath, blob: any BlobReader, keys: MemberKeys,
    buffers: BufferPool
  ) throws(VaultError) {
    self.name = name
    self.path = path
    self.kind = kind
    self.keys = keys
    self.buffers = buffers
    self.blob = blob
    let fileSize = Int(clamping: blob.size)
    guard let layout = ObjectLayout.ofFile(size: fileSize, kind: kind),
      let bodySize = layout.bodySize(fileSize: fileSize),
      bodySize <= ObjectLayout.bodySize(contentSize: ObjectLayout.maximumContentSize(of: kind))
    else {
      throw .damaged(path: path.string, reason: "\(fileSize) bytes is no size of an object")
    }
    self.layout = layout
    self.bodySize = bodySize
    cipher = Mutex(keys.current.cipher(for: name, kind: kind, layout: layout))
  }

  /// False while the object is held in memory.
  var isOfFile: Bool { !(blob is HeldBlob) }

  /// The cipher that the object's header asks for.
  private func cipherOfHeader() throws(VaultError) -> ObjectCipher {
    let header = try ObjectHeader(reading: blob, path: path.string)
    guard header.kind == kind else {
      throw .damaged(path: path.string, reason: "it is another kind of object")
    }
    guard header.layout == layout || layout.blockCount(bodySize: bodySize) == 1 else {
      throw .damaged(path: path.string, reason: "its size is none that its blocks make")
    }
    guard let epoch = keys[header.keyID] else {
      throw .damaged(path: path.string, reason: "it is sealed with an unknown key")
    }
    return epoch.cipher(for: name, kind: kind, layout: header.layout)
  }

  /// Whether its file was removed, whose room on the disk this reader alone still takes.
  var isRemoved: Bool { blob.isRemoved }

  /// Says that the object will soon be read from its beginning.
  func willReadOn() { blob.readAhead() }

  /// Fills `target` with the content from `offset` on.
  ///
  /// What lies beyond the content's length reads as zeros up to the padded length; callers know the
  /// length from the record.
  ///
  /// - Returns: How many bytes were there; less than asked only at the end of the object.
  /// - Throws: `damaged` when a block that the range touches does not authenticate.
  package func read(
    at offset: Int, into target: UnsafeMutableRawBufferPointer
  ) throws(VaultError) -> Int {
    let available = bodySize - ObjectLayout.lengthSize - offset
    let count = min(target.count, available)
    guard count > 0, let start = target.baseAddress else { return 0 }
    var done = 0
    while done < count {
      // A megabyte at a time, so that the pooled buffers suffice.
      let from = offset + done
      let step = min(count - done, 1 << 20 - from % layout.blockSize)
      try readStep(from, UnsafeMutableRawBufferPointer(start: start + done, count: step))
      done += step
    }
    return count
  }

  private func readStep(
    _ offset: Int, _ target: UnsafeMutableRawBufferPointer
  ) throws(VaultError) {
    let blocks = layout.blocks(covering: offset..<(offset + target.count))
    let plainStart = blocks.lowerBound * layout.blockSize
    let plainCount = min(blocks.upperBound * layout.blockSize, bodySize) - plainStart
    let file = layout.fileRange(ofBlocks: blocks, bodySize: bodySize)
    let buffer = buffers.take()
    defer { buffers.put(buffer) }
    let sealed = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<file.count])
    let blob = self.blob
    let count = try storing { () throws(BlobStoreError) in
      try blob.read(at: UInt64(file.lowerBound), into: sealed)
    }
    guard count == file.count else {
      throw .damaged(path: path.string, reason: "it was cut short")
    }
    let isDirect = plainStart == offset && plainCount == target.count
    if isDirect {
      try open(blocks, sealed, into: target)
      return
    }
    let plain = self.buffers.take()
    defer { self.buffers.put(plain) }
    let opened = UnsafeMutableRawBufferPointer(rebasing: plain[0..<plainCount])
    try open(blocks, sealed, into: opened)
    let skipped = offset - plainStart
    target.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: opened[skipped..<(skipped + target.count)]))
  }

  private func open(
    _ blocks: Range<Int>, _ sealed: UnsafeMutableRawBufferPointer,
    into target: UnsafeMutableRawBufferPointer
  ) throws(VaultError) {
    let isLast = blocks.upperBound == layout.blockCount(bodySize: bodySize)
    let ciphertext = UnsafeRawBufferPointer(sealed)
    do throws(CryptoError) {
      let cipher = cipher.withLock { $0 }
      return try cipher.openBlocks(blocks, isLast: isLast, ciphertext: ciphertext, into: target)
    } catch {
      // Damaged, or sealed in another epoch: then the header says so.
      let other = try cipherOfHeader()
      do throws(CryptoError) {
        try other.openBlocks(blocks, isLast: isLast, ciphertext: ciphertext, into: target)
      } catch {
        throw VaultError(error, path: path.string)
      }
      cipher.withLock { $0 = other }
    }
  }
}

extension ObjectHeader {
  /// The header of an object's file.
  ///
  /// - Throws: `damaged` when it is none.
  init(reading blob: any BlobReader, path: String) throws(VaultError) {
    var bytes = [UInt8](repeating: 0, count: ObjectLayout.headerSize)
    let count = try storing { () throws(BlobStoreError) in try bytes.fill(from: blob, at: 0) }
    self = try bytes.withBytes { (bytes) throws(VaultError) in
      do throws(CryptoError) {
        return try ObjectHeader(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      } catch {
        throw VaultError(error, path: path)
      }
    }
  }
}
