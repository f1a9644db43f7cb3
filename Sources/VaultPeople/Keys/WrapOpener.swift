import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

/// Tells whether a wrap of a master key for this machine's device gives that key. Nothing else does, for wraps have no
/// signature: whoever can write to a folder or a store can put another one there.
package struct WrapOpener: Sendable {
  private let person: PersonID
  private let binding: Binding
  private let current: @Sendable () -> (device: ThisDevice, opened: [VaultPath: [UInt8]])

  /// - Parameters:
  ///   - person: This machine's.
  ///   - current: This machine's device, and the wraps that this process has opened with its keys. Is asked each time: the
  ///     machine may become a device of its own, and keys may come.
  package init(
    person: PersonID, binding: Binding,
    current: @escaping @Sendable () -> (device: ThisDevice, opened: [VaultPath: [UInt8]])
  ) {
    (self.person, self.binding, self.current) = (person, binding, current)
  }

  /// - Throws: `damaged` for a wrap for this device that does not open, or not as the key of this generation.
  package func requireWhole(
    _ bytes: [UInt8], of generation: StatementID, for device: DeviceID, of person: Person
  ) throws(VaultError) {
    guard person.id == self.person else { return }
    let (own, opened) = current()
    guard device == own.id else { return }
    // What this process has opened with its keys need not be opened again at every sync.
    if opened[.wrap(person.id, generation, device)] == bytes { return }
    let wrap = DeviceWrap(generation: generation, person: person, device: own, bytes: bytes)
    _ = try wrap.open(binding: binding)
  }
}
