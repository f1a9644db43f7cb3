import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// What is known of what others have of a member that may have come from this folder. Docs/Format.md, "Thinning".
package struct SeenElsewhere: Sendable {
  /// Up to which of this device's heads a remote may have seen; the greatest number while that cannot be told.
  package var counter: UInt64
  /// The newest heads of the member and registers of other devices that a remote has shown before they were here, by their
  /// counters; nil where there is no remote, or it cannot be told.
  package var brought: [VaultPath: UInt64]?

  package init(counter: UInt64, brought: [VaultPath: UInt64]? = nil) {
    (self.counter, self.brought) = (counter, brought)
  }
}

extension Member {
  /// Whether a remote has brought here what is here of every other device that may write the member. A device of which
  /// anything came in another way may have objects of this folder that no remote has seen: a program copies files between
  /// them, or it works in this very folder. False while that cannot be told.
  func comeByRemotes(_ seen: SeenElsewhere, _ heads: HeadsState) -> Bool {
    guard let brought = seen.brought else { return false }
    let access = register.links.access
    let writers = context.people.persons.values.filter { access.countsAsWriter($0.id) }
    return writers.allSatisfy { person in
      Set(person.devices.keys).union(person.waiting.keys).allSatisfy { device in
        device == context.device.id || isBrought(device, of: person.id, brought, heads)
      }
    }
  }

  private func isBrought(
    _ device: DeviceID, of person: PersonID, _ brought: [VaultPath: UInt64], _ heads: HeadsState
  ) -> Bool {
    if let head = heads.last(of: device) {
      return head.counter <= brought[register.path(of: device)] ?? 0
    }
    guard let counter = brought[.device(person, device)] else { return false }
    do throws(VaultError) {
      let files = context.signedFiles
      return try files.loadRegisterWithoutVerifying(of: device, person: person).body.counter
        <= counter
    } catch {
      // Nothing is removed then; what is wrong with the register the next look at the vault says.
      return false
    }
  }
}
