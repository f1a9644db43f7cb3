import Glibc
import SystemPackage
import Testing
import VaultCrypto
import VaultModel

@testable import VaultMount

@Suite struct MountRegistryTests {
  private let temporary = TemporaryFolder()
  private let mount = RunningMount(process: 4711, mountpoint: "/mnt/a b", vault: "/home/x\ny")

  @Test func listsAMountAsLongAsItsProcessHoldsTheLock() throws {
    let state = temporary.folder("vault id")
    let registration = try MountRegistry.register(mount, stateFolder: state)
    #expect(try MountRegistry.runningMounts(stateFolder: state) == [mount])
    registration.remove()
    #expect(try MountRegistry.runningMounts(stateFolder: state).isEmpty)
  }

  @Test func clearsTheFileOfAProcessThatWasKilled() throws {
    let state = temporary.folder("vault id")
    let registration = try MountRegistry.register(mount, stateFolder: state)
    close(registration.descriptor)  // what the kernel does for a killed process
    #expect(try MountRegistry.runningMounts(stateFolder: state).isEmpty)
    #expect(permissions(registration.path) == nil)
  }

  /// A folder stands where the file of a mount should be whose process lives.
  @Test func whatCannotBeReadIsNotTakenForNoMount() throws {
    let state = temporary.folder("vault id")
    let registration = try MountRegistry.register(mount, stateFolder: state)
    defer { registration.remove() }
    let unread = state.appending("mounts").appending("1-0")
    try POSIX.call(mkdir(unread.string, 0o700))
    let lock = open(unread.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(lock) }
    try POSIX.call(flock(lock, LOCK_EX))
    #expect {
      try MountRegistry.runningMounts(stateFolder: state)
    } throws: {
      if case MountError.system(_, unread, EISDIR) = $0 { true } else { false }
    }
    #expect(throws: MountError.self) {
      try MountRegistry.commitAll(stateFolder: state, within: 30)
    }
    #expect(throws: MountError.self) {
      _ = try MountRegistry.watch("/mnt/other", stateRoot: temporary.path)
    }
    // It hides no other one.
    let isFound = try MountRegistry.watch(mount.mountpoint, stateRoot: temporary.path) != nil
    #expect(isFound)
  }

  @Test func tellsWhatTheMountReported() throws {
    let state = temporary.folder("vault id")
    let registration = try MountRegistry.register(mount, stateFolder: state)
    defer { registration.remove() }
    let (member, record) = (MemberID.random(), RecordID.random())
    let report = MountReport(unsaved: [
      .init(errno: ENOSPC, since: 5, member: member),
      .init(errno: EIO, since: 6, member: member, record: record),
      .init(errno: EIO, since: 7, member: member, record: record, isFile: true),
    ])
    #expect(registration.write(report))
    #expect(try MountRegistry.runningMounts(stateFolder: state).map(\.report) == [report])
    // As much as there is room for.
    let long = MountReport(unsaved: Array(repeating: report.unsaved[2], count: 1000))
    #expect(registration.write(long))
    let found = try MountRegistry.runningMounts(stateFolder: state).map(\.report.unsaved.count)
    #expect(found.allSatisfy { (20...100).contains($0) } && found.count == 1)
    #expect(registration.write(MountReport()))
    #expect(try MountRegistry.runningMounts(stateFolder: state) == [mount])
  }

  @Test func passesOverWhatItDoesNotKnowOfAReport() {
    let lines = ["unsaved", "unsaved 5 x y", "later 1 2", "unsaved 28 5 zz"].map { Substring($0) }
    #expect(MountReport(lines: lines) == MountReport())
  }

  @Test func aLineComesBack() {
    #expect(MountRegistry.parse(MountRegistry.encode(mount)) == mount)
  }

  @Test(arguments: ["", "\n", "12", "12 /a", "x /a /b", "99999999999 /a /b", "1 2 3 4"])
  func passesOverWhatIsNoEntry(_ line: String) {
    #expect(MountRegistry.parse(Array(line.utf8)) == nil)
  }

  @Test func aVaultWithoutMountsHasNone() throws {
    #expect(try MountRegistry.runningMounts(stateFolder: temporary.path).isEmpty)
    #expect(try MountRegistry.runningMounts(stateFolder: "/nonexistent").isEmpty)
  }
}
