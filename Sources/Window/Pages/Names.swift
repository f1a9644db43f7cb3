import Vault
import VaultErrors
import VaultModel

/// What people are called, in the page's language.
struct PersonNames {
  let known: KnownPeople
  private let texts: Texts

  /// - Throws: What reading throws.
  static func load(_ vault: Vault, _ texts: Texts) throws(VaultError) -> PersonNames {
    PersonNames(known: KnownPeople(try vault.knownPeople()), texts: texts)
  }

  func name(of id: PersonID) -> String {
    switch known.name(of: id) {
    case .own(let name): name
    case .told(let name, let teller): texts("people.told", name, teller)
    case .unsaid(let digits): digits
    }
  }

  /// Whether more than the folder says whose keys these are.
  func isVerified(_ id: PersonID) -> Bool {
    known[id]?.isVerified ?? false
  }

  func verification(of person: KnownPerson) -> String {
    switch person.verification {
    case .trustedOnFirstUse: texts("verified.not")
    case .invitedInPerson: texts("verified.invited")
    case .wordsCompared: texts("verified.words")
    case .other: texts("verified.other")
    }
  }
}

/// Who has written something and when, in words.
struct AuthorNames {
  private let vault: Vault
  private let texts: Texts
  private let people: PersonNames

  static func load(_ vault: Vault, _ texts: Texts) throws(VaultError) -> AuthorNames {
    AuthorNames(vault: vault, texts: texts, people: try PersonNames.load(vault, texts))
  }

  /// Of a record's newest revision.
  func text(of shown: ShownRecord) throws(VaultError) -> String {
    let when = texts.time(milliseconds: shown.entry.time.milliseconds)
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
    guard author.person == vault.person else { return people.name(of: author.person) }
    return "\(vault.name(of: author.device)) (\(texts("people.ofYou")))"
  }
}
