import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// Wraps of epochs that are over go from remotes as well, and no device brings them back.
@Suite struct OldWrapSyncTests {
  private let usb = MemoryStore()

  private func wraps(_ store: MemoryStore, _ device: Family.Device) throws -> Set<String> {
    Set(try store.list(BlobPath("members/\(device.emma.id.hex)/wraps")).map(\.name))
  }

  @Test func theyGoFromRemotesAndStayAway() throws {
    let family = try Family(count: 3)
    for device in family.devices { try device.knowRemotes(["usb"]) }
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
    let old = try wraps(usb, family[0])
    #expect(!old.isEmpty)
    try family[0].vault.beginEpoch(of: family[0].emma, without: [])
    try family[0].vault.removeOldObjects().requireNone()
    for _ in 0..<3 {
      for device in family.devices {
        try device.sync(usb)
        try device.vault.removeOldObjects().requireNone()
      }
    }
    for store in family.devices.map(\.store) + [usb] {
      #expect(try wraps(store, family[0]).count == 1)
      #expect(try wraps(store, family[0]).isDisjoint(with: old))
    }
    // Nobody brings one back, and nothing moves.
    for device in family.devices {
      try device.reopen()
      let report = try device.sync(usb)
      #expect(report.pulled.isEmpty && report.pushed.isEmpty && report.problems == [])
    }
    #expect(try wraps(usb, family[0]).isDisjoint(with: old))
    try family.expectAgreement()
    // A folder of before is put back, by a copier: they go again.
    for name in old {
      let path = BlobPath("members/\(try family[0].emma.id.hex)/wraps/\(name)")
      try usb.replace(path, [UInt8](repeating: 0, count: 8), durably: true)
    }
    for device in family.devices { try device.sync(usb) }
    try family.expectAgreement()
  }
}
