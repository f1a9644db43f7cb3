import Glibc
import Places
import SystemPackage
import Testing

/// Directories: making, listing, and listing while they change.
@Suite struct DirectoryTests {
  @Test(arguments: Place.all)
  func listsWhatThereIs(place: Place) throws {
    try place.withFolder { folder in
      try folder.appending("file").write("x")
      try folder.appending("directory").makeDirectory()
      try folder.appending("link").symlink(to: Array("file".utf8))
      let entries = try OpenDirectory(folder).rest()
      let names = entries.map { String(decoding: $0.name, as: UTF8.self) }
      #expect(names.sorted() == [".", "..", "directory", "file", "link"])
      for entry in entries where entry.name != Array("..".utf8) {
        let status = try folder.appending(bytes: entry.name).status()
        #expect(entry.inode == status.st_ino)
        #expect(entry.type == UInt8(status.st_mode >> 12))
      }
    }
  }

  @Test(arguments: Place.all)
  func makesAndRemovesDirectories(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("a")
      try path.makeDirectory(mode: 0o700)
      #expect(try path.status().isDirectory)
      #expect(try path.status().permissions == 0o700)
      #expect(throws: Errno.fileExists) { try path.makeDirectory() }
      #expect(throws: Errno.noSuchFileOrDirectory) {
        try folder.appending("b").appending("c").makeDirectory()
      }
      #expect(throws: Errno.isDirectory) { try path.unlink() }
      try path.appending("file").write("x")
      #expect(throws: Errno.directoryNotEmpty) { try path.removeDirectory() }
      #expect(throws: Errno.notDirectory) { try path.appending("file").removeDirectory() }
      try path.appending("file").unlink()
      try path.removeDirectory()
      #expect(throws: Errno.noSuchFileOrDirectory) { try path.removeDirectory() }
      #expect(throws: Errno.noSuchFileOrDirectory) { try path.unlink() }
    }
  }

  @Test(arguments: Place.all)
  func showsWhatWasMadeAfterItWasOpened(place: Place) throws {
    try place.withFolder { folder in
      try folder.appending("removed").write("x")
      let directory = try OpenDirectory(folder)
      try folder.appending("made").write("x")
      try folder.appending("removed").unlink()
      let names = try directory.rest().map { String(decoding: $0.name, as: UTF8.self) }
      #expect(names.sorted() == [".", "..", "made"])
    }
  }

  @Test(arguments: Place.all)
  func holdsTenThousandEntries(place: Place) throws {
    try place.withFolder { folder in
      let count = 10_000
      let names = (0..<count).map { "entry \($0)" }
      for name in names { try OpenFile.create(folder.appending(name)).write(name) }
      #expect(try folder.textNames() == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      for number in stride(from: 0, to: count, by: 500) {
        #expect(try folder.appending(names[number]).text() == names[number])
      }
      for number in stride(from: 0, to: count, by: 2) {
        try folder.appending(names[number]).unlink()
      }
      #expect(try folder.names().count == count / 2)
      #expect(!folder.appending(names[0]).exists)
      #expect(folder.appending(names[1]).exists)
    }
  }

  /// What stays is seen exactly once, whatever comes and goes meanwhile.
  @Test(arguments: Place.all)
  func listsWhatStaysOnceWhileOthersComeAndGo(place: Place) throws {
    try place.withFolder { folder in
      for number in 0..<2000 { try folder.appending("stays \(number)").write("") }
      for number in 0..<500 { try folder.appending("goes \(number)").write("") }
      let listing = try OpenDirectory(folder)
      var seen: [String] = []
      var step = 0
      while let entry = try listing.next() {
        seen.append(String(decoding: entry.name, as: UTF8.self))
        if step < 500 {
          try folder.appending("goes \(step)").unlink()
          try folder.appending("comes \(step)").write("")
        }
        step += 1
      }
      let stayed = seen.filter { $0.hasPrefix("stays") }
      #expect(stayed.count == 2000)
      #expect(Set(stayed).count == 2000)
      #expect(Set(seen).count == seen.count)
    }
  }

  /// rm -r, and every program that removes what it lists.
  @Test(arguments: Place.all)
  func canBeEmptiedWhileItIsListed(place: Place) throws {
    try place.withFolder { folder in
      for number in 0..<3000 { try folder.appending("\(number)").write("") }
      let listing = try OpenDirectory(folder)
      while let entry = try listing.next() {
        if entry.name.first != UInt8(ascii: ".") {
          try folder.appending(bytes: entry.name).unlink()
        }
      }
      #expect(try folder.names() == [])
    }
  }

  @Test(arguments: Place.all)
  func goesBackToAPosition(place: Place) throws {
    try place.withFolder { folder in
      for number in 0..<1000 { try folder.appending("\(number)").write("") }
      let listing = try OpenDirectory(folder)
      for _ in 0..<400 { _ = try listing.next() }
      let position = try #require(try listing.next()).next
      let rest = try listing.rest().map(\.name)
      #expect(rest.count == 1002 - 401)

      // Names that went since are not missed by those who go back.
      let gone = rest[100]
      if gone.first != UInt8(ascii: ".") { try folder.appending(bytes: gone).unlink() }
      listing.seek(to: position)
      let again = try listing.rest().map(\.name)
      #expect(again.filter { $0 != gone } == rest.filter { $0 != gone })
    }
  }

  @Test(arguments: Place.all)
  func seesNewEntriesAfterRewinding(place: Place) throws {
    try place.withFolder { folder in
      try folder.appending("a").write("")
      let listing = try OpenDirectory(folder)
      #expect(try listing.rest().count == 3)
      try folder.appending("b").write("")
      listing.rewind()
      #expect(try listing.rest().count == 4)
    }
  }

  @Test(arguments: Place.all)
  func nestsTwoHundredDeep(place: Place) throws {
    try place.withFolder { folder in
      var path = folder
      for depth in 0..<200 {
        path.append("depth \(depth)")
        try path.makeDirectory()
      }
      try path.appending("file").write("deep")
      #expect(try path.appending("file").text() == "deep")
      let found = try Command(["find", folder.string, "-name", "file"]).succeed()
      #expect(found == path.appending("file").string + "\n")
      try folder.appending("depth 0").rename(to: folder.appending("top"))
      #expect(
        try Command(["find", folder.string, "-type", "d"]).succeed().split(separator: "\n").count
          == 201)
    }
  }

  @Test(arguments: Place.all)
  func knowsItsParent(place: Place) throws {
    try place.withFolder { folder in
      let (first, second) = (folder.appending("first"), folder.appending("second"))
      try first.makeDirectory()
      try second.makeDirectory()
      try first.appending("child").makeDirectory()
      let child = try OpenFile(first.appending("child"), O_RDONLY | O_DIRECTORY)
      try first.appending("child").rename(to: second.appending("child"))
      var parent = Glibc.stat()
      try Errno.check(fstatat(child.descriptor, "..", &parent, 0))
      #expect(try parent.st_ino == second.status().st_ino)
    }
  }
}
