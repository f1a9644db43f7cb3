import Vault
import VaultModel

/// Who has written something and when, in words.
struct AuthorNames {
  private let vault: Vault
  private let texts: Texts
  private let people: [PersonID: String]

  init(_ vault: Vault, _ texts: Texts) throws(VaultError) {
    (self.vault, self.texts) = (vault, texts)
    people = Dictionary(
      try vault.knownPeople().map { ($0.id, $0.name.isEmpty ? $0.id.shortHex : $0.name) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Of a record's newest revision.
  func text(of shown: ShownRecord) throws(VaultError) -> String {
    let when = time(milliseconds: shown.entry.time.milliseconds)
    return texts("record.changed", when) + ", "
      + text(of: try shown.member.authorship(of: shown.entry.revision)) + "."
  }

  func text(of authorship: Authorship) -> String {
    switch authorship {
    case .signed(let author) where author.standing == .unlisted: texts("record.unlisted")
    case .signed(let author): texts("record.by", name(of: author))
    case .joined: texts("record.joined")
    case .brought: texts("record.unsigned")
    }
  }

  /// One's own devices by their names, others by the person's.
  private func name(of author: Authorship.Author) -> String {
    let person = people[author.person] ?? author.person.shortHex
    guard author.person == vault.person else { return person }
    return "\(vault.name(of: author.device)) (\(texts("people.ofYou")))"
  }

  /// The day, in the time zone of this machine, and the time of day.
  func time(milliseconds: UInt64) -> String {
    let text = LocalTimeText.of(milliseconds: milliseconds)
    return "\(texts.date(text.day)), \(text.time)"
  }
}
