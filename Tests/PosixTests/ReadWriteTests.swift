import Glibc
import Places
import SystemPackage
import Testing

/// Contents: whatever is written, at whatever place, is read again, by this handle, by another, and after a new opening.
@Suite struct ReadWriteTests {
  /// Around the sizes at which a block, a page and a chunk end.
  static let boundaries = [4096, 16384, 65536, 1 << 20, 2 << 20]

  static let sizes: [Int] = [0, 1, 2, 100] + boundaries.flatMap { [$0 - 1, $0, $0 + 1] }

  @Test(arguments: Place.all, sizes)
  func keepsEverySize(place: Place, size: Int) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(size, seed: UInt64(size))
      let file = try OpenFile.create(path)
      try file.append(bytes)
      expectSame(try file.contents(), bytes)
      #expect(try path.status().st_size == size)
      expectSame(try path.contents(), bytes)
      try file.sync()
      expectSame(try path.contents(), bytes)
    }
  }

  @Test(arguments: Place.all, boundaries)
  func overwritesAcrossABoundary(place: Place, boundary: Int) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      var expected = SeededRandom.bytes(3 << 20)
      try path.write(expected)
      for (number, start) in [boundary - 1, boundary, boundary + 1, boundary - 3].enumerated() {
        for count in [1, 2, 5, 4096, 20_000] {
          let patch = SeededRandom.bytes(count, seed: UInt64(number * 100 + count))
          let file = try OpenFile(path, O_RDWR)
          try file.write(patch, at: start)
          expected.replaceSubrange(start..<start + count, with: patch)
          expectSame(
            try file.read(at: start - 1, count: count + 2),
            Array(expected[(start - 1)...start + count]))
        }
      }
      expectSame(try path.contents(), expected)
    }
  }

  @Test(arguments: Place.all)
  func writesInOddPiecesAsOneStream(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(2_500_000)
      let file = try OpenFile.create(path)
      var offset = 0
      while offset < bytes.count {
        let end = min(offset + 7919, bytes.count)
        try file.append(Array(bytes[offset..<end]))
        offset = end
      }
      expectSame(try path.contents(), bytes)
    }
  }

  @Test(arguments: Place.all)
  func readsNothingBehindTheEnd(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("12345")
      let file = try OpenFile(path, O_RDONLY)
      expectSame(try file.read(at: 5, count: 10), [])
      expectSame(try file.read(at: 5_000_000, count: 10), [])
      expectSame(try file.read(at: 4, count: 10), [UInt8(ascii: "5")])
    }
  }

  @Test(arguments: Place.all)
  func showsAWriteToEveryOtherHandleAtOnce(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let writer = try OpenFile.create(path)
      let reader = try OpenFile(path, O_RDONLY)
      for number in 0..<50 {
        let line = Array("line \(number)\n".utf8)
        let end = try Int(reader.status().st_size)
        try writer.write(line, at: end)
        expectSame(try reader.read(at: end, count: 100), line)
      }
    }
  }

  @Test(arguments: Place.all)
  func writesAndReadsVectors(place: Place) throws {
    try place.withFolder { folder in
      let file = try OpenFile.create(folder.appending("file"))
      var first = SeededRandom.bytes(5000, seed: 1)
      var second = SeededRandom.bytes(70_000, seed: 2)
      let written = first.withUnsafeMutableBytes { first in
        second.withUnsafeMutableBytes { second in
          let vectors = [
            iovec(iov_base: first.baseAddress, iov_len: first.count),
            iovec(iov_base: second.baseAddress, iov_len: second.count),
          ]
          return pwritev(file.descriptor, vectors, 2, 10)
        }
      }
      #expect(try Errno.check(written) == 75_000)
      expectSame(try file.contents(), [UInt8](repeating: 0, count: 10) + first + second)
    }
  }

  /// Random calls against an array in memory, as fsx does; the seed is in the test's name.
  @Test(arguments: Place.all, [1, 2, 3, 4, 5, 6] as [UInt64])
  func agreesWithAModel(place: Place, seed: UInt64) throws {
    try place.withFolder { folder in
      var random = SeededRandom(seed: seed)
      let model = try FileModel(path: folder.appending("file"))
      for step in 0..<250 {
        try model.performRandomStep(&random)
        if step % 50 == 49 { try model.compareWhole() }
      }
      try model.compareWhole()
    }
  }

  /// Where a mapping or a page cache could come between: the same with a second handle and reopening at each step.
  @Test(arguments: Place.all, [11, 12] as [UInt64])
  func agreesWithAModelWhenReopenedOften(place: Place, seed: UInt64) throws {
    try place.withFolder { folder in
      var random = SeededRandom(seed: seed)
      let model = try FileModel(path: folder.appending("file"))
      for _ in 0..<60 {
        try model.performRandomStep(&random)
        try model.reopen()
        try model.compareWhole()
      }
    }
  }
}
