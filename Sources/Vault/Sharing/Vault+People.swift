import BlobStore
import VaultCrypto
import VaultModel

/// A person of the vault, as this one knows them.
package struct KnownPerson: Sendable {
  package var id: PersonID
  /// What they are called; empty for someone of whom nobody has said it.
  package var name: String
  package var verification: Verification
  /// When they were verified, or, without that, made their keys by their own clock; milliseconds since 1970.
  package var since: UInt64
  /// True for the person who asks.
  package var isSelf: Bool
}

extension Vault {
  /// Everyone in the vault, this person first, then by name.
  ///
  /// - Throws: What reading the vault folder throws. Someone whose closings do not hold is not among them.
  package func knownPeople() throws(VaultError) -> [KnownPerson] {
    try context.reloadPeople()
    let profile = try personalProfile()
    return context.people.persons.map { id, person in
      let known = profile.people.first { $0.person == id }
      return KnownPerson(
        id: id, name: id == self.person ? profile.name : known?.name ?? "",
        verification: known?.verification ?? .trustedOnFirstUse,
        since: known?.time ?? person.since, isSelf: id == self.person)
    }.sorted { left, right in
      if left.isSelf != right.isSelf { return left.isSelf }
      return (left.name, left.id) < (right.name, right.id)
    }
  }

  /// The six words that this person and the other one compare. Takes about a second.
  ///
  /// - Throws: `notFound` for someone whose closings are not in the vault or do not hold.
  package func comparisonWords(with other: PersonID) throws(VaultError) -> [String] {
    guard other != person, context.people[other] != nil else {
      throw .notFound(what: "the person \(other.shortHex)")
    }
    do { return try ComparisonWords.words(person, other, binding: context.binding) } catch {
      throw .crypto(error)
    }
  }

  /// Remembers, for all of this person's devices, that both read the same six words.
  ///
  /// - Parameter name: What the other one is called; nil leaves it as it is.
  package func noteComparedWords(with other: PersonID, name: String?) throws(VaultError) {
    guard other != person, context.people[other] != nil else {
      throw .notFound(what: "the person \(other.shortHex)")
    }
    let time = context.clock.milliseconds()
    try changePersonalProfile { profile in
      let known = profile.people.first { $0.person == other }
      profile.note(
        Acquaintance(
          person: other, name: name ?? known?.name ?? "", verification: .wordsCompared, time: time,
          unknown: known?.unknown ?? .none))
    }
    audit.note(.share, detail: "words compared")
  }

  // MARK: The personal profile

  /// What this person's devices know together.
  func personalProfile() throws(VaultError) -> PersonalProfile {
    var joined = profile.profile
    for (device, certified) in context.people[person]?.devices ?? [:] {
      if let known = self.profile(of: device, certified) { joined.join(known.profile) }
    }
    return joined
  }

  /// Changes what this person's devices know together, by way of this device's register. Durable when it returns.
  func changePersonalProfile(_ change: (inout PersonalProfile) -> Void) throws(VaultError) {
    let known = try personalProfile()
    try changeProfile { own in
      own.profile.join(known)
      change(&own.profile)
    }
  }
}
