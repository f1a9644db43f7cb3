import Vault

extension ContestedInvitation {
  /// What happened and what to do, for a person.
  var text: String {
    let who = answers.map { answer in
      let id = answer.person.hex.prefix(12)
      return answer.name.isEmpty ? "\(id)" : "\(Terminal.visible(answer.name)) (\(id))"
    }.joined(separator: " and ")
    let made = DateText.local(milliseconds: created)
    return "Several people have answered your invitation of \(made): \(who). Somebody else has "
      + "seen it, so none of them is taken for the one that you invited. Compare words "
      + "with that one, at the telephone or in person: kinvault verify \(answers[0].person.hex.prefix(12))"
      + answers.dropFirst().map { ", or kinvault verify \($0.person.hex.prefix(12))" }.joined()
      + ". Share nothing with the others."
  }
}
