import Foundation
import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// What another process removes while it is mounted.
@Suite struct RemovedObjectsTests {
  /// Files of the vault that this process has open and that have no name any more.
  private func removedFiles(of mounted: MountedVault) throws -> Int {
    let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return files.count { number in
      // Some are closed meanwhile.
      guard
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\(number)")
      else { return false }
      return target.hasPrefix(mounted.folder.string) && target.hasSuffix(" (deleted)")
        && target.contains("/objects/")
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
    #expect(try removedFiles(of: mounted) > 0)
    for member in mounted.vault.members { member.objects.forgetRemoved() }
    #expect(try removedFiles(of: mounted) == 0)
    #expect(try mounted.tree.read("Emma/file") == [UInt8](repeating: 7, count: 100_000))
    try other.close()
  }
}
