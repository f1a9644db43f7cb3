import CPosix
import Glibc
import Places
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
}
