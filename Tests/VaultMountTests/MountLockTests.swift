import SystemPackage
import Testing

@testable import VaultMount

@Suite struct MountLockTests {
  private let temporary = TemporaryFolder()

  @Test func oneHasItAtATime() throws {
    let path = temporary.path.appending("mount-lock")
    let first = try #require(try MountLock.attempt(at: path))
    #expect(try MountLock.attempt(at: path) == nil)
    first.release()
    let next = try #require(try MountLock.attempt(at: path))
    // The first one has let it go already.
    first.release()
    #expect(try MountLock.attempt(at: path) == nil)
    next.release()
  }

  /// Else nobody could tell whether another mount has it.
  @Test func whereNoneCanBeMadeThereIsNoMount() {
    let path: FilePath = "/nonexistent/mount-lock"
    #expect(throws: MountError.system(call: "open", path: path, errno: 2)) {
      try MountLock.attempt(at: path)
    }
  }
}
