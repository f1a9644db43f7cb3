import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// A vault that was opened as far as its heads: with the keys, and without the lists of records, so that it costs the
/// same however many there are. For a sync that only carries on what was committed here.
///
/// Nothing can be written through it. Whatever is not as it should be is left to `Vault.open`, which says what it is.
package struct VaultHeads: Sendable {
  private let context: VaultContext
  private let marks: Watermarks
  private let identities: ExpandedIdentities

  /// - Returns: Nil when something was found that only a whole opening can tell or mend.
  /// - Throws: As `Vault.open`.
  package static func open(
    _ copy: VaultCopy, key: borrowing DeviceUnlockKey
  ) throws(VaultError) -> VaultHeads? {
    let (context, marks, problems, _) = try Vault.openContext(
      copy, key: key, options: OpenOptions(readOnly: true))
    guard problems.isEmpty else { return nil }
    return VaultHeads(
      context: context, marks: marks, identities: context.keys.identities.expanded())
  }

  /// The heads of a member.
  ///
  /// - Parameter devices: Whose heads there are here that count.
  /// - Returns: Nil when this person has no keys of it, or when one of the heads waits to be taken over, is older than
  ///   this machine has seen it or does not open.
  package func member(
    _ id: MemberID, devices: [DeviceID]
  ) throws(VaultError) -> MemberHeads? {
    do {
      let opened = try context.opening(of: id).open(identities: identities)
      let register = HeadRegister(
        member: id, context: context, keys: opened.keys,
        known: KnownLinks(opened.links, at: context.clock.milliseconds()))
      var loaded: [LoadedHead] = []
      for device in devices { loaded.append(try register.load(device)) }
      guard loaded.allSatisfy(isAsSeen(register)) else { return nil }
      let current = loaded.filter { $0.late == nil }
      // A late head that waits to be taken over only an open vault takes.
      for head in loaded where head.late != nil {
        guard case .certain = current.takeover(of: head, after: nil, by: register.witnesses) else {
          return nil
        }
      }
      return MemberHeads(
        id: id,
        objects: ObjectStore(
          member: id, keys: opened.keys, store: context.store, staging: nil, lazy: context.lazy,
          buffers: context.buffers, readers: context.readers),
        heads: current.map(OpenedHead.init).sorted { $0.device < $1.device },
        knownCounters: Dictionary(
          loaded.map { ($0.device, $0.counter) }, uniquingKeysWith: max),
        register: register)
    } catch {
      switch error {
      case .noAccess, .accessEnded, .damaged, .missing, .rolledBack: return nil
      default: throw error
      }
    }
  }

  private func isAsSeen(_ register: HeadRegister) -> (LoadedHead) -> Bool {
    { head in
      guard let mark = marks[register.path(of: head.device)] else { return true }
      return head.counter > mark.counter
        || head.counter == mark.counter && head.hash == mark.hash
    }
  }
}
