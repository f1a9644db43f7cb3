import Vault
import VaultErrors
import VaultModel

/// Finds the adult whom a person names: by what they are called, or the first digits of their id.
struct PersonLookup {
  let known: KnownPeople

  static func load(of vault: Vault) throws(VaultError) -> PersonLookup {
    PersonLookup(known: KnownPeople(try vault.knownPeople()))
  }

  /// - Throws: `notFound` when nobody fits, `usage` when more than one does.
  func find(_ text: String) throws(CommandError) -> KnownPerson {
    let named = NameOrDigits(text)
    if let person = try named.one(among: known.all, name: { $0.name }, id: { $0.id.hex }) {
      return person
    }
    if let hint = hint(for: text) { throw .notFound(hint) }
    throw .notFound(
      "There is nobody called \u{201C}\(Terminal.visible(text))\u{201D} in this vault. To see all: "
        + "kinvault people list")
  }

  /// All who fit.
  func meant(by text: String) -> [KnownPerson] {
    NameOrDigits(text).meant(among: known.all, name: { $0.name }, id: { $0.id.hex })
  }

  /// What to do about a name that only somebody else gives a person.
  private func hint(for text: String) -> String? {
    let told = known.all.first { $0.toldName?.name.lowercased() == text.lowercased() }
    guard let person = told, case .told(_, let teller) = known.name(of: person.id) else {
      return nil
    }
    return
      "Only \(Terminal.visible(teller)) calls somebody \u{201C}\(Terminal.visible(text))\u{201D}, so nothing was done. To take their "
      + "word for it, name that person by the id: \(person.id.hex.prefix(12)). To be sure: kinvault verify "
      + "\(person.id.hex.prefix(12)) --name \(ShellWord.quoted(Terminal.visible(text)))"
  }

  /// How a person is called in messages.
  func name(of id: PersonID) -> String {
    switch known.name(of: id) {
    case .own(let name): Terminal.visible(name)
    case .told(let name, let teller): "\(Terminal.visible(name)) (so \(Terminal.visible(teller)))"
    case .unsaid(let digits): digits
    }
  }

  /// How a device is called in messages: one of this person's by its name, which only they know, another one by whose it is.
  func name(of device: DeviceID, in vault: Vault) -> String {
    guard let owner = vault.owner(of: device), owner != vault.person else {
      return vault.name(of: device)
    }
    return "\(name(of: owner)) (\(device.shortHex))"
  }
}

extension KnownPerson {
  /// The name, or the id of someone of whom no name is known.
  var shownName: String { name.isEmpty ? id.shortHex : Terminal.visible(name) }

  /// What it means to give access to somebody whom nothing but the folder vouches for.
  var warning: String {
    "kinvault: Nothing but this folder says that these keys are \(shownName)'s: whoever could change it may read "
      + "what you share. To be sure: kinvault verify \(id.hex.prefix(12))"
  }
}

extension Verification {
  /// As people read it.
  var text: String {
    switch self {
    case .trustedOnFirstUse: "trusted on first use"
    case .invitedInPerson: "invited in person"
    case .wordsCompared: "words compared"
    case .other(let number): "in a way of a newer version (\(number))"
    }
  }
}
