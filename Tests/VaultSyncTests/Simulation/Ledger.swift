/// Every text that was ever written, and what may have become of it.
struct Ledger {
  enum Fate {
    /// It has to be found at the end.
    case wanted
    /// Its commit was cut, so that it may be there or not.
    case uncertain
    /// Someone who saw it replaced or deleted it.
    case replaced
  }

  private(set) var fates: [String: Fate] = [:]

  mutating func newText() -> String {
    let text = "text \(fates.count)"
    fates[text] = .wanted
    return text
  }

  mutating func note(_ text: String, _ fate: Fate) {
    if fates[text] != nil { fates[text] = fate }
  }

  func lost(among found: Set<String>) -> [String] {
    fates.filter { $0.value == .wanted && !found.contains($0.key) }.map(\.key).sorted()
  }
}
