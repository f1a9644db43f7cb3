import Dispatch
import Glibc
import Synchronization
import SystemPackage
import Testing
import VaultFiles

@testable import VaultMount

@Suite struct CommitSocketTests {
  private let temporary = TemporaryFolder()
  private let mount = RunningMount(process: 4711, mountpoint: "/mnt/a b", vault: "/home/x")

  /// A vault's state whose path is longer than an address of a socket takes.
  private func state() -> FilePath {
    let deep = temporary.folder(String(repeating: "long ", count: 30), mode: 0o700)
    let state = deep.appending("vault id")
    mkdir(state.string, 0o700)
    return state
  }

  @Test func returnsWhenTheMountHasCommitted() throws {
    let state = state()
    let registration = try MountRegistry.register(mount, stateFolder: state)
    defer { registration.remove() }
    let count = Mutex(0)
    let socket = try CommitSocket(beside: registration.path) { () throws(FileError) in
      count.withLock { $0 += 1 }
    }
    for number in 1...3 {
      #expect(try MountRegistry.commitAll(stateFolder: state, within: 240).isEmpty)
      #expect(count.withLock { $0 } == number)
    }
    socket.end()
    #expect(try MountRegistry.commitAll(stateFolder: state, within: 240).isEmpty)
    #expect(count.withLock { $0 } == 3)
  }

  @Test func saysWhatKeptTheMountFromCommitting() throws {
    let state = state()
    let registration = try MountRegistry.register(mount, stateFolder: state)
    defer { registration.remove() }
    let socket = try CommitSocket(beside: registration.path) { () throws(FileError) in
      throw .noSpace
    }
    defer { socket.end() }
    let expected = UncommittedMount(mountpoint: mount.mountpoint, errno: ENOSPC)
    #expect(try MountRegistry.commitAll(stateFolder: state, within: 240) == [expected])
  }

  @Test func waitsForAMountThatDoesNotAnswerOnlySoLong() throws {
    let state = state()
    let registration = try MountRegistry.register(mount, stateFolder: state)
    defer { registration.remove() }
    let mayGoOn = DispatchSemaphore(value: 0)
    let socket = try CommitSocket(beside: registration.path) { () throws(FileError) in
      mayGoOn.wait()
    }
    let expected = UncommittedMount(mountpoint: mount.mountpoint, errno: nil)
    #expect(try MountRegistry.commitAll(stateFolder: state, within: 1) == [expected])
    mayGoOn.signal()
    socket.end()
  }

  @Test func passesOverWhatAKilledProcessLeft() throws {
    let state = state()
    let registration = try MountRegistry.register(mount, stateFolder: state)
    let left = FilePath(registration.path.string + CommitSocket.suffix)
    let dead = try UnixSocket.make()
    #expect(try UnixSocket.withAddress(of: left) { bind(dead, $0, $1) } == 0)
    close(dead)
    #expect(try MountRegistry.commitAll(stateFolder: state, within: 240).isEmpty)
    #expect(access(left.string, F_OK) != 0)
    registration.remove()
  }

  @Test(.enabled(if: MountFixture.isPossible, "/dev/fuse cannot be opened"))
  func whatWasSavedInTheMountIsInTheVault() throws {
    let fixture = try MountFixture()
    let head = { try POSIX.read(fixture.stateFolder.appending("watermarks")) }
    for number in 0..<5 {
      let before = try head()
      try POSIX.write(fixture.emma.appending("file"), Array("text \(number)".utf8))
      #expect(try MountRegistry.commitAll(stateFolder: fixture.stateFolder, within: 240).isEmpty)
      #expect(try head() != before)
    }
    try fixture.end()
    #expect(try MountRegistry.commitAll(stateFolder: fixture.stateFolder, within: 240).isEmpty)
  }

  /// As on a stick with FAT, which has no sockets.
  @Test(.enabled(if: MountFixture.isPossible, "/dev/fuse cannot be opened"))
  func aMountWithoutASocketIsAskedByItsMountpoint() throws {
    let fixture = try MountFixture()
    try fixture.end()
    // Nothing can be bound where a folder is.
    let place = fixture.stateFolder.appending("mounts").appending("\(getpid())-0.commit")
    try POSIX.call(mkdir(place.string, 0o700))
    try fixture.start()
    try POSIX.call(rmdir(place.string))
    try POSIX.write(fixture.emma.appending("file"), Array("saved just now".utf8))
    #expect(try MountRegistry.commitAll(stateFolder: fixture.stateFolder, within: 240).isEmpty)
    #expect(try fixture.readElsewhere("file") == Array("saved just now".utf8))
  }
}
