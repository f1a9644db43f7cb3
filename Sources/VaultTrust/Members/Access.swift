import VaultModel

/// A role, and when it ends: milliseconds since 1970, or zero if it does not.
package struct Entitlement: Hashable, Sendable {
  package let role: Role
  package let until: UInt64
}

/// What is left of one gift.
struct Remainder: Hashable, Sendable {
  let gift: Gift
  /// Nil where nothing is left.
  private(set) var role: Role?
  /// The role that the person would have if they had given nothing up.
  private(set) var besideLeavings: Role?
}

/// Who has access to a member, as what, and in which order the owners stand.
package struct Access: Hashable, Sendable {
  /// The most senior first; someone may hold several places.
  package let owners: [PersonID]
  package let entitlements: [PersonID: Set<Entitlement>]
  /// Places that somebody gave up twice, and nothing seen before tells which counts.
  package let contested: [Place]
  /// Who has access only by what comes after the end of such a place that was taken to count: another one may be the true
  /// one.
  package let claimed: Set<PersonID>

  init(
    places: [PlaceHistory], remainders: [PersonID: [Remainder]], claimed: Set<PersonID>
  ) {
    self.claimed = claimed
    owners = places.compactMap { place in
      place.tenures.last.flatMap { $0.isHeld ? $0.holder : nil }
    }
    entitlements = remainders.compactMapValues { remainders in
      let left = remainders.compactMap { remainder in
        remainder.role.map { Entitlement(role: $0, until: remainder.gift.until) }
      }
      return left.isEmpty ? nil : Set(left)
    }
    contested = places.filter { $0.tenures.contains(where: \.isContested) }.map(\.place)
  }

  /// Whether the person has access as far as everyone else is concerned, whatever the date.
  package func includes(_ person: PersonID) -> Bool { entitlements[person] != nil }

  /// Everyone who has access: owners by seniority, then the others by their ids.
  package var bySeniority: [PersonID] {
    let ranks = Dictionary(zip(owners, 0...), uniquingKeysWith: min)
    return entitlements.keys.sorted { left, right in
      (ranks[left] ?? .max, left) < (ranks[right] ?? .max, right)
    }
  }

  /// What the person may do at a time in milliseconds since 1970; nil: nothing.
  package func role(of person: PersonID, at time: UInt64) -> Role? {
    var best: Role?
    for entitlement in entitlements[person] ?? []
    where entitlement.until == 0 || entitlement.until > time {
      best = max(best ?? entitlement.role, entitlement.role)
    }
    return best
  }

  /// Whether the person may write at a time in milliseconds since 1970.
  package func mayWrite(_ person: PersonID, at time: UInt64) -> Bool {
    role(of: person, at: time)?.mayWrite ?? false
  }

  /// Whether the person may write as far as everyone else is concerned, whatever the date: no clock decides whose heads count,
  /// and this machine's may be wrong.
  package func countsAsWriter(_ person: PersonID) -> Bool { mayWrite(person, at: 0) }
}

extension MemberJudge {
  /// Who has access by nothing but what a contested end leads to: the tenures after it, what their holders wrote, the places
  /// that these made, and so on.
  func claimed(_ remainders: [PersonID: [Remainder]]) -> Set<PersonID> {
    guard places.contains(where: { $0.tenures.contains(where: \.isContested) }) else { return [] }
    var links = graph.none
    /// The first tenure of each place that hangs on one.
    var firsts: [Int?] = []
    // Whoever makes a place has one that comes before.
    for history in places {
      let contested = history.tenures.firstIndex(where: \.isContested)
      let isMade = graph.number(of: history.place.link).map { links.contains($0) } ?? false
      firsts.append(isMade ? 0 : contested.map { $0 + 1 })
      let end = contested.flatMap { history.tenures[$0].end }
      let after = end.map { graph.future(of: $0.link) }
      for number in graph.ids.indices
      where verdicts[number] == .counts && graph.links[number].place == history.place
        && (isMade || after?.contains(number) ?? false)
      {
        _ = links.insert(number)
      }
    }
    return Set(
      remainders.filter { _, all in
        let left = all.filter { $0.role != nil }
        return !left.isEmpty
          && left.allSatisfy { remainder in
            if let number = remainder.gift.tenure {
              return firsts[number.place].map { number.tenure >= $0 } ?? false
            }
            return remainder.gift.link.map(links.contains) ?? false
          }
      }.keys)
  }

  /// What is left of all gifts: Docs/Format.md, section 16.
  mutating func remainders() -> [PersonID: [Remainder]] {
    var all: [PersonID: [Remainder]] = [:]
    for (person, gifts) in gifts {
      all[person] = gifts.map { remainder(of: $0, person) }
    }
    return all
  }

  private mutating func remainder(of gift: Gift, _ person: PersonID) -> Remainder {
    var left = Remainder(gift: gift, role: gift.role, besideLeavings: gift.role)
    var since = gift.link
    if let number = gift.tenure {
      let tenure = places[number.place].tenures[number.tenure]
      for taking in tenure.takings { left.limit(to: taking.role) }
      switch tenure.end {
      case .handedOver?: left.limit(to: .editor)
      case .left(let link)?:
        if case .limit(_, let role, _)? = graph.links[link].changes.first {
          left.limit(to: role, byLeaving: true)
        }
      case nil: break
      }
      // What its holder kept is no place any more.
      since = tenure.end?.link
    }
    guard let since else { return left }
    for limit in limitsOf(gift, of: person, since: since) {
      left.limit(to: limit.role, byLeaving: limit.rank == nil)
    }
    return left
  }

  /// The limits of the person that concern the gift and are neither this link nor before it.
  private mutating func limitsOf(_ gift: Gift, of person: PersonID, since link: Int) -> [Limit] {
    guard let limits = limits[person] else { return [] }
    let past = past(of: link)
    return limits.filter { limit in
      limit.link != link && !past.contains(limit.link) && limit.concerns(gift)
    }
  }
}

extension Remainder {
  /// Leaves at most this role; nil: nothing.
  fileprivate mutating func limit(to most: Role?, byLeaving: Bool = false) {
    role = Self.lesser(role, most)
    if !byLeaving { besideLeavings = Self.lesser(besideLeavings, most) }
  }

  private static func lesser(_ one: Role?, _ other: Role?) -> Role? {
    if let one, let other { min(one, other) } else { nil }
  }
}

extension Limit {
  /// A limit with an end concerns only gifts that end by then: another one may have prolonged them.
  fileprivate func concerns(_ gift: Gift) -> Bool {
    until == 0 || gift.until != 0 && gift.until <= until
  }
}
