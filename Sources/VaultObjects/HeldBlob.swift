import BlobStore

/// A small sealed object in memory, read like a file of the store.
final class HeldBlob: BlobReader {
  private let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  var size: UInt64 { UInt64(bytes.count) }
  var isRemoved: Bool { false }

  func read(
    at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(BlobStoreError) -> Int {
    guard offset < size else { return 0 }
    let part = bytes[Int(offset)...].prefix(buffer.count)
    buffer.copyBytes(from: part)
    return part.count
  }
}
