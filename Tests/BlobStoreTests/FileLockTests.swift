import BlobStore
import SystemPackage
import TestSupport
import Testing

struct FileLockTests {
  private let folder: TemporaryFolder
  private var path: FilePath { folder.appending("lock") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func isFree(_ mode: FileLock.Mode) throws -> Bool {
    let lock = try FileLock.attempt(at: path, mode: mode)
    return lock != nil
  }

  @Test func isExclusiveWhileItLives() throws {
    do {
      let lock = try FileLock(at: path)
      #expect(try !isFree(.exclusive))
      #expect(try !isFree(.shared))
      withExtendedLifetime(lock) {}
    }
    #expect(try isFree(.exclusive))
  }

  @Test func sharesWithOthersWhoShare() throws {
    let lock = try FileLock(at: path, mode: .shared)
    #expect(try isFree(.shared))
    #expect(try !isFree(.exclusive))
    withExtendedLifetime(lock) {}
  }

  @Test func excludesOtherProcesses() throws {
    let lock = try FileLock(at: path)
    let result = try CommandRunner.run("flock", ["--nonblock", path.string, "true"])
    #expect(result.status == 1)
    withExtendedLifetime(lock) {}
  }

  @Test func aRemovedFileLocksNobodyOut() throws {
    let lock = try FileLock(at: path)
    #expect(try !isFree(.exclusive))
    try DirectoryStore(opening: folder.path).remove("lock")
    #expect(try isFree(.exclusive))
    withExtendedLifetime(lock) {}
  }
}
