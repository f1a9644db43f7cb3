import VaultModel

/// For whom a person vouches: their files a sync carries whatever they weigh, and those of everyone else under a quota.
/// Docs/Format.md, section 16, "Who is vouched for".
///
/// Needs no key but for what it begins with: whom the person knows, and which members show to them.
package struct Vouching: Hashable, Sendable {
  /// In one member each person vouches for at most so many others who have access, and so many who have none; with one
  /// invitation for so many.
  package static let limit = 64

  /// Whose judgement this is.
  package let own: PersonID
  /// Those vouched for, the person included. What they make is carried, and so is what they have signed a link of.
  package private(set) var people: Set<PersonID>
  /// Those that show to the person, and those that somebody vouched for has made or, as an owner, changed.
  package private(set) var members: Set<MemberID>
  /// Whom these members name besides. They are carried with them; what else they make is not.
  package private(set) var companions: Set<PersonID> = []

  /// - Parameters:
  ///   - people: Whom the person knows.
  ///   - members: Those that show to the person.
  package init(
    own: PersonID, people: some Sequence<PersonID> = [], members: some Sequence<MemberID> = []
  ) {
    self.own = own
    self.people = Set(people).union([own])
    self.members = Set(members)
  }

  /// Whether all that the person writes of themself is carried.
  package func carries(_ person: PersonID) -> Bool {
    people.contains(person) || companions.contains(person)
  }

  /// These have shown that they know the secret of one invitation of the person.
  package mutating func note(answers: some Sequence<PersonID>) {
    people.formUnion(answers.sorted().prefix(Self.limit))
  }

  /// Takes in what members say of each other's people, until nothing more follows from it.
  ///
  /// The cost is linear in what the members' links weigh, once for each round that brings somebody new.
  package mutating func judge(_ histories: some Collection<MemberHistory>) {
    var open = Array(histories)
    while true {
      let before = (people.count, members.count)
      open.removeAll { take($0) }
      if before == (people.count, members.count) { return }
    }
  }

  /// - Returns: Whether nothing more can come of the member.
  private mutating func take(_ member: MemberHistory) -> Bool {
    guard members.contains(member.member) || member.isSigned(by: people) else { return false }
    members.insert(member.member)
    // Whoever can open a member that somebody vouched for has signed knows whom its owners let in.
    if member.access.includes(own) {
      people.formUnion(member.vouched)
    } else {
      companions.formUnion(member.vouched)
    }
    return true
  }
}

/// By whom somebody is named in a member, and whether they have access to it.
private struct Naming: Hashable {
  let writer: PersonID
  let hasAccess: Bool
}

extension MemberHistory {
  /// Who made the member, and who wrote or is named in a link that counts; of those that one person names the first ones who have
  /// access, and the first ones who have not. Whoever has a device of an owner can name any number before all others: taking
  /// access from these gives their room back.
  package var vouched: Set<PersonID> {
    var people: Set<PersonID> = [root.person]
    var named: [Naming: Set<PersonID>] = [:]
    for number in graph.ids.indices where verdicts[number] == .counts {
      let link = graph.links[number]
      people.insert(link.person)
      for person in link.changes.map(\.person) {
        let naming = Naming(writer: link.person, hasAccess: access.includes(person))
        guard named[naming, default: []].count < Vouching.limit else { continue }
        named[naming, default: []].insert(person)
      }
    }
    return named.values.reduce(into: people) { $0.formUnion($1) }
  }

  /// Whether one of them has made the member, or written a link of it that counts: not one in which they leave it, nor one
  /// of somebody else who names them, which need no consent.
  fileprivate func isSigned(by people: Set<PersonID>) -> Bool {
    if people.contains(root.person) { return true }
    return graph.ids.indices.contains { number in
      let link = graph.links[number]
      return verdicts[number] == .counts && (link.place != nil || link.isAgreement)
        && people.contains(link.person)
    }
  }
}
