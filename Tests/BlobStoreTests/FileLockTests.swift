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

  private func isFree(_ store: DirectoryStore) throws -> Bool {
    let lock = try FileLock.attempt(in: store, "staging/token/lock")
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
    let store = try DirectoryStore(opening: folder.path)
    let lock = try FileLock.attempt(in: store, "staging/token/lock")
    #expect(try !isFree(store))
    try store.removeFolder("staging")
    #expect(try isFree(store))
    withExtendedLifetime(lock) {}
  }
}
