import Testing
import VaultCrypto
import VaultModel
import VaultPeople

@testable import Vault
@testable import VaultSync

/// Keys that change on machines which have not met, and the words that join them.
extension Simulation {
  /// New keys for the person and for the member, as after a removal, and what nobody needs any more goes.
  mutating func changeKeys(on number: Int) throws {
    log("\(number): changes keys")
    let vault = devices[number].vault
    let words = try RecoveryWords(parsing: self.words)
    try vault.beginGeneration(removing: [], words: words)
    try vault.beginEpoch(of: devices[number].emma, without: [])
    try vault.removeOldObjects().requireNone()
  }

  /// Whether this is what somebody is told while keys are divided: they begin no epoch and become no device, and who has become
  /// one writes nothing.
  func mayWaitForWords(_ error: any Error) -> Bool {
    changesKeys && "\(error)".contains("keysDivided")
  }

  /// Whether a machine is told that it is out. Nobody removes one here; but one that was copied or put back may have become a
  /// device of its own while keys were changed elsewhere, by somebody who had not met it.
  func isOut(_ error: any Error) -> Bool {
    changesKeys && "\(error)".contains("thisDeviceRemoved")
  }

  /// As its person does then.
  mutating func recover(_ number: Int) throws {
    log("\(number): is made a device anew")
    try devices[number].recover(RecoveryWords(parsing: words))
    if !onlookers.isEmpty { onlookers[number] = try Self.onlooker(of: devices[number]) }
  }

  /// As a mount does all the time; who waits for the words joins nothing.
  func join(on number: Int) throws {
    do { _ = try devices[number].emma.joinConcurrent() } catch {
      guard mayWaitForWords(error) else { throw error }
    }
  }

  /// Whoever is told that keys are divided joins them with the words, one after the other.
  mutating func joinKeys() throws {
    guard changesKeys else { return }
    for _ in 0..<devices.count {
      let divided = try devices.firstIndex {
        try $0.vault.context.ownPerson().generation == nil
      }
      guard let divided else { return }
      log("\(divided): joins the keys")
      let words = try RecoveryWords(parsing: self.words)
      try devices[divided].vault.beginGeneration(removing: [], words: words)
      try meet()
    }
  }
}
