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
    #expect(MountRegistry.runningMounts(stateFolder: state) == [mount])
    registration.remove()
    #expect(MountRegistry.runningMounts(stateFolder: state).isEmpty)
  }

  @Test func clearsTheFileOfAProcessThatWasKilled() throws {
    let state = temporary.folder("vault id")
    let registration = try MountRegistry.register(mount, stateFolder: state)
    close(registration.descriptor)  // what the kernel does for a killed process
    #expect(MountRegistry.runningMounts(stateFolder: state).isEmpty)
    #expect(permissions(registration.path) == nil)
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
    #expect(MountRegistry.runningMounts(stateFolder: state).map(\.report) == [report])
    // As much as there is room for.
    let long = MountReport(unsaved: Array(repeating: report.unsaved[2], count: 1000))
    #expect(registration.write(long))
    let found = MountRegistry.runningMounts(stateFolder: state).map(\.report.unsaved.count)
    #expect(found.allSatisfy { (20...100).contains($0) } && found.count == 1)
    #expect(registration.write(MountReport()))
    #expect(MountRegistry.runningMounts(stateFolder: state) == [mount])
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

  @Test func aVaultWithoutMountsHasNone() {
    #expect(MountRegistry.runningMounts(stateFolder: temporary.path).isEmpty)
    #expect(MountRegistry.runningMounts(stateFolder: "/nonexistent").isEmpty)
  }
}
