import VaultModel
import VaultTrust

/// What honest people have written, who may not read it, and what became of it.
struct HonestLedger {
  struct Entry {
    /// The number of the machine.
    let machine: Int
    let device: DeviceID
    let member: MemberID
    /// Those whose removal a link carries out that stood in the writer's folder; at a machine of an owner also those whose
    /// removal alone stood there when it synced last.
    let excluded: Set<KeyHolder>
  }

  private(set) var entries: [String: Entry] = [:]

  /// By each text the texts that somebody put in its place who saw it.
  private var replacements: [String: Set<String>] = [:]
  /// Texts that somebody deleted who saw them.
  private var deleted: Set<String> = []

  mutating func note(_ text: String, _ entry: Entry, insteadOf seen: Set<String> = []) {
    entries[text] = entry
    for former in seen { replacements[former, default: []].insert(text) }
  }

  /// Where texts were moved, and at which machine.
  private var moves: [String: [(member: MemberID, machine: Int)]] = [:]

  mutating func noteMoved(_ texts: Set<String>, to member: MemberID, by machine: Int) {
    for text in texts { moves[text, default: []].append((member, machine)) }
  }

  mutating func noteDeleted(_ texts: Set<String>) { deleted.formUnion(texts) }

  /// Texts that nobody sees any more though nobody who saw them replaced or deleted them.
  ///
  /// - Parameter isExcused: Whether a text may be gone with what its writer lost: their machine, or their access. Then what it
  ///   replaced is seen, or what replaced it.
  func lost(among shown: Set<String>, isExcused: (MemberID, _ machine: Int) -> Bool) -> [String] {
    entries.filter { text, entry in
      !isExcused(entry.member, entry.machine) && !stands(text, among: shown, isExcused: isExcused)
    }.map(\.key).sorted()
  }

  private func stands(
    _ text: String, among shown: Set<String>, isExcused: (MemberID, _ machine: Int) -> Bool
  ) -> Bool {
    var next = [text]
    var seen: Set<String> = []
    while let text = next.popLast() {
      if shown.contains(text) || deleted.contains(text) { return true }
      // Whoever moved it had no access to where it went: it is in the history of where it was.
      let isMovedAway = (moves[text] ?? []).contains { move in
        isExcused(move.member, move.machine)
          || entries[text].map { isExcused($0.member, move.machine) } ?? false
      }
      if isMovedAway { return true }
      next += (replacements[text] ?? []).filter { seen.insert($0).inserted }
    }
    return false
  }

  /// The texts of a ledger that stand in lines.
  static func texts(in lines: some Sequence<String>) -> Set<String> {
    Set(lines.flatMap { $0.matches(of: /<(text|title)-[0-9]+>/).map { String($0.output.0) } })
  }

  /// The text with this number, which stands in no other.
  static func text(_ number: Int) -> String { "<text-\(number)>" }
  static func title(_ number: Int) -> String { "<title-\(number)>" }
}
