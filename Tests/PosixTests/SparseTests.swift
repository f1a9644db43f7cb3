import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// Holes, truncation and preallocation.
@Suite struct SparseTests {
  @Test(arguments: Place.all)
  func readsAHoleAsZeros(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let file = try OpenFile.create(path)
      try file.write([1], at: 5_000_000)
      #expect(try file.status().st_size == 5_000_001)
      expectSame(try path.contents(), [UInt8](repeating: 0, count: 5_000_000) + [1])
    }
  }

  @Test(arguments: Place.all)
  func keepsAVeryLargeSparseFile(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let far = 20 << 30
      let file = try OpenFile.create(path)
      try file.write([1, 2, 3], at: far)
      try file.write([4, 5], at: 7 << 30)
      try file.sync()
      #expect(try path.status().st_size == far + 3)
      let again = try OpenFile(path, O_RDONLY)
      expectSame(try again.read(at: far - 2, count: 10), [0, 0, 1, 2, 3])
      expectSame(try again.read(at: (7 << 30) - 1, count: 4), [0, 4, 5, 0])
      // A hole costs nothing: far less than a thousandth of its size.
      #expect(try path.status().st_blocks < (far / 512) / 1000)
    }
  }

  @Test(
    arguments: Place.all,
    [0, 1, 4095, 4096, 4097, 16383, 16384, 16385, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
  func showsNothingOfWhatWasCutOff(place: Place, size: Int) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(1_500_000)
      try path.write(bytes)
      try path.truncate(to: size)
      expectSame(try path.contents(), Array(bytes[..<size]))
      try path.truncate(to: 2_000_000)
      let wanted = Array(bytes[..<size]) + [UInt8](repeating: 0, count: 2_000_000 - size)
      expectSame(try path.contents(), wanted)
    }
  }

  @Test(arguments: Place.all)
  func preallocates(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let file = try OpenFile.create(path)
      try file.write("content")
      try file.allocate(0, at: 0, count: 100_000)
      #expect(try file.status().st_size == 100_000)
      expectSame(try file.read(at: 0, count: 9), Array("content\0\0".utf8))
      try file.allocate(PX_FALLOC_KEEP_SIZE, at: 0, count: 3_000_000)
      #expect(try file.status().st_size == 100_000)
      #expect(throws: Errno.invalidArgument) { try file.allocate(0, at: 0, count: 0) }
      #expect(throws: Errno.badFileDescriptor) {
        try OpenFile(path, O_RDONLY).allocate(0, at: 0, count: 10)
      }
    }
  }

  @Test(arguments: Place.all)
  func punchesHoles(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      var bytes = SeededRandom.bytes(3 << 20)
      try path.write(bytes)
      let file = try OpenFile(path, O_RDWR)
      let mode = PX_FALLOC_PUNCH_HOLE | PX_FALLOC_KEEP_SIZE
      for (offset, count) in [(10, 5), (4000, 200), (1_000_000, 1_200_000), (3_000_000, 5_000_000)]
      {
        try file.allocate(mode, at: offset, count: count)
        let hole = offset..<min(offset + count, bytes.count)
        bytes.replaceSubrange(hole, with: repeatElement(0, count: hole.count))
      }
      expectSame(try path.contents(), bytes)
      #expect(try path.status().st_size == 3 << 20)
    }
  }

  /// Modes that Linux file systems need not have: right, or refused, never wrong.
  @Test(
    arguments: Place.all,
    [PX_FALLOC_ZERO_RANGE, PX_FALLOC_COLLAPSE_RANGE, PX_FALLOC_INSERT_RANGE])
  func zeroesMovesOrRefuses(place: Place, mode: Int) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(1 << 20)
      try path.write(bytes)
      let file = try OpenFile(path, O_RDWR)
      let zeros = [UInt8](repeating: 0, count: 16384)
      do {
        try file.allocate(mode, at: 16384, count: 16384)
      } catch let error as Errno {
        #expect(error == .notSupportedOnSocket)
        expectSame(try path.contents(), bytes)
        return
      }
      let start = Array(bytes[..<16384])
      switch mode {
      case PX_FALLOC_ZERO_RANGE:
        expectSame(try path.contents(), start + zeros + bytes[32768...])
      case PX_FALLOC_COLLAPSE_RANGE:
        expectSame(try path.contents(), start + bytes[32768...])
      default:
        expectSame(try path.contents(), start + zeros + bytes[16384...])
      }
    }
  }

  @Test(arguments: Place.all)
  func findsDataAndHoles(place: Place) throws {
    try place.withFolder { folder in
      let file = try OpenFile.create(folder.appending("file"))
      let size = 8 << 20
      try file.truncate(to: size)
      try file.write([1], at: 3 << 20)
      try file.sync()
      // All data must be found; how exactly holes are told is the file system's business.
      let data = try Errno.check(px_seek_data(file.descriptor, 0))
      #expect(data <= 3 << 20)
      let hole = try Errno.check(px_seek_hole(file.descriptor, 3 << 20))
      #expect(hole > 3 << 20 && hole <= size)
      #expect(try Errno.check(px_seek_data(file.descriptor, 3 << 20)) == 3 << 20)
      #expect(throws: Errno.noSuchAddressOrDevice) {
        try Errno.check(px_seek_data(file.descriptor, Int64(size)))
      }
      let full = try OpenFile.create(folder.appending("full"))
      try full.append(SeededRandom.bytes(100_000))
      #expect(try Errno.check(px_seek_hole(full.descriptor, 0)) == 100_000)
      #expect(try Errno.check(px_seek_data(full.descriptor, 99_999)) == 99_999)
    }
  }

  @Test(arguments: Place.all)
  func refusesNegativeAndAbsurdSizes(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      #expect(throws: Errno.invalidArgument) { try path.truncate(to: -1) }
      #expect(throws: (any Error).self) { try path.truncate(to: Int.max) }
      #expect(try path.text() == "x")
      #expect(throws: Errno.isDirectory) { try folder.truncate(to: 0) }
    }
  }

  // Not on the plain folder: ext4 takes all the room there is before it says that there is none.
  @Test(arguments: Place.mounted)
  func allocatesNoMoreThanThereIs(place: Place) throws {
    try place.withFolder { folder in
      let file = try OpenFile.create(folder.appending("file"))
      try file.write("x")
      #expect(throws: Errno.noSpace) { try file.allocate(0, at: 0, count: 1 << 42) }
      #expect(try file.text() == "x")
      try file.allocate(0, at: 0, count: 100_000)
      #expect(try file.status().st_size == 100_000)
    }
  }
}
