/// A text of which there is one in the world: the first line of a file, or of a record's note.
enum LedgerText {
  static func `in`(_ content: [UInt8]) -> String? {
    content.prefix(2000).split(separator: 0x0A).first { line in
      line.starts(with: Array("text ".utf8))
    }.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// What was written in a schedule, and where it is for certain.
struct RealLedger {
  enum Place: Hashable { case machine(Int), remote(Int) }

  /// Where each text is that has to be found at the end.
  private(set) var wanted: [String: Set<Place>] = [:]
  /// Texts of a machine that a kill of its mount may take.
  private var unsaved: [Int: Set<String>] = [:]
  private var count = 0

  mutating func newText() -> String {
    count += 1
    return "text \(count)"
  }

  /// - Parameter isSaved: A call that promises it has returned.
  mutating func write(_ text: String, on machine: Int, isSaved: Bool) {
    wanted[text] = [.machine(machine)]
    if !isSaved { unsaved[machine, default: []].insert(text) }
  }

  /// Somebody who saw it replaced or removed it.
  mutating func replace(_ text: String?) {
    guard let text else { return }
    wanted[text] = nil
    for machine in unsaved.keys { unsaved[machine]?.remove(text) }
  }

  mutating func isSaved(on machine: Int) { unsaved[machine] = nil }

  mutating func kill(mountOf machine: Int) {
    for text in unsaved[machine] ?? [] { wanted[text] = nil }
    unsaved[machine] = nil
  }

  /// What is at one place for certain.
  func texts(at place: Place) -> Set<String> {
    Set(wanted.filter { $0.value.contains(place) }.keys)
  }

  /// Both have now what one of them had.
  mutating func meet(_ machine: Int, _ remote: Int) {
    let both: Set<Place> = [.machine(machine), .remote(remote)]
    for (text, places) in wanted where !places.isDisjoint(with: both) {
      wanted[text] = places.union(both)
    }
  }

  /// The place holds nothing any more but what it held at some moment. What was nowhere else is gone.
  mutating func reset(_ place: Place, to texts: Set<String>) {
    for (text, places) in wanted where places.contains(place) && !texts.contains(text) {
      let left = places.subtracting([place])
      wanted[text] = left.isEmpty ? nil : left
    }
  }

  /// Another machine has what this one has.
  mutating func copy(_ machine: Int, as copy: Int) {
    for text in texts(at: .machine(machine)) { wanted[text]?.insert(.machine(copy)) }
  }
}
