/// Reads a regular file by its descriptor.
final class FileReader: BlobReader {
  let size: UInt64
  private let file: Descriptor
  private let path: String

  init(_ file: consuming Descriptor, path: String) throws(BlobStoreError) {
    size = try file.blobSize(path: path)
    self.file = file
    self.path = path
  }

  func read(
    at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(BlobStoreError) -> Int {
    try file.read(at: offset, into: buffer, path: path)
  }
}
