import Glibc
import Places
import SystemPackage
import Testing

/// Hard links and symbolic links.
@Suite struct LinkTests {
  @Test(arguments: Place.all)
  func sharesEverythingBetweenHardLinks(place: Place) throws {
    try place.withFolder { folder in
      let sub = folder.appending("sub")
      try sub.makeDirectory()
      let (first, second) = (folder.appending("first"), sub.appending("second"))
      try first.write("one")
      try second.link(to: first)
      #expect(try first.status().st_ino == second.status().st_ino)
      #expect(try first.status().st_nlink == 2)

      try OpenFile(second, O_WRONLY | O_APPEND).write(" two")
      #expect(try first.text() == "one two")
      try first.changeMode(0o600)
      #expect(try second.status().permissions == 0o600)
      try first.setTimes(access: (1, 2), modified: (3, 4))
      #expect(try second.status().modifiedNanoseconds == 3_000_000_004)
      try second.truncate(to: 3)
      #expect(try first.status().st_size == 3)

      try first.unlink()
      #expect(try second.text() == "one")
      #expect(try second.status().st_nlink == 1)
    }
  }

  @Test(arguments: Place.all)
  func countsManyLinks(place: Place) throws {
    try place.withFolder { folder in
      let first = folder.appending("0")
      try first.write("x")
      for number in 1...100 { try folder.appending("\(number)").link(to: first) }
      #expect(try first.status().st_nlink == 101)
      for number in 0..<100 { try folder.appending("\(number)").unlink() }
      #expect(try folder.appending("100").status().st_nlink == 1)
      #expect(try folder.appending("100").text() == "x")
    }
  }

  @Test(arguments: Place.all)
  func replacesOneLinkOnly(place: Place) throws {
    try place.withFolder { folder in
      let (first, second) = (folder.appending("first"), folder.appending("second"))
      try first.write("old")
      try second.link(to: first)
      try folder.appending("new").write("new")
      try folder.appending("new").rename(to: first)
      #expect(try first.text() == "new")
      #expect(try second.text() == "old")
      #expect(try second.status().st_nlink == 1)
    }
  }

  @Test(arguments: Place.all)
  func movesALinkBetweenFolders(place: Place) throws {
    try place.withFolder { folder in
      let sub = folder.appending("sub")
      try sub.makeDirectory()
      let (first, second) = (folder.appending("first"), folder.appending("second"))
      try first.write("x")
      try second.link(to: first)
      try second.rename(to: sub.appending("third"))
      #expect(try first.status().st_nlink == 2)
      #expect(try sub.appending("third").status().st_ino == first.status().st_ino)
      try OpenFile(first, O_WRONLY | O_TRUNC).write("changed")
      #expect(try sub.appending("third").text() == "changed")
    }
  }

  @Test(arguments: Place.all)
  func refusesLinksThatMayNotBe(place: Place) throws {
    try place.withFolder { folder in
      let (file, directory) = (folder.appending("file"), folder.appending("directory"))
      try file.write("x")
      try directory.makeDirectory()
      #expect(throws: Errno.notPermitted) { try folder.appending("a").link(to: directory) }
      #expect(throws: Errno.fileExists) { try directory.link(to: file) }
      #expect(throws: Errno.fileExists) { try file.link(to: file) }
      #expect(throws: Errno.noSuchFileOrDirectory) {
        try folder.appending("a").link(to: folder.appending("b"))
      }
      #expect(try file.status().st_nlink == 1)
    }
  }

  static let targets: [[UInt8]] = [
    Array("a".utf8), Array("../somewhere/else".utf8), Array("/absolute".utf8), Array("診療所/記録".utf8),
    [0xff, 0xfe, 0x0a, 0x20], [UInt8](repeating: UInt8(ascii: "x"), count: 255),
    Array(repeating: Array("abcdefghi/".utf8), count: 409).flatMap(\.self) + Array("tail".utf8),
  ]

  @Test(arguments: Place.all, targets)
  func keepsASymbolicLinkToTheByte(place: Place, target: [UInt8]) throws {
    try place.withFolder { folder in
      let path = folder.appending("link")
      try path.symlink(to: target)
      #expect(try path.linkTarget() == target)
      let status = try path.status()
      #expect(status.isLink)
      #expect(status.st_size == target.count)
      #expect(throws: Errno.fileExists) { try path.symlink(to: target) }
      try path.rename(to: folder.appending("moved"))
      #expect(try folder.appending("moved").linkTarget() == target)
      try folder.appending("moved").unlink()
      #expect(try folder.names() == [])
    }
  }

  @Test(arguments: Place.all)
  func followsLinks(place: Place) throws {
    try place.withFolder { folder in
      try folder.appending("directory").makeDirectory()
      try folder.appending("directory").appending("file").write("found")
      try folder.appending("link").symlink(to: Array("directory".utf8))
      #expect(try folder.appending("link").appending("file").text() == "found")
      try folder.appending("loop").symlink(to: Array("loop".utf8))
      #expect(throws: Errno.tooManySymbolicLinkLevels) {
        try OpenFile(folder.appending("loop"), O_RDONLY)
      }
      #expect(throws: Errno.invalidArgument) {
        try folder.appending("directory").appending("file").linkTarget()
      }
      #expect(throws: (any Error).self) { try folder.appending("empty").symlink(to: []) }
    }
  }

  @Test(arguments: Place.all)
  func keepsTimesOfALink(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("link")
      try path.symlink(to: Array("nowhere".utf8))
      try path.setTimes(access: (10, 1), modified: (20, 2))
      #expect(try path.status().modifiedNanoseconds == 20_000_000_002)
      #expect(try path.linkTarget() == Array("nowhere".utf8))
    }
  }
}
