import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

/// The ways in which one machine unlocks a vault.
@Suite struct UnlockSlotTests {
  private let memory: MemoryVault
  private var slots: UnlockSlots { UnlockSlots(vault: memory.id, state: memory.state) }
  private let token = [UInt8](repeating: 9, count: 32)

  init() throws { memory = try MemoryVault() }

  private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

  private func unlockKey() throws -> DeviceUnlockKey {
    try slots.open(password: secret(MemoryVault.password)).takeKey()
  }

  private func password(_ text: String, named name: String) throws -> UnlockSlots.NewSlot {
    var new = UnlockSlots.NewSlot(name: name)
    try new.add(password: secret(text), cost: .floor)
    return new
  }

  private func isRefused(_ password: String) -> Bool {
    do throws(VaultError) {
      _ = try slots.open(password: secret(password))
      return false
    } catch {
      if case .wrongPassword = error { return true }
      return false
    }
  }

  @Test func anyOneOpensTheVault() throws {
    let key = try unlockKey()
    try slots.add(password("another one", named: "second"), for: key, inPlaceOf: nil)
    #expect(try slots.open(password: secret("another one")).key.isSame(as: key) == true)
    #expect(try slots.open(password: secret(MemoryVault.password)).key.isSame(as: key) == true)
    #expect(isRefused("a third one"))
    #expect(try slots.all().slots.map(\.name) == ["password", "second"])
  }

  @Test func aPasswordGoesWithItsSlot() throws {
    let key = try unlockKey()
    try slots.add(password("another one", named: "second"), for: key, inPlaceOf: nil)
    let first = try #require(slots.all().slots.first)
    let other = try slots.open(password: secret("another one"), butFor: first).slot
    try slots.remove(first, leaving: other)
    #expect(isRefused(MemoryVault.password))
    #expect(try slots.open(password: secret("another one")).key.isSame(as: key) == true)
  }

  @Test func theLastOneStays() throws {
    let only = try #require(slots.all().slots.first)
    #expect {
      try slots.remove(only, leaving: only)
    } throws: {
      if case VaultError.lastSlot = $0 { true } else { false }
    }
    _ = try unlockKey()
  }

  @Test func namesAreTakenOnce() throws {
    let key = try unlockKey()
    #expect {
      try slots.add(password("another one", named: "password"), for: key, inPlaceOf: nil)
    } throws: {
      if case VaultError.alreadyExists = $0 { true } else { false }
    }
    let first = try #require(slots.all().slots.first)
    try slots.add(password("another one", named: "password"), for: key, inPlaceOf: first)
    #expect(isRefused(MemoryVault.password))
  }

  /// Both passwords open the vault then, until one takes the place of the two.
  @Test func aChangeThatWasCutShortIsMadeAgain() throws {
    let key = try unlockKey()
    let first = try #require(slots.all().slots.first)
    let path = BlobPath("slots").appending(first.id.hex)
    let file = try memory.stateStore.read(path, limit: 1 << 16)
    try slots.add(password("another one", named: "password"), for: key, inPlaceOf: first)
    try memory.stateStore.replace(path, file, durably: true)
    let opened = try slots.open(password: secret("another one")).slot
    try slots.add(password("a third one", named: "password"), for: key, inPlaceOf: opened)
    #expect(isRefused(MemoryVault.password) && isRefused("another one"))
    #expect(try slots.all().slots.count == 1)
  }

  /// A real second factor: neither alone.
  @Test func bothPartsAreNeeded() throws {
    let key = try unlockKey()
    var new = try password("with a token", named: "both")
    new.add(
      .token(credential: [1], salt: [UInt8](repeating: 2, count: 32), asksForPIN: false),
      giving: SecretBytes(copying: token))
    let slot = try slots.add(new, for: key, inPlaceOf: slots.all().slots.first)

    #expect {
      _ = try slots.open(password: secret("with a token"))
    } throws: {
      if case VaultError.passwordIsNotEnough = $0 { true } else { false }
    }
    func open(_ password: String?, _ token: [UInt8]?) throws -> DeviceUnlockKey {
      var given = SlotSecret()
      if let password {
        given.append(
          try slots.stretch(secret(password), for: slot.parts[0], of: slot), of: .password)
      }
      if let token { given.append(SecretBytes(copying: token), of: .token) }
      return try slots.open(slot, with: given)
    }
    #expect(try open("with a token", token).isSame(as: key) == true)
    for (password, token) in [
      ("with a token", nil), (nil, token), ("something else", token),
      ("with a token", [UInt8](repeating: 8, count: 32)),
    ] as [(String?, [UInt8]?)] {
      #expect {
        _ = try open(password, token)
      } throws: {
        if case VaultError.wrongPassword = $0 { true } else { false }
      }
    }
  }

  /// A key that does not open this machine's private keys must never take the place of the one that does.
  @Test func aStrangersKeyIsNoWayIn() throws {
    let stranger = DeviceUnlockKey.random()
    #expect {
      try slots.add(password("mine now", named: "mine"), for: stranger, inPlaceOf: nil)
    } throws: {
      if case VaultError.damagedSlot = $0 { true } else { false }
    }
    #expect(try slots.all().slots.count == 1)
  }

  @Test func aDamagedSlotIsToldAndTheOthersOpen() throws {
    let key = try unlockKey()
    let second = try slots.add(
      password("another one", named: "second"), for: key, inPlaceOf: nil)
    let path = BlobPath("slots").appending(second.id.hex)
    var file = try memory.stateStore.read(path, limit: 1 << 16)
    file[file.count / 2] ^= 1
    try memory.stateStore.replace(path, file, durably: true)
    #expect(try slots.all().damaged.count == 1)
    _ = try unlockKey()
    // It may be the one that the password is for: the person is told that it is the disk.
    #expect {
      _ = try slots.open(password: secret("another one"))
    } throws: {
      if case VaultError.damagedSlot = $0 { true } else { false }
    }
  }

  /// The words make this machine a device anew; who knew the password of before has nothing then.
  @Test func recoveringLeavesNoOldWayIn() throws {
    _ = try Vault.recover(
      VaultCopy(
        id: memory.id, store: memory.store, state: memory.state, clock: memory.clock.wallClock),
      words: memory.created.words,
      device: NewDevice(
        personName: "", deviceName: "desk", deviceKind: "", passwordCost: .floor,
        recoveryCost: .floor), password: secret("from the words"))
    #expect(isRefused(MemoryVault.password))
    #expect(try slots.all().slots.count == 1)
    _ = try slots.open(password: secret("from the words"))
  }

  /// Cut before the old slots are gone: they wrap a key that opens nothing.
  @Test func aSlotOfAnEarlierDeviceOpensNothing() throws {
    let old = try #require(slots.all().slots.first)
    let path = BlobPath("slots").appending(old.id.hex)
    let file = try memory.stateStore.read(path, limit: 1 << 16)
    try recoveringLeavesNoOldWayIn()
    try memory.stateStore.replace(path, file, durably: true)
    #expect(isRefused(MemoryVault.password))
    _ = try slots.open(password: secret("from the words"))
    // Nor is it another way in, without which the last real one could go.
    let real = try slots.open(password: secret("from the words")).slot
    for password in [MemoryVault.password, "from the words"] {
      #expect {
        _ = try slots.open(password: secret(password), butFor: real)
      } throws: {
        if case VaultError.wrongPassword = $0 { true } else { false }
      }
    }
    // It can be removed itself.
    let left = try #require(slots.all().slots.first { $0.id != real.id })
    try slots.remove(left, leaving: real)
    #expect {
      try slots.remove(real, leaving: left)
    } throws: {
      if case VaultError.lastSlot = $0 { true } else { false }
    }
    _ = try slots.open(password: secret("from the words"))
  }
}
