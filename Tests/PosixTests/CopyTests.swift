import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// copy_file_range(2) and sendfile(2): copies that do not pass through the program.
@Suite struct CopyTests {
  /// Offsets and counts around blocks and chunks: source, target, bytes.
  static let pieces = [
    (0, 0, 3_000_000), (1 << 20, 1 << 20, 1 << 20), (0, 1 << 20, 1 << 20), (1 << 20, 0, 2 << 20),
    (5, 7, 100_000), ((1 << 20) - 1, 4096, (1 << 20) + 2), (2_999_999, 0, 1),
  ]

  @Test(arguments: Place.all, pieces)
  func copiesARange(place: Place, piece: (Int, Int, Int)) throws {
    let (from, to, count) = piece
    try place.withFolder { folder in
      let source = SeededRandom.bytes(3_000_000, seed: 1)
      var expected = SeededRandom.bytes(1_500_000, seed: 2)
      try folder.appending("source").write(source)
      try folder.appending("target").write(expected)
      let target = try OpenFile(folder.appending("target"), O_RDWR)
      let copied = try Self.copy(
        OpenFile(folder.appending("source"), O_RDONLY), at: from, to: target, at: to, count: count)

      let end = min(from + count, source.count)
      #expect(copied == end - from)
      if to + copied > expected.count {
        expected += [UInt8](repeating: 0, count: to + copied - expected.count)
      }
      expected.replaceSubrange(to..<to + copied, with: source[from..<end])
      expectSame(try target.contents(), expected)
      try target.sync()
      expectSame(try folder.appending("target").contents(), expected)
      expectSame(try folder.appending("source").contents(), source)
    }
  }

  @Test(arguments: Place.all)
  func leavesTheCopyIndependent(place: Place) throws {
    try place.withFolder { folder in
      let (first, second) = (folder.appending("first"), folder.appending("second"))
      var bytes = SeededRandom.bytes(2_200_000)
      try first.write(bytes)
      let copy = try OpenFile.create(second)
      #expect(
        try Self.copy(OpenFile(first, O_RDONLY), at: 0, to: copy, at: 0, count: 5_000_000)
          == bytes.count)
      try OpenFile(first, O_RDWR).write([9, 9, 9], at: 1_048_575)
      expectSame(try second.contents(), bytes)
      bytes.replaceSubrange(1_048_575..<1_048_578, with: [9, 9, 9])
      try second.unlink()
      expectSame(try first.contents(), bytes)
    }
  }

  @Test(arguments: Place.all)
  func copiesWithinOneFile(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(1_200_000)
      try path.write(bytes)
      let file = try OpenFile(path, O_RDWR)
      #expect(try Self.copy(file, at: 0, to: file, at: 1_200_000, count: 1_200_000) == 1_200_000)
      expectSame(try path.contents(), bytes + bytes)
      #expect(throws: Errno.invalidArgument) {
        try Errno.check(px_copy_file_range(file.descriptor, 0, file.descriptor, 100, 1000))
      }
    }
  }

  @Test(arguments: Place.all)
  func copiesWhatWasJustWritten(place: Place) throws {
    try place.withFolder { folder in
      let source = try OpenFile.create(folder.appending("source"))
      let target = try OpenFile.create(folder.appending("target"))
      try source.write("not yet closed")
      #expect(try Self.copy(source, at: 0, to: target, at: 0, count: 100) == 14)
      #expect(try target.text() == "not yet closed")
      #expect(px_copy_file_range(source.descriptor, 14, target.descriptor, 0, 100) == 0)
    }
  }

  @Test(arguments: Place.all)
  func sendsAFile(place: Place) throws {
    try place.withFolder { folder in
      let bytes = SeededRandom.bytes(300_000)
      try folder.appending("source").write(bytes)
      let source = try OpenFile(folder.appending("source"), O_RDONLY)
      let target = try OpenFile.create(folder.appending("target"))
      var sent = 0
      while case let part = try Errno.check(
        sendfile(target.descriptor, source.descriptor, nil, 1 << 20)),
        part > 0
      {
        sent += part
      }
      #expect(sent == bytes.count)
      expectSame(try target.contents(), bytes)
    }
  }

  private static func copy(
    _ source: OpenFile, at from: Int, to target: OpenFile, at to: Int, count: Int
  ) throws -> Int {
    var done = 0
    while done < count {
      let part = try Errno.check(
        px_copy_file_range(
          source.descriptor, Int64(from + done), target.descriptor, Int64(to + done), count - done))
      if part == 0 { break }
      done += part
    }
    return done
  }
}
