import Testing
import VaultModel

@testable import VaultCrypto

@Suite(.serialized) struct SessionKeyringTests {
  /// A vault of this test alone, so that it never touches a real session.
  let vault = VaultID.random()
  let state = "/somewhere/state"

  /// Says loudly when there is nothing to test here.
  private var isAvailable: Bool {
    if SessionKeyring.isAvailable { return true }
    print("SKIPPED, NOT TESTED: this system offers no kernel keyring to this process")
    return false
  }

  @Test func storesLoadsAndRemoves() throws {
    guard isAvailable else { return }
    #expect(try isAbsent())
    let key = DeviceUnlockKey.random()
    try SessionKeyring.store(key, vault: vault, state: state, timeout: .seconds(60))
    for _ in 0..<3 { #expect(try holds(key) == true) }
    try SessionKeyring.remove(vault: vault, state: state)
    #expect(try isAbsent())
    try SessionKeyring.remove(vault: vault, state: state)
  }

  @Test func twoStatesOfOneVaultEachHaveTheirKey() throws {
    guard isAvailable else { return }
    let key = DeviceUnlockKey.random()
    try SessionKeyring.store(key, vault: vault, state: state, timeout: .seconds(60))
    try SessionKeyring.store(.random(), vault: vault, state: "/a stick", timeout: .seconds(60))
    #expect(try holds(key) == true)
    try SessionKeyring.remove(vault: vault, state: "/a stick")
    #expect(try holds(key) == true)
    try SessionKeyring.remove(vault: vault, state: state)
    #expect(try isAbsent())
  }

  @Test func storingAgainReplaces() throws {
    guard isAvailable else { return }
    try SessionKeyring.store(.random(), vault: vault, state: state, timeout: .seconds(60))
    let key = DeviceUnlockKey.random()
    try SessionKeyring.store(key, vault: vault, state: state, timeout: .milliseconds(60_500))
    #expect(try holds(key) == true)
    try SessionKeyring.remove(vault: vault, state: state)
    #expect(try isAbsent())
  }

  @Test func theKeyGoesWhenItIsNotUsedAndStaysWhileItIs() async throws {
    guard isAvailable else { return }
    let key = DeviceUnlockKey.random()
    let timeout = Duration.seconds(6)
    try SessionKeyring.store(key, vault: vault, state: state, timeout: timeout)
    let clock = ContinuousClock()
    var (start, lastUse) = (clock.now, clock.now)
    // Uses it every second until well after it would have gone without. Where the machine stood still
    // for so long that it may have gone, that says nothing, and it begins again.
    for _ in 0..<60 where clock.now - start < timeout + .seconds(2) {
      try await Task.sleep(for: .seconds(1))
      let isHeld = try holds(key)
      let pause = clock.now - lastUse
      lastUse = clock.now
      if pause < timeout - .seconds(2) {
        #expect(isHeld)
      } else {
        try SessionKeyring.store(key, vault: vault, state: state, timeout: timeout)
        start = clock.now
      }
    }
    #expect(clock.now - start >= timeout + .seconds(2))
    // Far longer than the timeout, so that a busy machine does not matter.
    try await Task.sleep(for: .seconds(10))
    #expect(try isAbsent())
  }

  private func holds(_ key: borrowing DeviceUnlockKey) throws -> Bool {
    guard let found = try SessionKeyring.load(vault: vault, state: state) else { return false }
    return found.isSame(as: key)
  }

  private func isAbsent() throws -> Bool {
    if try SessionKeyring.load(vault: vault, state: state) == nil { return true }
    return false
  }
}
