import VaultErrors

/// Members that counted here and fell with the device that had made them, as their person removed it where nobody had met them.
struct FallenMembers {
  private static let shownCount = 3

  let problems: [Problem]

  /// - Parameter problems: What was found when the vault was opened.
  init(among problems: [Problem]) {
    self.problems = problems.filter { $0.kind == .unlisted && $0.severity > .note }
  }

  /// What brings them back, in one line: whoever has such a device may have made any number. Nil if there are none.
  var note: String? {
    guard let first = problems.first else { return nil }
    var names = problems.prefix(Self.shownCount).map { $0.member ?? $0.path }
    let others = problems.count - names.count
    if others > 0 { names.append("\(others) more") }
    let each = problems.count > 1 ? ", each of them" : ""
    return "\(names.joined(separator: ", "))\(each): \(first.reason)"
  }
}
