import VaultModel
import VaultTrust

/// What honest people have written, and what those who wrote it knew of who may read it.
struct HonestLedger {
  struct Entry {
    let device: DeviceID
    /// Those whose devices counted and whose person had access, as the writer saw it; nil while the keys in use were
    /// somebody's who is out.
    let readers: Set<DeviceID>?
    /// The root keys by whose words these people's keys can be had.
    let wordKeys: Set<VerifyingKey>
  }

  private(set) var entries: [String: Entry] = [:]

  mutating func note(_ text: String, _ entry: Entry) { entries[text] = entry }

  /// The text with this number, which stands in no other.
  static func text(_ number: Int) -> String { "<text-\(number)>" }
  static func title(_ number: Int) -> String { "<title-\(number)>" }
}
