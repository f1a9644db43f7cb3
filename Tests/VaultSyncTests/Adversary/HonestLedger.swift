import VaultModel
import VaultTrust

/// What honest people have written, and who may not read it.
struct HonestLedger {
  struct Entry {
    let device: DeviceID
    let member: MemberID
    /// Those whose removal a link carries out that stood in the writer's folder; at a machine of an owner also those whose
    /// removal alone stood there when it synced last.
    let excluded: Set<KeyHolder>
  }

  private(set) var entries: [String: Entry] = [:]

  mutating func note(_ text: String, _ entry: Entry) { entries[text] = entry }

  /// The text with this number, which stands in no other.
  static func text(_ number: Int) -> String { "<text-\(number)>" }
  static func title(_ number: Int) -> String { "<title-\(number)>" }
}
