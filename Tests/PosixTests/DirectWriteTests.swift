import CPosix
import Glibc
import Places
import Synchronization
import SystemPackage
import Testing

/// Writes past the page cache, beside programs that read through it.
@Suite struct DirectWriteTests {
  /// How a program writes past the cache.
  enum Way: CaseIterable, Sendable {
    /// `O_DIRECT`, waiting for the end in another call than the one that began it.
    case asynchronous
    case synchronous
    /// Through a descriptor that cannot read, which some file systems do not cache.
    case writeOnly

    var flags: Int32 {
      switch self {
      case .asynchronous, .synchronous: O_RDWR | px_o_direct
      case .writeOnly: O_WRONLY
      }
    }
  }

  private static let blockSize = 4096
  private static let blockCount = 16

  /// When a write has ended, whoever reads sees it, and no older bytes ever again.
  @Test(arguments: Place.all, Way.allCases)
  func whatWasWrittenIsReadByOthers(place: Place, way: Way) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write([UInt8](repeating: 0, count: Self.blockSize * Self.blockCount))
      let isDone = Atomic(0)
      let writerCount = 4
      try concurrently(writerCount + 3) { thread in
        if thread < writerCount {
          defer { isDone.add(1, ordering: .acquiringAndReleasing) }
          for round in 1...250 {
            let block = thread + writerCount * (round % (Self.blockCount / writerCount))
            try Self.write(UInt8(round), to: block, of: path, way)
          }
        } else {
          let reader = try OpenFile(path, O_RDONLY)
          while isDone.load(ordering: .acquiring) < writerCount {
            _ = try reader.read(at: 0, count: Self.blockSize * Self.blockCount)
          }
        }
      }
    }
  }

  /// A large write is cut into parts on its way.
  @Test(arguments: Place.all, [O_RDWR | px_o_direct, O_WRONLY])
  func keepsTheOrderOfALargeAppend(place: Place, flags: Int32) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(16 << 20)
      try path.write([UInt8]())
      let file = try OpenFile(path, flags | O_APPEND)
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 4096)
      defer { memory.deallocate() }
      memory.copyBytes(from: bytes)
      for _ in 0..<2 {
        let count = px_write_asynchronously(file.descriptor, memory.baseAddress, bytes.count, 0)
        #expect(try Errno.check(count) == bytes.count)
      }
      expectSame(try path.contents(), bytes + bytes)
    }
  }

  /// Writes a block, and reads it through the cache.
  private static func write(
    _ value: UInt8, to block: Int, of path: FilePath, _ way: Way
  ) throws {
    let file = try OpenFile(path, way.flags)
    let reader = try OpenFile(path, O_RDONLY)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 4096)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: value)
    let offset = block * blockSize
    let count =
      way == .asynchronous
      ? px_write_asynchronously(file.descriptor, memory.baseAddress, blockSize, Int64(offset))
      : pwrite(file.descriptor, memory.baseAddress, blockSize, off_t(offset))
    guard try Errno.check(count) == blockSize else { throw Errno.ioError }
    let found = try reader.read(at: offset, count: blockSize)
    guard found.allSatisfy({ $0 == value }) else {
      throw StaleBytes(block: block, written: value, found: Set(found).sorted())
    }
  }

  private struct StaleBytes: Error {
    var block: Int
    var written: UInt8
    var found: [UInt8]
  }
}
