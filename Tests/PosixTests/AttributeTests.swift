import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// Permission bits, owners, and what the file system says of itself.
@Suite struct AttributeTests {
  static let modes: [mode_t] = [0o000, 0o400, 0o644, 0o755, 0o777, 0o1777, 0o2755, 0o4755, 0o7777]

  @Test(arguments: Place.all, modes)
  func keepsPermissions(place: Place, mode: mode_t) throws {
    try place.withFolder { folder in
      let (file, directory) = (folder.appending("file"), folder.appending("directory"))
      try file.write("x")
      try directory.makeDirectory()
      let before = try file.status()
      for path in [file, directory] {
        try path.changeMode(mode)
        #expect(try path.status().permissions == mode)
      }
      #expect(try directory.status().isDirectory)
      #expect(try file.status().modifiedNanoseconds == before.modifiedNanoseconds)
      #expect(try file.status().changedNanoseconds >= before.changedNanoseconds)
      try directory.changeMode(0o755)
    }
  }

  @Test(arguments: Place.all)
  func givesANewFileTheModeAskedFor(place: Place) throws {
    try place.withFolder { folder in
      let made = try Command(
        [
          "sh", "-c",
          "umask 027; touch file; mkdir directory; install -m 600 /dev/null own; stat -c '%a %n' directory file own",
        ], in: folder
      ).succeed()
      #expect(made == "750 directory\n640 file\n600 own\n")
    }
  }

  @Test(arguments: Place.all)
  func changesOwnersAsLinuxDoes(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      try path.changeOwner(geteuid(), getegid())
      #expect(try path.status().st_uid == geteuid())
      guard geteuid() == 0 else {
        #expect(throws: Errno.notPermitted) { try path.changeOwner(geteuid() + 1, getegid()) }
        print("Owners other than oneself are tested by root only; this run is not root.")
        return
      }
      try path.changeOwner(1234, 4321)
      #expect(try path.status().st_uid == 1234)
      #expect(try path.status().st_gid == 4321)
      // -1 leaves it as it is.
      try path.changeOwner(uid_t.max, 99)
      #expect(try path.status().st_uid == 1234)
      #expect(try path.status().st_gid == 99)
    }
  }

  @Test(arguments: Place.all)
  func dropsSetuidWhenTheOwnerChanges(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      try path.changeMode(0o4755)
      try path.changeOwner(geteuid(), getegid())
      #expect(try path.status().permissions == 0o755)
    }
  }

  @Test(arguments: Place.all)
  func tellsBlocksAndLinks(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write(SeededRandom.bytes(1_000_000))
      try OpenFile(path, O_RDONLY).sync()
      let status = try path.status()
      // What du shows: about the size, never nothing.
      #expect(status.st_blocks >= 900_000 / 512)
      #expect(status.st_blocks <= 1_300_000 / 512)
      #expect(status.st_nlink == 1)
      #expect(status.st_blksize >= 512)
      #expect(try folder.status().st_nlink >= 1)
    }
  }

  @Test(arguments: Place.all)
  func keepsInodeNumbersApart(place: Place) throws {
    try place.withFolder { folder in
      for number in 0..<200 { try folder.appending("\(number)").write("") }
      let inodes = try (0..<200).map { try folder.appending("\($0)").status().st_ino }
      #expect(Set(inodes).count == 200)
      let again = try (0..<200).map { try folder.appending("\($0)").status().st_ino }
      #expect(again == inodes)
    }
  }

  @Test(arguments: Place.all)
  func tellsHowMuchSpaceThereIs(place: Place) throws {
    var space = Glibc.statvfs()
    let path = try OpenFile(place.path, O_RDONLY | O_DIRECTORY)
    try Errno.check(fstatvfs(path.descriptor, &space))
    #expect(space.f_namemax == 255)
    #expect(space.f_bsize >= 512)
    #expect(space.f_frsize >= 512)
    #expect(space.f_blocks > 0)
    #expect(space.f_bfree <= space.f_blocks)
    #expect(space.f_bavail <= space.f_bfree)
    #expect(space.f_bavail > 0)
  }

  @Test(arguments: Place.all)
  func passesBytesThroughANamedPipe(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("pipe")
      try Errno.check(path.withPlatformString { mkfifo($0, 0o600) })
      #expect(try path.status().st_mode & S_IFMT == S_IFIFO)
      let output = try Command(["sh", "-c", "echo through >pipe & cat <pipe"], in: folder).succeed()
      #expect(output == "through\n")
    }
  }

  /// A folder of a group: all that is made in it is the group's.
  @Test(
    .enabled(if: geteuid() == 0, "NOT TESTED: only root may give a folder to any group"),
    arguments: Place.all)
  func aFolderWithItsGroupBitPassesTheGroupOn(place: Place) throws {
    try place.withFolder { folder in
      let shared = folder.appending("shared")
      try shared.makeDirectory()
      try shared.changeOwner(0, 4242)
      try shared.changeMode(0o2775)
      let inner = shared.appending("inner")
      try inner.makeDirectory()
      try inner.appending("file").write("x")
      try inner.appending("link").symlink(to: Array("file".utf8))
      #expect(try inner.status().st_gid == 4242)
      #expect(try inner.status().permissions == 0o2755)
      #expect(try inner.appending("file").status().st_gid == 4242)
      #expect(try inner.appending("file").status().permissions == 0o644)
      #expect(try inner.appending("link").status().st_gid == 4242)
      let plain = folder.appending("plain")
      try plain.makeDirectory()
      #expect(try plain.status().st_gid == 0)
      #expect(try plain.status().permissions == 0o755)
    }
  }
}
