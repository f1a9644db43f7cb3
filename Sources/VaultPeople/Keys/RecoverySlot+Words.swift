import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

extension RecoverySlot {
  /// The master key under the words. Takes as long as the cost says.
  package init(
    of master: borrowing MasterKey, words: borrowing RecoveryWords, cost: Argon2Cost,
    binding: Binding
  ) throws(VaultError) {
    let salt = randomBytes(16)
    do {
      let seed = try words.seed(salt: salt, cost: cost)
      self.init(
        salt: salt, passes: cost.passes, memoryKiB: cost.memoryKiB,
        wrappedMasterKey: master.wrap(for: seed, binding: binding))
    } catch {
      throw .crypto(error)
    }
  }
}

extension Person {
  /// The slot that the words open, of a closing that counts.
  func recoverySlot(of closing: StatementID) throws(VaultError) -> RecoverySlot {
    let path = VaultPath.closing(id, closing).string
    guard let body = history.valid[closing] else { throw .missing(path: path) }
    do { return try RecoverySlot(decoding: body.recovery) } catch {
      throw VaultError(error, path: path)
    }
  }

  /// The master key that a closing's slot holds under the words. Takes as long as the slot's cost says.
  ///
  /// - Throws: `wrongWords`; `damaged` when it is not the generation's, or its cost is out of range.
  package func openRecoverySlot(
    of closing: StatementID, words: borrowing RecoveryWords, binding: Binding
  ) throws(VaultError) -> MasterKey {
    let path = VaultPath.closing(id, closing).string
    let slot = try recoverySlot(of: closing)
    let cost = Argon2Cost(passes: slot.passes, memoryKiB: slot.memoryKiB)
    let master: MasterKey
    do {
      let seed = try words.seed(salt: slot.salt, cost: cost)
      master = try MasterKey.unwrap(slot.wrappedMasterKey, seed: seed, binding: binding)
    } catch {
      switch error {
      case .costOutOfRange: throw VaultError(error, path: path)
      default: throw .wrongWords
      }
    }
    // The slot is signed, so this only fails for a vault made by broken software.
    guard master.agreementKey(binding: binding).publicKey == history.valid[closing]?.agreementKey
    else { throw .damaged(path: path, reason: "its recovery slot holds another key") }
    return master
  }
}
