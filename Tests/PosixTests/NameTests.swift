import Glibc
import Places
import SystemPackage
import Testing

/// Names: any bytes but `/` and NUL, up to 255 of them.
@Suite struct NameTests {
  static let names: [[UInt8]] = [
    Array("vaccine card.jpg".utf8), Array("-rf".utf8), Array("--help".utf8), Array("...".utf8),
    Array(" leading and trailing ".utf8), Array("new\nline\tand tab".utf8),
    Array("a\\b*?\"'$`|<>:".utf8),
    Array("\u{1}\u{7f}".utf8), Array("予防接種 2025年.pdf".utf8), Array("لقاح.pdf".utf8),
    Array("👩‍👩‍👧‍👦💉.png".utf8), Array("e\u{301}".utf8), Array("\u{e9}".utf8),
    [0xff], [0xc3, 0x28], [0x80, 0x81, 0xfe], Array("con".utf8), Array(".hidden".utf8),
    Array("~".utf8),
    Array("file.txt~".utf8), [UInt8](repeating: UInt8(ascii: "n"), count: 255),
    [UInt8](repeating: 0xfe, count: 255), Array(String(repeating: "語", count: 85).utf8),
  ]

  @Test(arguments: Place.all, names)
  func keepsAnyName(place: Place, name: [UInt8]) throws {
    try place.withFolder { folder in
      let path = folder.appending(bytes: name)
      try path.write("content")
      #expect(try folder.names() == [name])
      #expect(try path.text() == "content")

      let moved = folder.appending("moved")
      try path.rename(to: moved)
      #expect(!path.exists)
      try moved.rename(to: path)
      try moved.link(to: path)
      try path.unlink()

      try path.makeDirectory()
      try path.appending(bytes: name).write("inside")
      #expect(try path.names() == [name])
      try path.appending(bytes: name).unlink()
      try path.removeDirectory()
    }
  }

  @Test(arguments: Place.all)
  func tellsAllNamesApart(place: Place) throws {
    try place.withFolder { folder in
      for (number, name) in Self.names.enumerated() {
        try folder.appending(bytes: name).write("\(number)")
      }
      #expect(try folder.names() == Self.names.sorted { $0.lexicographicallyPrecedes($1) })
      for (number, name) in Self.names.enumerated() {
        #expect(try folder.appending(bytes: name).text() == "\(number)")
      }
    }
  }

  @Test(arguments: Place.all)
  func refusesANameThatIsTooLong(place: Place) throws {
    try place.withFolder { folder in
      let long = folder.appending(bytes: [UInt8](repeating: UInt8(ascii: "n"), count: 256))
      try folder.appending("file").write("x")
      #expect(throws: Errno.fileNameTooLong) { try OpenFile.create(long) }
      #expect(throws: Errno.fileNameTooLong) { try long.makeDirectory() }
      #expect(throws: Errno.fileNameTooLong) { try long.symlink(to: Array("x".utf8)) }
      #expect(throws: Errno.fileNameTooLong) { try long.link(to: folder.appending("file")) }
      #expect(throws: Errno.fileNameTooLong) { try folder.appending("file").rename(to: long) }
      #expect(throws: Errno.fileNameTooLong) { try long.status() }
      #expect(try folder.textNames() == ["file"])
    }
  }
}
