import VaultModel

/// A person of the vault, as this one knows them.
package struct KnownPerson: Sendable {
  /// What somebody else calls a person.
  package struct ToldName: Hashable, Sendable {
    package var name: String
    /// Whose word that is: this person has a name of theirs.
    package var teller: PersonID
  }

  package var id: PersonID
  /// What they are called; empty for someone of whom nobody has said it.
  package var name: String
  /// What an owner whom this person knows calls somebody of whom this one knows no name.
  package var toldName: ToldName?
  package var verification: Verification
  /// When they were verified, or, without that, made their keys by their own clock; milliseconds since 1970.
  package var since: UInt64
  /// True for the person who asks.
  package var isSelf: Bool
  /// Whether somebody has let them in: this person knows them, or can open a member that names them. Anybody who can
  /// write to the folder can add others.
  package var isSpokenOf: Bool

  /// Whether more than the folder says whose keys these are.
  package var isVerified: Bool { isSelf || verification != .trustedOnFirstUse }
}

/// Everyone in a vault, and what they are called.
package struct KnownPeople: Sendable {
  /// What a person is called, by what this one knows.
  package enum Name: Hashable, Sendable {
    /// So this person calls them.
    case own(String)
    /// So an owner calls them of whom this person knows a name, which is `teller`; this person has no name for them.
    case told(String, teller: String)
    /// Nobody has said it: the first digits of their id stand for them.
    case unsaid(String)
  }

  /// In the order in which they are listed.
  package let all: [KnownPerson]
  private let byID: [PersonID: KnownPerson]

  package init(_ all: [KnownPerson]) {
    self.all = all
    byID = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
  }

  package subscript(id: PersonID) -> KnownPerson? { byID[id] }

  /// What somebody is called, also somebody who is not in the vault.
  package func name(of id: PersonID) -> Name {
    guard let person = byID[id] else { return .unsaid(id.shortHex) }
    if !person.name.isEmpty { return .own(person.name) }
    guard let told = person.toldName else { return .unsaid(id.shortHex) }
    let teller = byID[told.teller]?.name ?? ""
    return .told(told.name, teller: teller.isEmpty ? told.teller.shortHex : teller)
  }
}
