import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// flock(2) and fcntl(2) locks, held against another process.
@Suite struct LockTests {
  /// Another process that takes and gives locks as it is told, and says `yes` or `no`.
  static func otherProcess(on path: FilePath) throws -> RunningCommand {
    let program = """
      import fcntl, os, sys
      file = os.open(sys.argv[1], os.O_RDWR)
      kinds = {"sh": fcntl.LOCK_SH, "ex": fcntl.LOCK_EX, "un": fcntl.LOCK_UN}
      for line in sys.stdin:
          call, kind, *area = line.split()
          try:
              flags = kinds[kind] | (0 if kind == "un" else fcntl.LOCK_NB)
              if call == "flock":
                  fcntl.flock(file, flags)
              else:
                  fcntl.lockf(file, flags, int(area[1]), int(area[0]))
              print("yes")
          except (BlockingIOError, PermissionError):
              print("no")
      """
    return try RunningCommand(Command(["python3", "-uc", program, path.string]))
  }

  @Test(arguments: Place.all)
  func keepsOthersOutOfAWholeFile(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      let other = try Self.otherProcess(on: path)
      let file = try OpenFile(path, O_RDWR)
      try Errno.check(flock(file.descriptor, LOCK_EX))
      #expect(try other.ask("flock ex") == "no")
      #expect(try other.ask("flock sh") == "no")
      try Errno.check(flock(file.descriptor, LOCK_SH))
      #expect(try other.ask("flock sh") == "yes")
      #expect(throws: Errno.resourceTemporarilyUnavailable) {
        try Errno.check(flock(file.descriptor, LOCK_EX | LOCK_NB))
      }
      #expect(try other.ask("flock un") == "yes")
      try Errno.check(flock(file.descriptor, LOCK_UN))
      #expect(try other.ask("flock ex") == "yes")
      #expect(throws: Errno.resourceTemporarilyUnavailable) {
        try Errno.check(flock(file.descriptor, LOCK_SH | LOCK_NB))
      }
    }
  }

  @Test(arguments: Place.all)
  func keepsOthersOutOfARange(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("0123456789")
      let other = try Self.otherProcess(on: path)
      let file = try OpenFile(path, O_RDWR)
      try Errno.check(px_lock_description(file.descriptor, F_WRLCK, 2, 3))
      #expect(try other.ask("fcntl ex 0 2") == "yes")
      #expect(try other.ask("fcntl ex 4 4") == "no")
      #expect(try other.ask("fcntl sh 2 1") == "no")
      #expect(try other.ask("fcntl ex 5 100") == "yes")
      #expect(throws: Errno.resourceTemporarilyUnavailable) {
        try Errno.check(px_lock_description(file.descriptor, F_RDLCK, 0, 1))
      }
      try Errno.check(px_lock_description(file.descriptor, F_UNLCK, 0, 0))
      #expect(try other.ask("fcntl ex 2 3") == "yes")
    }
  }

  @Test(arguments: Place.all, ["flock ex", "fcntl ex 0 0"])
  func areFreeWhenTheirProcessIsKilled(place: Place, lock: String) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      let victim = try Self.otherProcess(on: path)
      let other = try Self.otherProcess(on: path)
      #expect(try victim.ask(lock) == "yes")
      #expect(try other.ask(lock) == "no")
      try victim.killNow()
      var answer = try other.ask(lock)
      // The kernel tells a FUSE file system of a close asynchronously.
      for _ in 0..<12_000 where answer == "no" {
        usleep(20_000)
        answer = try other.ask(lock)
      }
      #expect(answer == "yes")
    }
  }

  @Test(arguments: Place.all)
  func waitsForALock(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      let file = try OpenFile(path, O_RDWR)
      try Errno.check(flock(file.descriptor, LOCK_EX))
      let waiting = try RunningCommand(
        Command([
          "python3", "-uc",
          "import fcntl, sys; f = open(sys.argv[1]); print('asking'); fcntl.flock(f, fcntl.LOCK_EX); print('got it')",
          path.string,
        ]))
      #expect(try waiting.receive() == "asking")
      #expect(throws: Errno.timedOut) { try waiting.receive(within: 1) }
      try Errno.check(flock(file.descriptor, LOCK_UN))
      #expect(try waiting.receive() == "got it")
    }
  }
}
