import VaultErrors
import VaultModel
import VaultTrust

/// Tells whether a wrap of a master key for this machine's device gives that key. Nothing else does, for wraps have no
/// signature: whoever can write to a folder or a store can put another one there.
package struct WrapOpener: Sendable {
  private let context: VaultContext

  init(_ context: VaultContext) { self.context = context }

  /// - Throws: `damaged` for a wrap for this device that does not open, or not as the key of this generation.
  func requireWhole(
    _ bytes: [UInt8], of generation: StatementID, for device: DeviceID, of person: Person
  ) throws(VaultError) {
    let own = context.device
    guard device == own.id, person.id == context.person else { return }
    // What this process has opened with its keys need not be opened again at every sync.
    if context.keys.wraps[.wrap(person.id, generation, device)] == bytes { return }
    let wrap = DeviceWrap(generation: generation, person: person, device: own, bytes: bytes)
    _ = try wrap.open(binding: context.binding)
  }
}
