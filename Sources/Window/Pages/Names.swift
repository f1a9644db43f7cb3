import Vault
import VaultModel

/// What people are called, in the page's language.
struct PersonNames {
  let people: [KnownPerson]
  private let byID: [PersonID: KnownPerson]
  private let texts: Texts

  /// - Throws: What reading throws.
  init(_ vault: Vault, _ texts: Texts) throws(VaultError) {
    people = try vault.knownPeople()
    self.texts = texts
    byID = Dictionary(people.map { ($0.id, $0) }) { first, _ in first }
  }

  /// The name; what an owner whom this person knows calls somebody of whom no name is known; or the first digits of the id.
  func name(of id: PersonID) -> String {
    guard let person = byID[id] else { return id.shortHex }
    if !person.name.isEmpty { return person.name }
    guard let told = person.toldName else { return id.shortHex }
    return texts("people.told", told.name, name(of: told.teller))
  }

  /// Whether more than the folder says whose keys these are.
  func isVerified(_ id: PersonID) -> Bool {
    byID[id].map { $0.isSelf || $0.verification != .trustedOnFirstUse } ?? false
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

  init(_ vault: Vault, _ texts: Texts) throws(VaultError) {
    (self.vault, self.texts) = (vault, texts)
    people = try PersonNames(vault, texts)
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
