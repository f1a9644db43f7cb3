import Foundation

/// Which links of a member count, and what access they leave (section 16 of the format: "Order", "Which links count" and
/// "Access"), as a machine judges that remembers nothing.
struct MemberJudge {
  typealias ID = [UInt8]

  /// A change of a link.
  struct Change {
    enum Kind: UInt64 {
      case give = 1
      case limit, handOver, offer, agree
    }

    let kind: Kind
    let person: ID
    /// Nil for nothing.
    let role: Access.Role?
    let until: UInt64
  }

  struct Link {
    let id: ID
    let body: WireMessage
    let person: ID
    /// Of a leaving or an agreement nil.
    let place: Place.Name?
    let follows: Set<ID>
    let changes: [Change]
    /// Whether its device counts, or a closing of its person lists it.
    let stands: Bool
    /// Of a leaving: whether its writer has taken it back.
    var isRetracted = false
    /// Everything that it comes after.
    var past: Set<ID> = []
    var depth = 0

    func has(_ kind: Change.Kind) -> Bool { changes.contains { $0.kind == kind } }
    var isLeaving: Bool { place == nil && has(.limit) }
    var isAgreement: Bool { place == nil && has(.agree) }
  }

  /// Owners follow one another in a place.
  struct Place {
    struct Name: Hashable {
      /// The link that made it, or the member.
      let maker: ID
      let person: ID
    }

    struct Tenure {
      let holder: ID
      /// Nil for the member's root.
      let beginning: ID?
      var takings: [ID] = []
      var end: ID?
    }

    let name: Name
    var tenures: [Tenure]

    var isHeld: Bool { tenures.last.map { $0.takings.isEmpty && $0.end == nil } ?? false }
  }

  /// Placed links, in their order.
  let links: [Link]
  private(set) var counting: Set<ID> = []
  /// From the most senior on.
  private(set) var places: [Place] = []
  private let byID: [ID: Link]
  let member: ID
  let creator: ID

  init(_ all: [Link], member: ID, creator: ID) throws {
    var placed: [ID: Link] = [:]
    var waiting = all
    // Whoever follows what is not here waits.
    while let index = waiting.firstIndex(where: { $0.follows.allSatisfy { placed[$0] != nil } }) {
      var link = waiting.remove(at: index)
      let before = link.follows.compactMap { placed[$0] }
      link.past = before.reduce(link.follows) { $0.union($1.past) }
      link.depth = before.map { $0.depth + 1 }.max() ?? 0
      placed[link.id] = link
    }
    byID = placed
    links = placed.values.sorted {
      $0.depth == $1.depth ? Self.isLess($0.id, $1.id) : $0.depth < $1.depth
    }
    (self.member, self.creator) = (member, creator)
    var void = Set(links.filter { $0.isLeaving && $0.isRetracted }.map(\.id))
    judge(without: void)
    for round in 1...64 where stays(&void, isLast: round == 64) { judge(without: void) }
  }

  static func isLess(_ one: ID, _ other: ID) -> Bool { one.lexicographicallyPrecedes(other) }

  func comes(_ link: ID, after other: ID?) -> Bool {
    guard let other else { return true }
    return byID[link]?.past.contains(other) ?? false
  }

  /// The role that a person has, whatever the time.
  func role(of person: ID) -> Access.Role? {
    gifts(to: person).compactMap(\.left).min { $0.rawValue < $1.rawValue }
  }

  /// Whether somebody holds a place that is more senior than any of another one's.
  func isSenior(_ person: ID, to other: ID) -> Bool {
    let holders = places.filter(\.isHeld).compactMap(\.tenures.last?.holder)
    guard let rank = holders.firstIndex(of: person) else { return false }
    return holders.firstIndex(of: other).map { rank < $0 } ?? true
  }

  var everyone: Set<ID> {
    Set(links.filter { counting.contains($0.id) }.flatMap(\.changes).map(\.person)).union([creator])
  }

  /// Whether something was given to the person in a link or before it: whatever, or of which something is left.
  func hasBeenGiven(to person: ID, knownTo link: Link, whatIsLeft: Bool = false) -> Bool {
    gifts(to: person).contains { gift in
      let isKnown = gift.link.map { $0 == link.id || link.past.contains($0) } ?? true
      return isKnown && (!whatIsLeft || gift.left != nil)
    }
  }

  // MARK: Places

  /// - Parameter void: Leavings that do not count.
  private mutating func judge(without void: Set<ID>) {
    counting = []
    places = []
    var made = [Place.Name(maker: member, person: creator)]
    while !made.isEmpty, places.count < 1_024 {
      let name = made.removeFirst()
      let before = counting
      places.append(judged(name, void))
      for link in links where counting.contains(link.id) && !before.contains(link.id) {
        for change in link.changes where change.kind == .give && change.role == .owner {
          made.append(Place.Name(maker: link.id, person: change.person))
        }
      }
      made.sort { one, other in position(one) < position(other) }
    }
    for link in links where link.place == nil && link.stands && !counting.contains(link.id) {
      if link.isLeaving, !void.contains(link.id), hasBeenGiven(to: link.person, knownTo: link) {
        counting.insert(link.id)
      }
      if link.isAgreement, let offer = link.follows.first, counting.contains(offer),
        byID[offer]?.changes.contains(where: { $0.kind == .offer && $0.person == link.person })
          ?? false
      {
        counting.insert(link.id)
      }
    }
  }

  /// In the order of the links, then of the changes.
  private func position(_ name: Place.Name) -> Int {
    guard let number = links.firstIndex(where: { $0.id == name.maker }) else { return -1 }
    let given = links[number].changes.firstIndex {
      $0.kind == .give && $0.role == .owner && $0.person == name.person
    }
    return number * 100 + (given ?? 0)
  }

  /// Judges a place of which all more senior ones are judged, and counts its links.
  private mutating func judged(_ name: Place.Name, _ void: Set<ID>) -> Place {
    let senior = links.filter { counting.contains($0.id) && $0.place != nil }
    var place = Place(name: name, tenures: [])
    var next: Place.Tenure? = Place.Tenure(
      holder: name.person, beginning: name.maker == member ? nil : name.maker)
    while var tenure = next {
      next = nil
      tenure.takings = senior.filter { link in
        let isKnown = tenure.beginning.map { $0 == link.id || comes($0, after: link.id) } ?? false
        return !isKnown
          && link.changes.contains {
            $0.kind == .limit && $0.person == tenure.holder && $0.until == 0
          }
      }.map(\.id)
      let may = links.filter { mayCount($0, in: tenure, senior) }
      let own = may.filter { $0.place == name }
      let leavings = may.filter { $0.isLeaving && !void.contains($0.id) }
      let handOvers = own.filter { isAgreedTo($0, own: own) }
      let all = handOvers + leavings
      let ends = all.filter { end in !all.contains { comes(end.id, after: $0.id) } }
      let end = ends.min { one, other in
        let isHandOver = (one.has(.handOver), other.has(.handOver))
        return isHandOver.0 == isHandOver.1 ? Self.isLess(one.id, other.id) : isHandOver.0
      }
      tenure.end = end?.id
      for link in own {
        guard let end else {
          counting.insert(link.id)
          continue
        }
        if link.id == end.id || end.past.contains(link.id) { counting.insert(link.id) }
      }
      if let end { counting.insert(end.id) }
      place.tenures.append(tenure)
      if let end, let change = end.changes.first(where: { $0.kind == .handOver }) {
        next = Place.Tenure(holder: change.person, beginning: end.id)
      }
    }
    return place
  }

  private func mayCount(_ link: Link, in tenure: Place.Tenure, _ senior: [Link]) -> Bool {
    guard link.person == tenure.holder, comes(link.id, after: tenure.beginning),
      tenure.takings.allSatisfy({ comes($0, after: link.id) })
    else { return false }
    if link.stands { return true }
    // Of a leaving nobody can have been given anything.
    guard link.place != nil else { return false }
    // A more senior owner has seen it count.
    return senior.contains { other in
      ((try? other.body.all(10)) ?? []).contains(link.id) && comesLater(other, than: link)
    }
  }

  private func comesLater(_ one: Link, than other: Link) -> Bool {
    one.depth == other.depth ? Self.isLess(other.id, one.id) : one.depth > other.depth
  }

  private func isAgreedTo(_ link: Link, own: [Link]) -> Bool {
    guard let change = link.changes.first(where: { $0.kind == .handOver }),
      link.follows.count == 1, let agreement = link.follows.first.flatMap({ byID[$0] }),
      agreement.isAgreement, agreement.stands, agreement.person == change.person,
      agreement.follows.count == 1, let offer = agreement.follows.first
    else { return false }
    return own.contains { link in
      link.id == offer
        && link.changes.contains { $0.kind == .offer && $0.person == change.person }
    }
  }

  /// - Returns: Whether somebody has to stay, since everyone has left: what they leave with counts no more, but for what comes
  ///   after it.
  private func stays(_ void: inout Set<ID>, isLast: Bool) -> Bool {
    if places.contains(where: \.isHeld) { return false }
    let leavings = places.compactMap { place -> Link? in
      guard let last = place.tenures.last, last.takings.isEmpty else { return nil }
      return last.end.flatMap { byID[$0] }.flatMap { $0.isLeaving ? $0 : nil }
    }
    let last = leavings.filter { one in !leavings.contains { comes($0.id, after: one.id) } }
    guard let stays = last.first else { return false }
    for link in links
    where link.isLeaving && link.person == stays.person
      && (isLast || !comes(link.id, after: stays.id))
    {
      void.insert(link.id)
    }
    return true
  }

  // MARK: Access

  struct Gift {
    /// Nil for the creator's first place, which comes before every link.
    let link: ID?
    let role: Access.Role?
    let left: Access.Role?
  }

  func gifts(to person: ID) -> [Gift] {
    var gifts: [Gift] = []
    for place in places {
      for tenure in place.tenures where tenure.holder == person {
        gifts.append(Gift(link: tenure.beginning, role: .owner, left: role(of: tenure)))
      }
    }
    for link in links where counting.contains(link.id) {
      for change in link.changes
      where change.kind == .give && change.person == person && change.role != .owner {
        let left = limits(of: person).reduce(change.role) { left, limit in
          let isEarlier = limit.link == link.id || comes(link.id, after: limit.link)
          let concerns = limit.until == 0 || (change.until != 0 && change.until <= limit.until)
          return isEarlier || !concerns ? left : Self.less(left, limit.role)
        }
        gifts.append(Gift(link: link.id, role: change.role, left: left))
      }
    }
    return gifts
  }

  private func role(of tenure: Place.Tenure) -> Access.Role? {
    guard let end = tenure.end.flatMap({ byID[$0] }) else {
      // Whoever was taken out has what the limits leave.
      return tenure.takings.reduce(.owner) { left, taking in
        limits(of: tenure.holder).filter { $0.link == taking && $0.until == 0 }
          .reduce(left) { Self.less($0, $1.role) }
      }
    }
    let later = limits(of: tenure.holder).filter {
      $0.until == 0 && $0.link != end.id && !end.past.contains($0.link)
    }
    let left: Access.Role? = end.isLeaving ? limit(in: end, of: tenure.holder) : .editor
    return later.reduce(left) { Self.less($0, $1.role) }
  }

  private func limit(in link: Link, of person: ID) -> Access.Role? {
    link.changes.first { $0.kind == .limit && $0.person == person }?.role
  }

  private func limits(of person: ID) -> [(link: ID, role: Access.Role?, until: UInt64)] {
    links.filter { counting.contains($0.id) }.flatMap { link in
      link.changes.filter { $0.kind == .limit && $0.person == person }
        .map { (link.id, $0.role, $0.until) }
    }
  }

  private static func less(_ one: Access.Role?, _ other: Access.Role?) -> Access.Role? {
    guard let one, let other else { return nil }
    return one.rawValue > other.rawValue ? one : other
  }
}
