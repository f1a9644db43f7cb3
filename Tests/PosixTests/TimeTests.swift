import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// Times: kept to the nanosecond when set, moved on by what changes a file.
@Suite struct TimeTests {
  /// 1 ns, before 1970, after 2038, after 2106, and an ordinary day.
  static let times = [
    (0, 1), (-1, 500_000_000), (-1_000_000_000, 1), (2_147_483_648, 7),
    (4_294_967_296, 999_999_999),
    (1_737_331_200, 123_456_789),
  ]

  @Test(arguments: Place.all, times)
  func keepsATimeToTheNanosecond(place: Place, time: (Int, Int)) throws {
    try place.withFolder { folder in
      let (file, directory) = (folder.appending("file"), folder.appending("directory"))
      try file.write("x")
      try directory.makeDirectory()
      for path in [file, directory] {
        try path.setTimes(access: (1000, 5), modified: time)
        let status = try path.status()
        #expect(status.st_mtim.tv_sec == time.0)
        #expect(status.st_mtim.tv_nsec == time.1)
      }
    }
  }

  @Test(arguments: Place.all)
  func setsOnlyTheTimeAskedFor(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      try path.setTimes(access: (1000, 1), modified: (2000, 2))
      try path.setTimes(access: (3000, 3), modified: (0, PX_UTIME_OMIT))
      #expect(try path.status().modifiedNanoseconds == 2_000_000_000_002)
      let before = now()
      try path.setTimes(access: (0, PX_UTIME_OMIT), modified: (0, PX_UTIME_NOW))
      // The kernel's clock for files goes in ticks.
      let second = 1_000_000_000
      #expect((before - second...now() + second).contains(try path.status().modifiedNanoseconds))
    }
  }

  @Test(arguments: Place.all)
  func moveOnWithWhatChangesAFile(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write(SeededRandom.bytes(1000))
      let changes: [(String, (FilePath) throws -> Void)] = [
        ("write", { try OpenFile($0, O_RDWR).write([1], at: 10) }),
        ("append", { try OpenFile($0, O_WRONLY | O_APPEND).append([1]) }),
        ("truncate", { try $0.truncate(to: 50) }),
        ("extend", { try $0.truncate(to: 5000) }),
        ("O_TRUNC", { _ = try OpenFile($0, O_WRONLY | O_TRUNC) }),
      ]
      for (name, change) in changes {
        try path.setTimes(access: (1000, 0), modified: (1000, 0))
        let changed = try path.status().changedNanoseconds
        pause()
        try change(path)
        #expect(try path.status().st_mtim.tv_sec > 1000, "\(name)")
        #expect(try path.status().changedNanoseconds > changed, "\(name)")
      }
    }
  }

  @Test(arguments: Place.all)
  func stayWhenOnlyAttributesOrNamesChange(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      try path.setTimes(access: (1000, 0), modified: (1000, 7))
      let other = folder.appending("other")
      let changes: [(String, () throws -> Void)] = [
        ("chmod", { try path.changeMode(0o600) }),
        ("link", { try other.link(to: path) }),
        ("unlink", { try other.unlink() }),
        (
          "rename",
          {
            try path.rename(to: other)
            try other.rename(to: path)
          }
        ),
      ]
      for (name, change) in changes {
        let changed = try path.status().changedNanoseconds
        pause()
        try change()
        #expect(try path.status().modifiedNanoseconds == 1_000_000_000_007, "\(name)")
        if name != "rename" {
          #expect(try path.status().changedNanoseconds > changed, "\(name)")
        }
      }
      _ = try path.contents()
      #expect(try path.status().modifiedNanoseconds == 1_000_000_000_007)
    }
  }

  /// A time that was set stays after the handle that wrote is closed: cp -p, tar and rsync set times before they close.
  @Test(arguments: Place.all)
  func keepATimeThatWasSetBeforeClosing(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      do {
        let file = try OpenFile.create(path)
        try file.append(SeededRandom.bytes(200_000))
        var times = [timespec(tv_sec: 11, tv_nsec: 12), timespec(tv_sec: 13, tv_nsec: 14)]
        try Errno.check(futimens(file.descriptor, &times))
        try Errno.check(fchmod(file.descriptor, 0o640))
      }
      #expect(try path.status().modifiedNanoseconds == 13_000_000_014)
      try OpenFile(path, O_RDONLY).sync()
      #expect(try path.status().modifiedNanoseconds == 13_000_000_014)
      #expect(try path.status().permissions == 0o640)
    }
  }

  @Test(arguments: Place.all)
  func ofADirectoryMoveOnWithItsEntries(place: Place) throws {
    try place.withFolder { folder in
      let (first, second) = (folder.appending("first"), folder.appending("second"))
      try first.makeDirectory()
      try second.makeDirectory()
      let changes: [(String, () throws -> Void, [FilePath])] = [
        ("create", { try first.appending("a").write("") }, [first]),
        ("link", { try first.appending("b").link(to: first.appending("a")) }, [first]),
        (
          "rename", { try first.appending("b").rename(to: second.appending("b")) }, [first, second]
        ),
        ("unlink", { try second.appending("b").unlink() }, [second]),
        ("mkdir", { try second.appending("c").makeDirectory() }, [second]),
        ("rmdir", { try second.appending("c").removeDirectory() }, [second]),
        ("symlink", { try second.appending("d").symlink(to: [1]) }, [second]),
      ]
      for (name, change, moved) in changes {
        for path in [first, second] { try path.setTimes(access: (1000, 0), modified: (1000, 0)) }
        try change()
        for path in [first, second] {
          #expect(try (path.status().st_mtim.tv_sec > 1000) == moved.contains(path), "\(name)")
        }
      }
      // Writing to a file in it does not.
      try first.setTimes(access: (1000, 0), modified: (1000, 0))
      try OpenFile(first.appending("a"), O_WRONLY).write("content")
      #expect(try first.status().st_mtim.tv_sec == 1000)
    }
  }

  private func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  /// Longer than the kernel's coarsest tick.
  private func pause() { usleep(20_000) }
}
