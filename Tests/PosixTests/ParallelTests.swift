import Glibc
import Places
import Synchronization
import SystemPackage
import Testing

/// Many threads at once.
@Suite struct ParallelTests {
  @Test(arguments: Place.all)
  func writesManyFilesAtOnce(place: Place) throws {
    try place.withFolder { folder in
      try concurrently(8) { thread in
        for number in 0..<20 {
          let path = folder.appending("\(thread)-\(number)")
          let bytes = SeededRandom.bytes(150_000, seed: UInt64(thread * 100 + number))
          try path.write(bytes)
          guard try path.contents() == bytes else { throw Errno.ioError }
        }
      }
      #expect(try folder.names().count == 160)
      for thread in 0..<8 {
        let bytes = SeededRandom.bytes(150_000, seed: UInt64(thread * 100 + 7))
        expectSame(try folder.appending("\(thread)-7").contents(), bytes)
      }
    }
  }

  @Test(arguments: Place.all)
  func writesOneFileInManyPlacesAtOnce(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let bytes = SeededRandom.bytes(4_000_000)
      _ = try OpenFile.create(path)
      // Interleaved pieces: neighbours share blocks and chunks.
      try concurrently(4) { thread in
        let file = try OpenFile(path, O_RDWR)
        for piece in stride(from: thread, to: 400, by: 4) {
          try file.write(Array(bytes[(piece * 10_000)..<(piece + 1) * 10_000]), at: piece * 10_000)
        }
      }
      expectSame(try path.contents(), bytes)
    }
  }

  @Test(arguments: Place.all)
  func letsOneOnlyCreate(place: Place) throws {
    try place.withFolder { folder in
      for round in 0..<30 {
        let winners = Atomic(0)
        try concurrently(6) { thread in
          do {
            if round.isMultiple(of: 2) {
              _ = try OpenFile.create(folder.appending("file \(round)"))
            } else {
              try folder.appending("directory \(round)").makeDirectory()
            }
            winners.add(1, ordering: .relaxed)
          } catch Errno.fileExists {
          }
        }
        #expect(winners.load(ordering: .relaxed) == 1)
      }
    }
  }

  @Test(arguments: Place.all)
  func showsTheOldOrTheNewButNothingBetween(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("record.md")
      let versions = (0..<40).map { version in
        [UInt8](repeating: UInt8(version), count: 20_000 + version * 1000)
      }
      try path.write(versions[0])
      let isDone = Atomic(false)
      try concurrently(3) { thread in
        if thread == 0 {
          for version in versions {
            let temporary = folder.appending("temporary")
            try temporary.write(version)
            try temporary.rename(to: path)
          }
          isDone.store(true, ordering: .releasing)
        } else {
          while !isDone.load(ordering: .acquiring) {
            let found = try path.contents()
            guard let first = found.first, found == versions[Int(first)] else {
              throw Errno.ioError
            }
          }
        }
      }
    }
  }

  @Test(arguments: Place.all)
  func makesListsAndRemovesAtOnce(place: Place) throws {
    try place.withFolder { folder in
      try concurrently(4) { thread in
        for round in 0..<40 {
          let sub = folder.appending("\(thread)-\(round % 3)")
          try sub.makeDirectory()
          for number in 0..<5 { try sub.appending("\(number)").write("x") }
          _ = try folder.names()
          guard try sub.names().count == 5 else { throw Errno.ioError }
          for number in 0..<5 { try sub.appending("\(number)").unlink() }
          try sub.removeDirectory()
        }
      }
      #expect(try folder.names() == [])
    }
  }
}
