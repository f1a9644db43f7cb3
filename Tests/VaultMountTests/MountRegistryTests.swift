import Glibc
import SystemPackage
import Testing

@testable import VaultMount

@Suite struct MountRegistryTests {
  private let temporary = TemporaryFolder()
  private let mount = RunningMount(process: 4711, mountpoint: "/mnt/a b", vault: "/home/x\ny")

  @Test func listsAMountAsLongAsItsProcessHoldsTheLock() throws {
    let state = temporary.folder("vault id")
    let registration = try MountRegistry.register(mount, stateFolder: state)
    #expect(MountRegistry.runningMounts(stateFolder: state) == [mount])
    #expect(MountRegistry.allRunningMounts(stateRoot: temporary.path) == [mount])
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

  @Test func aLineComesBack() {
    #expect(MountRegistry.parse(MountRegistry.encode(mount)) == mount)
  }

  @Test(arguments: ["", "\n", "12", "12 /a", "x /a /b", "99999999999 /a /b", "1 2 3 4"])
  func passesOverWhatIsNoEntry(_ line: String) {
    #expect(MountRegistry.parse(Array(line.utf8)) == nil)
  }

  @Test func aVaultWithoutMountsHasNone() {
    #expect(MountRegistry.runningMounts(stateFolder: temporary.path).isEmpty)
    #expect(MountRegistry.allRunningMounts(stateRoot: "/nonexistent").isEmpty)
  }
}
