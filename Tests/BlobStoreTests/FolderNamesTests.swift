import BlobStore
import Glibc
import SystemPackage
import Testing

@Suite struct FolderNamesTests {
  @Test func givesNamesThatAreNoText() throws {
    let folder = FilePath("/tmp/kinvault-names-\(UInt64.random(in: 0 ... .max))")
    try #require(mkdir(folder.string, 0o700) == 0)
    let odd: [[UInt8]] = [
      [0xFF, 0xFE], Array("…".utf8), Array(".hidden".utf8), [UInt8(ascii: "\n")],
    ]
    defer {
      for name in odd { folder.appending(bytes: name).withPlatformString { _ = unlink($0) } }
      rmdir(folder.string)
    }
    #expect(try FolderNames.all(in: folder) == [])
    for name in odd {
      let made = folder.appending(bytes: name).withPlatformString {
        open($0, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      }
      try #require(made >= 0)
      close(made)
    }
    #expect(Set(try FolderNames.all(in: folder)) == Set(odd))
    let opened = open(folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for _ in 0..<2 { #expect(Set(try FolderNames.all(in: opened)) == Set(odd)) }
    #expect(fcntl(opened, F_GETFD) >= 0)
    close(opened)
  }

  @Test func saysWhyThereAreNone() {
    #expect(throws: Errno.noSuchFileOrDirectory) { try FolderNames.all(in: "/no such folder") }
    #expect(throws: Errno.notDirectory) { try FolderNames.all(in: "/dev/null") }
    #expect(throws: Errno.badFileDescriptor) { try FolderNames.all(in: -1) }
    #expect(FolderNames.readable(in: "/no such folder") == [])
  }
}
