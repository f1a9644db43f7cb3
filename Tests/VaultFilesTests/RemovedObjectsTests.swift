import Foundation
import MachineState
import Testing
import Vault
import VaultModel

import struct SystemPackage.FilePath

@testable import VaultFiles

/// What another process removes while it is mounted.
@Suite struct RemovedObjectsTests {
  /// Objects of the vault that this process has open: those that have a name, or those that have none any more.
  private func openObjects(of mounted: MountedVault, removed: Bool) throws -> Int {
    let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return files.count { number in
      // Some are closed meanwhile.
      guard
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\(number)")
      else { return false }
      return target.hasPrefix(mounted.folder.string) && target.contains("/objects/")
        && target.hasSuffix(" (deleted)") == removed
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
    // All but the newest are of no use any more.
    #expect(try openObjects(of: mounted, removed: false) >= 8)
    let other = try mounted.openAgain()
    #expect(try other.collect(keepDays: 0, isDryRun: false).objectCount > 0)
    // The mount sees by itself that they are gone.
    mounted.tree.start()
    for _ in 0..<2400 where try openObjects(of: mounted, removed: true) > 0 { usleep(50_000) }
    #expect(try openObjects(of: mounted, removed: true) == 0)
    #expect(try mounted.tree.read("Emma/file") == [UInt8](repeating: 7, count: 100_000))
    try mounted.tree.stop()
    try other.close()
  }

  /// A mount knows a deleted record still. Were it forgotten meanwhile, the next list that the mount writes in full would name a
  /// revision that is gone, and no new device could take the member.
  @Test func noRecordIsForgottenThatAMountKnows() throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Emma/gone")
    try mounted.tree.commitNow()
    try mounted.tree.rmdir("Emma/gone")
    try mounted.tree.commitNow()
    do {
      let other = try mounted.openAgain()
      let report = try other.collect(keepDays: 0, isDryRun: false)
      #expect(report.forgottenRecordCount == 0 && report.stillListedRecordCount == 1)
      try other.close()
    }
    // So much that the list is written anew.
    for batch in 0..<4 {
      for number in 0..<250 { try mounted.tree.mkdir("Emma/\(batch) \(number)") }
      try mounted.tree.commitNow()
    }
    #expect(try mounted.vault.check(readsData: false).problems == [])
    // By now it is the only process.
    #expect(try mounted.vault.collect(keepDays: 0, isDryRun: false).forgottenRecordCount == 1)
    #expect(try mounted.vault.check(readsData: false).problems == [])
  }

  /// A sync brings objects before the head that names them.
  @Test func nothingIsRemovedWhileASyncRuns() throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    for text in ["one", "two"] {
      try mounted.tree.write("Emma/file", Array(text.utf8))
      try mounted.tree.commitNow()
    }
    let other = try mounted.openAgain()
    let name = try #require(RemoteName("usb"))
    try RemoteRegistry(state: other.state).add(
      RemoteConfiguration(name: name, address: "/usb", created: 0))
    do {
      let sync = try other.state.lockRemote(name)
      let isHeld = sync.isHeld
      #expect(isHeld)
      let report = try other.collect(keepDays: 0, isDryRun: false)
      #expect(report.objectCount == 0 && report.skippedMembers == ["Emma"])
      withExtendedLifetime(sync) {}
    }
    let report = try other.collect(keepDays: 0, isDryRun: false)
    #expect(report.objectCount > 0 && report.skippedMembers == [])
    try other.close()
  }
}
