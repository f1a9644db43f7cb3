import MachineState
import VaultErrors

extension Vault {
  /// Runs `body` while no other process of this device has the vault open, and no sync runs; others wait meanwhile.
  ///
  /// - Returns: False, and `body` did not run, when somebody does.
  package func whileAlone(_ body: () throws(VaultError) -> Void) throws(VaultError) -> Bool {
    try context.reading.whileAlone(body)
  }
}
