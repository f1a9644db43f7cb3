import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// fsync(2) and its relatives succeed wherever programs call them. That they keep their promise is the crash suite's matter.
@Suite struct SyncTests {
  @Test(arguments: Place.all)
  func syncsWhateverIsOpen(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let file = try OpenFile.create(path)
      for size in [0, 10, 1 << 20, 3_000_000] {
        try file.write(SeededRandom.bytes(size), at: 0)
        try Errno.check(fsync(file.descriptor))
        try Errno.check(fdatasync(file.descriptor))
        try Errno.check(fsync(file.descriptor))
      }
      try OpenFile(path, O_RDONLY).sync()
      let directory = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
      try Errno.check(fsync(directory.descriptor))
      try Errno.check(fdatasync(directory.descriptor))
      try Errno.check(px_syncfs(directory.descriptor))
      expectSame(try path.contents(), SeededRandom.bytes(3_000_000))
    }
  }

  @Test(arguments: Place.all)
  func syncsWhileOthersWrite(place: Place) throws {
    try place.withFolder { folder in
      let program = """
        import os, sys
        file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
        for number in range(60):
            os.pwrite(file, bytes([number]) * 5000, number * 5000)
            os.fsync(file)
        """
      let writers = try (0..<3).map {
        try RunningCommand(Command(["python3", "-c", program, folder.appending("\($0)").string]))
      }
      for writer in writers { #expect(try writer.end() == 0) }
      for number in 0..<3 {
        let bytes = try folder.appending("\(number)").contents()
        #expect(bytes.count == 300_000)
        #expect(bytes.indices.allSatisfy { bytes[$0] == UInt8($0 / 5000) })
      }
    }
  }
}
