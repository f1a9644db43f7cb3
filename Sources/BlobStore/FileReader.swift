import Glibc
import Synchronization

/// Reads a regular file by its descriptor.
final class FileReader: BlobReader {
  let size: UInt64
  private let file: Descriptor
  private let path: String
  private let hasToldKernel = Atomic<Bool>(false)

  /// Reads of fewer bytes than this, in the middle of the file, are someone looking something up.
  private static let lookupSize = 64 << 10
  private static let usualReadahead = 128 << 10

  init(_ file: consuming Descriptor, path: String) throws(BlobStoreError) {
    size = try file.blobSize(path: path)
    self.file = file
    self.path = path
  }

  func read(
    at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(BlobStoreError) -> Int {
    if offset > 0, buffer.count < Self.lookupSize, !reachesEnd(offset, buffer.count) {
      expectLookups()
    }
    return try file.read(at: offset, into: buffer, path: path)
  }

  /// Who reads the end of a file first reads what stands there of the rest, and looks nothing up.
  private func reachesEnd(_ offset: UInt64, _ count: Int) -> Bool {
    offset >= size || size - offset <= UInt64(count)
  }

  var isRemoved: Bool {
    do { return try file.status(path: path).st_nlink == 0 } catch {
      // Whoever reads it is told what is wrong.
      return false
    }
  }

  func readAhead(_ range: Range<UInt64>) {
    // The kernel takes no more at a time than its own readahead is large.
    let end = off_t(clamping: range.upperBound)
    for offset in stride(from: off_t(clamping: range.lowerBound), to: end, by: Self.usualReadahead)
    {
      let count = min(Self.usualReadahead, Int(end - offset))
      _ = posix_fadvise(file.number, offset, off_t(count), POSIX_FADV_WILLNEED)
    }
  }

  /// Has the kernel read what is asked for and no more: its readahead would fetch several times as much from the disk
  /// before the read returns. Larger reads are whole requests to the disk either way.
  private func expectLookups() {
    guard !hasToldKernel.load(ordering: .relaxed) else { return }
    hasToldKernel.store(true, ordering: .relaxed)
    // Advice only: a file system that knows none reads as it likes.
    _ = posix_fadvise(file.number, 0, 0, POSIX_FADV_RANDOM)
  }
}
