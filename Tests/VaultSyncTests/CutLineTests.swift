import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// A machine that was copied is stopped at any call that its last commit makes, and becomes a device of its own then: what it
/// shows when it starts again comes to everybody.
@Suite struct CutLineTests {
  @Test(arguments: [false, true], [false, true])
  func whatShowsAfterACutInTheStateComesToAll(changesKeys: Bool, losesPower: Bool) throws {
    try cutEverywhere(changesKeys, losesPower) { $0.stateStore }
  }

  @Test(arguments: [false, true], [false, true])
  func whatShowsAfterACutInTheFolderComesToAll(changesKeys: Bool, losesPower: Bool) throws {
    try cutEverywhere(changesKeys, losesPower) { $0.store }
  }

  private func cutEverywhere(
    _ changesKeys: Bool, _ losesPower: Bool, in store: (Family.Device) -> MemoryStore
  ) throws {
    for call in 1... {
      let remote = MemoryStore()
      let family = try Family(count: 2)
      for device in family.devices { try device.knowRemotes(["usb"]) }
      let note = try family[0].write("Visit", "first")
      try family.meet(at: remote)
      let twin = try family[0].clone()
      try family[0].write("By itself", "by itself")
      if changesKeys {
        try family[0].vault.beginEpoch(of: family[0].emma, without: [])
        try family[0].vault.removeOldObjects().requireNone()
      }
      try family[0].sync(remote)
      try twin.edit(note, "second")
      store(twin).cut(after: call)
      var isWhole = true
      do { try twin.write("Last", "last") } catch let error as VaultError {
        guard case .io = error else { throw error }
        isWhole = false
      }
      if losesPower {
        twin.store = twin.store.imageAfterPowerCut(seed: UInt64(call))
        twin.stateStore = twin.stateStore.imageAfterPowerCut(seed: UInt64(call) + 1)
      }
      try twin.reopen()
      let shown = Set(try twin.contents().values)
      #expect(shown.contains("second") && (shown.contains("last") || !isWhole))
      try expectEverywhere(
        shown.union(["by itself"]), on: family.devices + [twin], at: remote, "call \(call)")
      if isWhole { return }
    }
  }

  private func expectEverywhere(
    _ texts: Set<String>, on devices: [Family.Device], at remote: MemoryStore, _ comment: Comment
  ) throws {
    for _ in 0..<4 { for device in devices { try device.sync(remote) } }
    for device in devices {
      let contents = Set(try device.contents().values)
      #expect(texts.isSubset(of: contents), comment)
      try device.expectWhole(comment)
      try device.reopen()
      #expect(Set(try device.contents().values) == contents, comment)
    }
  }
}
