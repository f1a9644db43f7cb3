import VaultModel

/// A role, and when it ends: milliseconds since 1970, or zero if it does not.
package struct Entitlement: Hashable, Sendable {
  package let role: Role
  package let until: UInt64
}

/// What is left of one gift.
struct Remainder: Hashable, Sendable {
  let gift: Gift
  /// Nil: nothing.
  let role: Role?
}

/// Who has access to a member, as what, and in which order the owners stand.
package struct Access: Hashable, Sendable {
  /// The most senior first; someone may hold several places.
  package let owners: [PersonID]
  package let entitlements: [PersonID: Set<Entitlement>]
  /// Places that somebody gave up twice, and nothing seen before tells which counts.
  package let contested: [Place]

  init(places: [PlaceHistory], remainders: [PersonID: [Remainder]]) {
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

  /// What the person may do at a time in milliseconds since 1970; nil: nothing.
  package func role(of person: PersonID, at time: UInt64) -> Role? {
    entitlements[person]?.filter { $0.until == 0 || $0.until > time }.map(\.role).max()
  }
}

extension MemberJudge {
  /// What is left of all gifts: Docs/Format-2.md, section 6.
  mutating func remainders() -> [PersonID: [Remainder]] {
    var all: [PersonID: [Remainder]] = [:]
    for (person, gifts) in gifts {
      all[person] = gifts.map { Remainder(gift: $0, role: remainder(of: $0, person)) }
    }
    return all
  }

  private mutating func remainder(of gift: Gift, _ person: PersonID) -> Role? {
    var bounds: [Role?] = [gift.role]
    if let number = gift.tenure {
      let tenure = places[number.place].tenures[number.tenure]
      bounds += tenure.takings.map(\.role)
      switch tenure.end {
      case .handedOver?: bounds.append(nil)
      case .left(let link)?:
        if case .limit(_, let role, _)? = graph.links[link].changes.first { bounds.append(role) }
      case nil: break
      }
    } else if let link = gift.link, let limits = limits[person] {
      let past = past(of: link)
      bounds += limits.filter { limit in
        limit.link != link && !past.contains(limit.link) && limit.concerns(gift)
      }.map(\.role)
    }
    return bounds.contains(nil) ? nil : bounds.compactMap { $0 }.min()
  }
}

extension Limit {
  /// A limit with an end concerns only gifts that end by then: another one may have prolonged them.
  fileprivate func concerns(_ gift: Gift) -> Bool {
    until == 0 || gift.until != 0 && gift.until <= until
  }
}
