import Vault
import VaultModel

extension ContestedInvitation {
  /// What happened and what to do, for a person.
  var text: String {
    let made = DateText.local(milliseconds: created)
    if let invited = answers.first(where: { $0.person == verified }) {
      let others = answers.filter { $0.person != verified }
      return "You have compared words with \(Self.name(invited)), whom you invited on \(made). "
        + "\(others.map(Self.name).joined(separator: " and ")) answered the same invitation: somebody else has seen it. "
        + "Share nothing with them, unless you know who they are: \(Self.commands(for: others))."
    }
    if let first = answers.first(where: { $0.person == taken }) {
      let others = answers.filter { $0.person != taken }
      return "\(Self.name(first)) was taken for the one whom you invited on \(made). Since then "
        + "\(others.map(Self.name).joined(separator: " and ")) answered the same invitation: somebody else has seen it. "
        + "Compare words with the one whom you invited, at the telephone or in person: \(Self.commands(for: answers)). Until then share "
        + "nothing with either."
    }
    let who = answers.map(Self.name).joined(separator: " and ")
    return "Several people have answered your invitation of \(made): \(who). Somebody else has "
      + "seen it, so none of them is taken for the one that you invited. Compare words "
      + "with that one, at the telephone or in person: \(Self.commands(for: answers)). Share nothing with the others."
  }

  private static func commands(for answers: [Answer]) -> String {
    answers.map { "kinvault verify \($0.person.hex.prefix(12))" }.joined(separator: ", or ")
  }

  private static func name(_ answer: Answer) -> String {
    let id = answer.person.hex.prefix(12)
    return answer.name.isEmpty ? "\(id)" : "\(Terminal.visible(answer.name)) (\(id))"
  }
}
