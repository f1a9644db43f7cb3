import CPosix
import Glibc
import Places
import Synchronization
import SystemPackage
import Testing

/// An open file lives on when its name goes.
@Suite struct UnlinkedFileTests {
  /// How a name is taken from a file that is open.
  enum Way: CaseIterable, Sendable {
    case unlink, renameOver, removedByAnotherProcess
  }

  @Test(arguments: Place.all, Way.allCases)
  func livesOnWithoutAName(place: Place, way: Way) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      var bytes = SeededRandom.bytes(1_500_000)
      try path.write(bytes)
      let file = try OpenFile(path, O_RDWR)
      let reader = try OpenFile(path, O_RDONLY)
      let inode = try file.status().st_ino

      switch way {
      case .unlink: try path.unlink()
      case .renameOver:
        try folder.appending("new").write("successor")
        try folder.appending("new").rename(to: path)
      case .removedByAnotherProcess: try Command(["rm", path.string]).succeed()
      }

      #expect(try file.status().st_nlink == 0)
      #expect(try file.status().st_ino == inode)
      expectSame(try file.contents(), bytes)

      let patch = SeededRandom.bytes(100_000, seed: 2)
      try file.write(patch, at: 1_000_000)
      bytes.replaceSubrange(1_000_000..<1_100_000, with: patch)
      expectSame(try reader.contents(), bytes)

      try file.truncate(to: 1_050_000)
      #expect(try reader.status().st_size == 1_050_000)
      try Errno.check(fchmod(file.descriptor, 0o600))
      #expect(try reader.status().permissions == 0o600)
      var times = [timespec(tv_sec: 5, tv_nsec: 6), timespec(tv_sec: 7, tv_nsec: 8)]
      try Errno.check(futimens(file.descriptor, &times))
      #expect(try reader.status().modifiedNanoseconds == 7_000_000_008)
      try file.sync()
      expectSame(try reader.contents(), Array(bytes[..<1_050_000]))

      let again = try OpenFile(FilePath("/proc/self/fd/\(file.descriptor)"), O_RDWR)
      #expect(try again.status().st_ino == inode)

      if way == .renameOver {
        #expect(try path.text() == "successor")
        #expect(try path.status().st_nlink == 1)
      } else {
        #expect(try folder.names() == [])
      }
    }
  }

  @Test(arguments: Place.all)
  func keepsItsOtherNames(place: Place) throws {
    try place.withFolder { folder in
      let (first, second) = (folder.appending("first"), folder.appending("second"))
      try first.write("x")
      try second.link(to: first)
      let file = try OpenFile(first, O_RDWR)
      try first.unlink()
      #expect(try file.status().st_nlink == 1)
      try file.write("changed")
      #expect(try second.text() == "changed")
    }
  }

  @Test(arguments: Place.all)
  func doesNotComeBackUnderAReusedName(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      for round in 0..<20 {
        let file = try OpenFile.create(path)
        try file.write("round \(round)")
        try path.unlink()
        try path.write("successor \(round)")
        try file.write(" went on")
        try file.sync()
        #expect(try path.text() == "successor \(round)")
        #expect(try file.text() == "round \(round) went on")
        try path.unlink()
      }
    }
  }

  @Test(arguments: Place.all)
  func keepsAnOpenDirectoryUsable(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("directory")
      try path.makeDirectory()
      let directory = try OpenFile(path, O_RDONLY | O_DIRECTORY)
      let listing = try OpenDirectory(path)
      try path.removeDirectory()
      #expect(try directory.status().isDirectory)
      #expect(try listing.rest().allSatisfy { $0.name.first == UInt8(ascii: ".") })
      #expect(throws: Errno.noSuchFileOrDirectory) {
        try Errno.check(openat(directory.descriptor, "new", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644))
      }
      // The name is free for another.
      try path.makeDirectory()
      try path.appending("file").write("x")
      #expect(try path.textNames() == ["file"])
    }
  }

  /// What has no name is still reached through a descriptor, and its content may be another file's too.
  @Test(arguments: Place.all)
  func isOpenedAgainWhenItsLastReaderIsGone(place: Place) throws {
    try place.withFolder { folder in
      let (kept, removed) = (folder.appending("kept"), folder.appending("removed"))
      for size in [5, 100_000] {
        let bytes = SeededRandom.bytes(size)
        try kept.write(bytes)
        try removed.write(bytes)
        let path = try OpenFile(removed, px_o_path)
        do {
          let reader = try OpenFile(removed, O_RDONLY)
          try removed.unlink()
          expectSame(try reader.contents(), bytes)
        }
        for _ in 0..<3 {
          let again = try OpenFile(FilePath("/proc/self/fd/\(path.descriptor)"), O_RDONLY)
          expectSame(try again.contents(), bytes)
        }
        try OpenFile(kept, O_RDONLY).sync()
        try folder.appending("after").write("goes on")
        try OpenFile(folder, O_RDONLY | O_DIRECTORY).sync()
        expectSame(try kept.contents(), bytes)
      }
    }
  }

  /// A program that saves the same few contents over and over, beside one that reads them.
  @Test(arguments: Place.all)
  func repeatingContentsAreSavedBesideAReader(place: Place) throws {
    try place.withFolder { folder in
      let contents = [5, 3000, 80_000].map { SeededRandom.bytes($0) }
      let path = folder.appending("state")
      try path.write(contents[0])
      let isDone = Atomic(false)
      try concurrently(2) { thread in
        if thread == 0 {
          defer { isDone.store(true, ordering: .releasing) }
          for round in 0..<1500 {
            let temporary = folder.appending("temporary")
            let file = try OpenFile(temporary, O_CREAT | O_TRUNC | O_WRONLY)
            try file.append(contents[round % 3])
            if round.isMultiple(of: 50) { try file.sync() }
            try temporary.rename(to: path)
            if round % 7 == 0 {
              try folder.appending("copy \(round % 5)").write(contents[round % 3])
            }
          }
        } else {
          while !isDone.load(ordering: .acquiring) {
            let found = try path.contents()
            guard contents.contains(found) else { throw Errno.ioError }
          }
        }
      }
      try OpenFile(folder, O_RDONLY | O_DIRECTORY).sync()
      expectSame(try path.contents(), contents[1499 % 3])
      try OpenFile(path, O_RDONLY).sync()
    }
  }
}
