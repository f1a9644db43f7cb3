import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// `user.*` extended attributes.
@Suite struct ExtendedAttributeTests {
  @Test(arguments: Place.all)
  func keepsNamesAndValues(place: Place) throws {
    try place.withFolder { folder in
      let (file, directory) = (folder.appending("file"), folder.appending("directory"))
      try file.write("x")
      try directory.makeDirectory()
      for path in [file, directory] {
        let values: [String: [UInt8]] = [
          "user.empty": [], "user.comment": Array("seen by Dr. Novák".utf8),
          "user.bytes": [0, 255, 0, 10], "user.予防接種": [1], "user.long": SeededRandom.bytes(2000),
          "user." + String(repeating: "n", count: 200): [2],
        ]
        for (name, value) in values { try path.setAttribute(name, value) }
        for (name, value) in values { #expect(try path.attribute(name) == value) }
        #expect(try path.attributeNames() == values.keys.sorted())
        for name in values.keys { try path.removeAttribute(name) }
        #expect(try path.attributeNames() == [])
      }
    }
  }

  @Test(arguments: Place.all)
  func makesOrReplacesOnlyWhenAsked(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      #expect(throws: Errno.noData) { try path.attribute("user.a") }
      #expect(throws: Errno.noData) { try path.removeAttribute("user.a") }
      #expect(throws: Errno.noData) {
        try path.setAttribute("user.a", [1], flags: PX_XATTR_REPLACE)
      }
      try path.setAttribute("user.a", [1], flags: PX_XATTR_CREATE)
      #expect(throws: Errno.fileExists) {
        try path.setAttribute("user.a", [2], flags: PX_XATTR_CREATE)
      }
      try path.setAttribute("user.a", [3], flags: PX_XATTR_REPLACE)
      #expect(try path.attribute("user.a") == [3])
    }
  }

  @Test(arguments: Place.all)
  func tellsSizesAndRefusesSmallBuffers(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      try path.setAttribute("user.a", [1, 2, 3])
      let name = path.string
      #expect(px_getxattr(name, "user.a", nil, 0) == 3)
      #expect(px_listxattr(name, nil, 0) == 7)
      var buffer = [UInt8](repeating: 0, count: 2)
      #expect(throws: Errno.outOfRange) { try Errno.check(px_getxattr(name, "user.a", &buffer, 2)) }
      var names = [CChar](repeating: 0, count: 2)
      #expect(throws: Errno.outOfRange) { try Errno.check(px_listxattr(name, &names, 2)) }
    }
  }

  @Test(arguments: Place.all)
  func goWithTheFileNotWithTheName(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      let file = try OpenFile.create(path)
      try Errno.check(px_fsetxattr(file.descriptor, "user.a", [1], 1, 0))
      try file.write("content")
      let moved = folder.appending("moved")
      try path.rename(to: moved)
      #expect(try moved.attribute("user.a") == [1])
      try path.link(to: moved)
      #expect(try path.attribute("user.a") == [1])
      try OpenFile(path, O_WRONLY | O_TRUNC).write("new")
      #expect(try moved.attribute("user.a") == [1])
      try moved.unlink()
      try path.unlink()
      try path.write("another")
      #expect(try path.attributeNames() == [])
    }
  }
}

extension FilePath {
  fileprivate func setAttribute(_ name: String, _ value: [UInt8], flags: Int = 0) throws {
    try Errno.check(px_setxattr(string, name, value, value.count, Int32(flags)))
  }

  fileprivate func attribute(_ name: String) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = try Errno.check(px_getxattr(string, name, &buffer, buffer.count))
    return Array(buffer[..<count])
  }

  /// The names, sorted, without those that the system adds (`security.…`).
  fileprivate func attributeNames() throws -> [String] {
    var buffer = [CChar](repeating: 0, count: 65536)
    let count = try Errno.check(px_listxattr(string, &buffer, buffer.count))
    let bytes = buffer[..<count].map { UInt8(bitPattern: $0) }
    return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      .filter { $0.hasPrefix("user.") }.sorted()
  }

  fileprivate func removeAttribute(_ name: String) throws {
    try Errno.check(px_removexattr(string, name))
  }
}
