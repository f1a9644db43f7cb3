import VaultModel

/// What may stand in the log besides words: numbers and ids.
package struct LogValue: Hashable, Sendable {
  let text: String

  package init(_ number: some BinaryInteger) { text = String(number) }

  package init(_ vault: VaultID) { text = vault.hex }

  package init(_ kind: ErrorKind) { text = kind.word.description }

  package init(_ word: LogWord) { text = word.description }
}

/// Whom or what a failure concerns, as it may stand in the log: those only who can open the vault know who is meant.
package struct LogIdentity: Hashable, Sendable {
  /// What kind of thing it is.
  let field: LogWord
  let text: String

  package init(_ member: MemberID) { (field, text) = ("member", member.hex) }

  /// The remote at this place among those that the machine knows, from 1.
  package init(remote number: Int) { (field, text) = ("remote", String(number)) }
}
