import Glibc
import MachineState
import SystemPackage
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault

/// A mount that was killed leaves its files in this machine's state.
@Suite struct KilledMountTests {
  /// Its socket can be opened by nobody, and kept everybody from thinning, and from removing what is under old keys.
  @Test func itsSocketIsNoMount() throws {
    let folder = try TemporaryFolder()
    let state = try StateFolder.open(root: folder.path, vault: .random())
    let mounts = try #require(state.path).appending("mounts")
    #expect(mounts.withPlatformString { mkdir($0, 0o700) } == 0)
    let socket = mounts.appending("4194305-0.commit")
    #expect(socket.withPlatformString { mknod($0, S_IFSOCK | 0o600, 0) } == 0)
    #expect(try !state.hasMountElsewhere())
    let file = mounts.appending("4194305-0")
    let descriptor = file.withPlatformString { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    #expect(try state.hasMountElsewhere())
  }
}
