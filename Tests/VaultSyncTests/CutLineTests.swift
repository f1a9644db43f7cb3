import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// A machine that was copied is stopped at any call that its last commit makes, and becomes a device of its own then: what it
/// shows when it starts again comes to everybody.
@Suite struct CutLineTests {
  /// What becomes of the keys while it commits. As long as they are divided no machine becomes another device.
  enum Keys: CaseIterable { case stay, change, divide }

  @Test(arguments: Keys.allCases, [false, true])
  func whatShowsAfterACutInTheStateComesToAll(keys: Keys, losesPower: Bool) throws {
    try cutEverywhere(keys, losesPower) { $0.stateStore }
  }

  @Test(arguments: Keys.allCases, [false, true])
  func whatShowsAfterACutInTheFolderComesToAll(keys: Keys, losesPower: Bool) throws {
    try cutEverywhere(keys, losesPower) { $0.store }
  }

  /// What a machine had saved and nobody had got, when it was left out, its kept head alone names. The words make it a device anew,
  /// whose first head is to have that.
  @Test func whatIsTakenAlongOutlivesACut() throws {
    let usb = MemoryStore()
    let family = try Family(count: 2)
    let (desk, phone) = (family[0], family[1])
    try family.meet(at: usb)
    try phone.write("Unsent", "unsent")
    try desk.vault.beginGeneration(removing: [phone.vault.device], words: Family.words.words)
    try desk.sync(usb)
    #expect(throws: SyncError.self) { try phone.sync(usb) }
    let left = phone.snapshot()
    func copy(_ store: MemoryStore, _ state: MemoryStore) -> VaultCopy {
      VaultCopy(
        id: phone.vault.id, store: store, state: StateFolder(store: state),
        clock: phone.clock.wallClock)
    }
    let key = try Vault.recover(
      copy(left.store, left.state), words: Family.words.words, device: Family.newDevice,
      password: SecretBytes(copying: Array("pw".utf8)))
    for call in 1... {
      let (store, state) = (left.store.imageAfterKill(), left.state.imageAfterKill())
      store.cut(after: call)
      do throws(VaultError) { _ = try Vault.open(copy(store, state), key: key) } catch {
        guard case .io = error else { throw error }
      }
      let again = try Vault.open(copy(store.imageAfterKill(), state.imageAfterKill()), key: key)
      let emma = try #require(again.members.first { $0.name.string == "Emma" })
      #expect(emma.record(titled: "Unsent") != nil, "call \(call)")
      if store.mutatingCallCount < call { return }
    }
  }

  private func cutEverywhere(
    _ keys: Keys, _ losesPower: Bool, in store: (Family.Device) -> MemoryStore
  ) throws {
    for call in 1... {
      let remote = MemoryStore()
      let family = try Family(count: 2)
      for device in family.devices { try device.knowRemotes(["usb"]) }
      let note = try family[0].write("Visit", "first")
      try family.meet(at: remote)
      let twin = try family[0].clone()
      try family[0].write("By itself", "by itself")
      if keys != .stay { try changeKeys(on: family[0]) }
      if keys == .divide { try changeKeys(on: family[1]) }
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
      let devices = family.devices + [twin]
      if keys == .divide {
        for _ in 0..<2 { for device in devices { try syncUnlessKeysAreDivided(device, remote) } }
        try family[0].vault.beginGeneration(removing: [], words: Family.words.words)
      }
      try expectEverywhere(
        shown.union(["by itself"]), on: devices, at: remote, "call \(call)")
      if isWhole { return }
    }
  }

  private func changeKeys(on device: Family.Device) throws {
    try device.vault.beginGeneration(removing: [], words: Family.words.words)
    try device.vault.beginEpoch(of: device.emma, without: [])
    try device.vault.removeOldObjects().requireNone()
  }

  private func syncUnlessKeysAreDivided(
    _ device: Family.Device, _ remote: MemoryStore
  ) throws {
    do { try device.sync(remote) } catch SyncError.vault(.keysDivided) { return }
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
