import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

extension Vault {
  /// Everyone in the vault, this person first, then by name.
  ///
  /// - Throws: What reading the vault folder throws. Someone whose closings do not hold is not among them.
  package func knownPeople() throws(VaultError) -> [KnownPerson] {
    try context.reloadPeople()
    let profile = try personalProfile()
    let acquaintances = Dictionary(profile.people.map { ($0.person, $0) }) { first, _ in first }
    let vouching = try vouching(by: profile)
    let told = toldNames(to: acquaintances)
    return context.people.persons.map { id, person in
      let known = acquaintances[id]
      let isSelf = id == self.person
      let name = isSelf ? profile.name : known?.name ?? ""
      return KnownPerson(
        id: id, name: name, toldName: name.isEmpty ? told[id] : nil,
        verification: known?.verification ?? .trustedOnFirstUse,
        since: known?.time ?? person.since, isSelf: isSelf,
        isSpokenOf: isSelf || vouching.people.contains(id))
    }.sorted { left, right in
      if left.isSelf != right.isSelf { return left.isSelf }
      return (left.name, left.id) < (right.name, right.id)
    }
  }

  /// What owners of members here call people, of owners whom this person has a name of: of several the one with whom words
  /// were compared, then the one with the least id.
  private func toldNames(
    to acquaintances: [PersonID: Acquaintance]
  ) -> [PersonID: KnownPerson.ToldName] {
    func rank(_ teller: PersonID) -> (Int, PersonID) {
      (acquaintances[teller]?.verification == .wordsCompared ? 0 : 1, teller)
    }
    var told: [PersonID: KnownPerson.ToldName] = [:]
    for (teller, names) in members.flatMap(\.namesByOwners)
    where acquaintances[teller].map({ !$0.name.isEmpty }) ?? false {
      for name in names where !name.name.isEmpty {
        if let other = told[name.person]?.teller, rank(other) <= rank(teller) { continue }
        told[name.person] = KnownPerson.ToldName(name: name.name, teller: teller)
      }
    }
    return told
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
    audit.note(.share, person: other, detail: "words compared")
  }

  // MARK: The personal profile

  /// What this person's devices know together.
  func personalProfile() throws(VaultError) -> PersonalProfile {
    var joined = profile.profile
    joined.join(
      (context.people[person]?.devices ?? [:]).compactMap { device, certified in
        self.profile(of: device, certified)?.profile
      })
    context.noteNames(in: joined)
    return joined
  }

  /// Changes what this person's devices know together, by way of this device's register, which says what is changed. Durable
  /// when it returns.
  func changePersonalProfile(_ change: (inout PersonalProfile) -> Void) throws(VaultError) {
    let known = try personalProfile()
    try changeProfile { own in
      var before = own.profile
      before.join(known)
      var changed = before
      change(&changed)
      own.profile.take(changed, over: before)
    }
  }
}

extension Member {
  /// What other owners' heads call people.
  fileprivate var namesByOwners: [(teller: PersonID, names: [Head.Name])] {
    let access = register.links.access
    let now = context.clock.milliseconds()
    return heads.withLock { heads in
      heads.loaded.values.filter {
        $0.person != context.person && access.role(of: $0.person, at: now) == .owner
      }.map { ($0.person, $0.head.names) }
    }
  }
}
