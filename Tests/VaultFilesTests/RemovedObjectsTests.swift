import Glibc
import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// What another process removes while it is mounted.
@Suite struct RemovedObjectsTests {
  /// Files of the vault that this process has open and that have no name any more.
  private func removedFiles(of mounted: MountedVault) -> Int {
    (0..<4096).count { number in
      var target = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/fd/\(number)", &target, target.count)
      guard count > 0 else { return false }
      let text = String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
      return text.hasPrefix(mounted.folder.string) && text.hasSuffix(" (deleted)")
        && text.contains("/objects/")
    }
  }

  @Test func theirRoomIsGivenBack() throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    for number in 0..<8 {
      let bytes = [UInt8](repeating: UInt8(number), count: 100_000)
      try mounted.tree.write("Emma/file", bytes)
      try mounted.tree.commitNow()
      #expect(try mounted.tree.read("Emma/file") == bytes)
    }
    let other = try mounted.openAgain()
    #expect(try other.collect(keepDays: 0, isDryRun: false).objectCount > 0)
    #expect(removedFiles(of: mounted) > 0)
    for member in mounted.vault.members { member.objects.forgetRemoved() }
    #expect(removedFiles(of: mounted) == 0)
    #expect(try mounted.tree.read("Emma/file") == [UInt8](repeating: 7, count: 100_000))
    try other.close()
  }
}
