import Testing
import VaultModel

@testable import VaultCrypto

@Suite(.serialized) struct SessionKeyringTests {
  /// A vault of this test alone, so that it never touches a real session.
  let vault = VaultID.random()

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
    try SessionKeyring.store(key, vault: vault, timeout: .seconds(60))
    for _ in 0..<3 { #expect(try holds(key) == true) }
    try SessionKeyring.remove(vault: vault)
    #expect(try isAbsent())
    try SessionKeyring.remove(vault: vault)
  }

  @Test func storingAgainReplaces() throws {
    guard isAvailable else { return }
    try SessionKeyring.store(.random(), vault: vault, timeout: .seconds(60))
    let key = DeviceUnlockKey.random()
    try SessionKeyring.store(key, vault: vault, timeout: .milliseconds(60_500))
    #expect(try holds(key) == true)
    try SessionKeyring.remove(vault: vault)
    #expect(try isAbsent())
  }

  @Test func theKeyGoesWhenItIsNotUsedAndStaysWhileItIs() async throws {
    guard isAvailable else { return }
    let key = DeviceUnlockKey.random()
    try SessionKeyring.store(key, vault: vault, timeout: .seconds(3))
    for _ in 0..<5 {
      try await Task.sleep(for: .seconds(1))
      #expect(try holds(key) == true)
    }
    // Far longer than the timeout, so that a busy machine does not matter.
    try await Task.sleep(for: .seconds(5))
    #expect(try isAbsent())
  }

  private func holds(_ key: borrowing DeviceUnlockKey) throws -> Bool {
    guard let found = try SessionKeyring.load(vault: vault) else { return false }
    return found.isSame(as: key)
  }

  private func isAbsent() throws -> Bool {
    if try SessionKeyring.load(vault: vault) == nil { return true }
    return false
  }
}
