import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// mmap(2): programs from SQLite to `git` and image viewers read, and some write, through it.
@Suite struct MapTests {
  @Test(arguments: Place.all)
  func readsThroughAMapping(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(2_500_000)
      try path.write(bytes)
      for kind in [MAP_SHARED, MAP_PRIVATE] {
        let map = try FileMap(OpenFile(path, O_RDONLY), count: bytes.count, PROT_READ, kind)
        expectSame(Array(map.bytes), bytes)
      }
    }
  }

  @Test(arguments: Place.all)
  func writesThroughASharedMapping(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      var bytes = SeededRandom.bytes(2_500_000)
      try path.write(bytes)
      let file = try OpenFile(path, O_RDWR)
      do {
        let map = try FileMap(file, count: bytes.count, PROT_READ | PROT_WRITE, MAP_SHARED)
        for offset in [0, 4095, 4096, 16384, (1 << 20) - 1, 1 << 20, 2_499_999] {
          map.bytes[offset] ^= 0xff
          bytes[offset] ^= 0xff
        }
        try map.sync()
        expectSame(try path.contents(), bytes)
        expectSame(try file.contents(), bytes)
        // Without msync: it is on disk at the latest after fsync.
        map.bytes[77] = 1
        bytes[77] = 1
      }
      try file.sync()
      expectSame(try path.contents(), bytes)
    }
  }

  @Test(arguments: Place.all)
  func showsWritesInAMapping(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write([UInt8](repeating: 7, count: 1_200_000))
      let file = try OpenFile(path, O_RDWR)
      let map = try FileMap(file, count: 1_200_000, PROT_READ, MAP_SHARED)
      for offset in [0, 5000, (1 << 20) - 1, (1 << 20) + 5] {
        #expect(map.bytes[offset] == 7)
        try OpenFile(path, O_RDWR).write([8], at: offset)
        #expect(map.bytes[offset] == 8)
      }
    }
  }

  @Test(arguments: Place.all)
  func keepsAPrivateMappingPrivate(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(50_000)
      try path.write(bytes)
      let map = try FileMap(
        OpenFile(path, O_RDONLY), count: bytes.count, PROT_READ | PROT_WRITE, MAP_PRIVATE)
      map.bytes[10] ^= 0xff
      try map.sync()
      expectSame(try path.contents(), bytes)
    }
  }

  @Test(arguments: Place.all)
  func outlivesTheNameAndTheHandle(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(1_100_000)
      try path.write(bytes)
      let map = try FileMap(
        OpenFile(path, O_RDWR), count: bytes.count, PROT_READ | PROT_WRITE, MAP_SHARED)
      try path.unlink()
      try path.write("another")
      expectSame(Array(map.bytes), bytes)
      map.bytes[0] = 1
      try map.sync()
      #expect(try path.text() == "another")
    }
  }

  @Test(arguments: Place.all)
  func mapsTheGrownPartOfAFile(place: Place) throws {
    try place.withFolder { folder in
      let file = try OpenFile.create(folder.appending("file"))
      try file.truncate(to: 3 << 20)
      let map = try FileMap(file, count: 3 << 20, PROT_READ | PROT_WRITE, MAP_SHARED)
      expectSame(Array(map.bytes), [UInt8](repeating: 0, count: 3 << 20))
      map.bytes[(2 << 20) + 1] = 9
      try map.sync()
      expectSame(try file.read(at: 2 << 20, count: 3), [0, 9, 0])
    }
  }

  /// Whoever copies a file passes over its holes.
  @Test(arguments: Place.all)
  func saysThatWhatAMappingHoldsIsData(place: Place) throws {
    try place.withFolder { folder in
      let file = try OpenFile.create(folder.appending("file"))
      try file.truncate(to: 3 << 20)
      try file.sync()
      let map = try FileMap(file, count: 3 << 20, PROT_READ | PROT_WRITE, MAP_SHARED)
      map.bytes[(1 << 20) + 5] = 9
      let data = try Errno.check(px_seek_data(file.descriptor, 0))
      #expect(data <= (1 << 20) + 5)
      let hole = try Errno.check(px_seek_hole(file.descriptor, Int64(data)))
      #expect(hole > (1 << 20) + 5)
      #expect(map.bytes[(1 << 20) + 5] == 9)
    }
  }

  @Test(arguments: Place.all)
  func sharesAMappingBetweenProcesses(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write([UInt8](repeating: 0, count: 8192))
      let other = try RunningCommand(
        Command([
          "python3", "-uc",
          """
          import mmap, sys
          with open(sys.argv[1], "r+b") as file, mmap.mmap(file.fileno(), 0) as shared:
              for line in sys.stdin:
                  shared[5000] = shared[10] + 1
                  shared.flush()
                  print(shared[10])
          """, path.string,
        ]))
      let map = try FileMap(OpenFile(path, O_RDWR), count: 8192, PROT_READ | PROT_WRITE, MAP_SHARED)
      for value in 1...20 {
        map.bytes[10] = UInt8(value)
        #expect(try other.ask("go") == "\(value)")
        #expect(map.bytes[5000] == UInt8(value + 1))
      }
    }
  }

  @Test(arguments: Place.all)
  func runsAProgram(place: Place) throws {
    try place.withFolder { folder in
      let script = folder.appending("script")
      try script.write("#!/bin/sh\necho from a script\n")
      #expect(throws: (any Error).self) { try Command([script.string]).succeed() }
      try script.changeMode(0o755)
      #expect(try Command([script.string]).succeed() == "from a script\n")
      let program = folder.appending("program")
      try Command(["cp", "/bin/echo", program.string]).succeed()
      #expect(try Command([program.string, "from a program"]).succeed() == "from a program\n")
    }
  }
}

/// A mapping, unmapped when the value goes.
private final class FileMap {
  let bytes: UnsafeMutableBufferPointer<UInt8>

  init(_ file: OpenFile, count: Int, _ protection: Int32, _ kind: Int32) throws {
    let start = mmap(nil, count, protection, kind, file.descriptor, 0)
    guard let start, start != MAP_FAILED else { throw Errno.current }
    bytes = UnsafeMutableBufferPointer(
      start: start.assumingMemoryBound(to: UInt8.self), count: count)
  }

  deinit { munmap(bytes.baseAddress!, bytes.count) }

  func sync() throws { try Errno.check(msync(bytes.baseAddress!, bytes.count, Int32(MS_SYNC))) }
}
