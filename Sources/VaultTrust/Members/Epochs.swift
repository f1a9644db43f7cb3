import VaultModel

/// Whether an epoch may go on being written under: Docs/Format.md, "Which epoch is written under".
package enum EpochState: Hashable, Sendable {
  case serves
  /// These people, who have access and had it when the epoch began, were not given its key.
  case lacks([PersonID])
  /// These people have its key and no access, or have it for keys that were closed.
  case exposed([PersonID])
}

/// The epochs of a member that count.
package struct Epochs: Hashable, Sendable {
  /// By the link that began each.
  package let states: [StatementID: EpochState]
  /// The one that is written under; nil: none serves.
  package let current: StatementID?
  /// All of them, the one first that is written under by whoever has its key and none of a better one.
  package let ranking: [StatementID]
  /// The wraps that links name which count, by epoch.
  package let wraps: [StatementID: [Wrap]]
  /// For each epoch those who have access and an open generation, and no wrap of it.
  package let unwrapped: [StatementID: [PersonID]]
  /// The epochs that are over: they come before the first one of the ranking, whose key everyone has who has access. Whether
  /// that one serves is no matter: where somebody has its key who is out, what comes next comes after it. A wrap of one that
  /// is over is needed only as long as a head that counts is of it.
  package let over: Set<StatementID>
  /// People for whom a device that counts has wrapped a key in a link that counts, for keys of theirs that are not known here:
  /// it knows of a closing that has not come, which may leave out devices or words that have those which are known. Nobody
  /// here gives them anything until it has. It is their own device, or that of an owner who could take all that they have as
  /// well: no junior keeps a senior from their keys, or from taking somebody out.
  package let awaited: Set<PersonID>
  /// Those who have the key of each exposed epoch and are out, but for people who have access and no open generation: whose
  /// keys count their own words have to say first.
  private let holdersOut: [StatementID: Set<KeyHolder>]

  /// Somebody's keys of one generation.
  private struct KeyHolder: Hashable, Sendable {
    let person: PersonID
    let generation: StatementID

    init(_ wrap: Wrap) { (person, generation) = (wrap.person, wrap.generation) }
  }

  /// What is known here of the keys that a member's epochs are wrapped for.
  private struct KnownKeys {
    let people: [PersonID: PersonHistory]
    /// Keys that are not known here, and that somebody's device which counts has wrapped for.
    let ahead: Set<KeyHolder>
    let awaited: Set<PersonID>

    init(people: [PersonID: PersonHistory], ahead: Set<KeyHolder>) {
      (self.people, self.ahead) = (people, ahead)
      awaited = Set(ahead.map(\.person))
    }

    /// The generation that keys are wrapped for; nil of whoever has none, or is awaited.
    func open(of person: PersonID) -> StatementID? {
      awaited.contains(person) ? nil : people[person]?.openGeneration
    }

    /// Whether a wrap is not for its person's open generation; one that is ahead is for a newer one.
    func mayBeClosed(_ wrap: Wrap) -> Bool {
      open(of: wrap.person) != wrap.generation && !ahead.contains(KeyHolder(wrap))
    }

    /// Whether it is sure to be for keys that were closed; not where their person has two generations, whose words have to say
    /// first which counts.
    func areClosed(_ wrap: Wrap) -> Bool {
      mayBeClosed(wrap) && (awaited.contains(wrap.person) || open(of: wrap.person) != nil)
    }
  }

  init(of member: MemberHistory, people: [PersonID: PersonHistory]) {
    let graph = member.graph
    let counting = graph.ids.indices.filter { member.verdicts[$0] == .counts }
    var wraps: [StatementID: [Wrap]] = [:]
    var ahead: Set<KeyHolder> = []
    for number in counting {
      let link = graph.links[number]
      for wrap in link.wraps {
        wraps[wrap.epoch ?? graph.ids[number], default: []].append(wrap)
        if let person = people[wrap.person], person.valid[wrap.generation] == nil,
          people[link.person]?.verdict(on: link.certificate) == .counts,
          link.person == wrap.person || member.mayTake(wrap.person, by: link.person)
        {
          ahead.insert(KeyHolder(wrap))
        }
      }
    }
    let keys = KnownKeys(people: people, ahead: ahead)
    var states: [StatementID: EpochState] = [:]
    var unwrapped: [StatementID: [PersonID]] = [:]
    var holdersOut: [StatementID: Set<KeyHolder>] = [:]
    var begun: [Int] = []
    var pasts = graph.noPasts
    for number in counting where graph.links[number].epoch != nil {
      let id = graph.ids[number]
      let wrapped = Set((wraps[id] ?? []).map(\.person))
      let past = graph.past(of: number, known: &pasts)
      states[id] = Self.state(of: number, past, wraps[id] ?? [], in: member, keys)
      if case .exposed = states[id] {
        let out = (wraps[id] ?? []).filter {
          !member.access.includes($0.person) || keys.areClosed($0)
        }
        holdersOut[id] = Set(out.map(KeyHolder.init))
      }
      unwrapped[id] = member.access.entitlements.keys.filter {
        !wrapped.contains($0) && keys.open(of: $0) != nil
      }.sorted()
      begun.append(number)
    }
    self.states = states
    self.wraps = wraps
    self.holdersOut = holdersOut
    self.unwrapped = unwrapped
    awaited = keys.awaited
    ranking = Self.ranking(of: begun, states, pasts, counting: counting, in: graph)
    current = ranking.first.flatMap { states[$0] == .serves ? $0 : nil }
    over = Self.over(before: ranking.first, wraps, in: member, known: &pasts)
  }

  /// Whether nothing may be written under an epoch any more: somebody who is out has its key, and not that of another
  /// one, which does not come before it. So whoever began the other one has carried out that they are out.
  ///
  /// - Parameter isOpen: Whether the key of an epoch is here; others are not asked.
  package func isSpent(
    _ epoch: StatementID, in member: MemberHistory, where isOpen: (StatementID) -> Bool
  ) -> Bool {
    guard let out = holdersOut[epoch], !out.isEmpty, let number = member.graph.number(of: epoch)
    else { return false }
    let past = member.graph.closure(of: [number])
    return ranking.contains { other in
      guard isOpen(other), let place = member.graph.number(of: other), !past.contains(place) else {
        return false
      }
      return !out.isSubset(of: (wraps[other] ?? []).map(KeyHolder.init))
    }
  }

  private static func over(
    before first: StatementID?, _ wraps: [StatementID: [Wrap]], in member: MemberHistory,
    known pasts: inout [LinkSet?]
  ) -> Set<StatementID> {
    let graph = member.graph
    guard let first, let number = graph.number(of: first) else { return [] }
    // Whoever has no key of it goes on with that of one before.
    let wrapped = Set((wraps[first] ?? []).map(\.person))
    guard wrapped.isSuperset(of: member.access.entitlements.keys) else { return [] }
    let past = graph.past(of: number, known: &pasts)
    return Set(
      graph.ids.indices.filter {
        past.contains($0) && graph.links[$0].epoch != nil && member.verdicts[$0] == .counts
      }.map { graph.ids[$0] })
  }

  private static func state(
    of epoch: Int, _ past: LinkSet, _ wraps: [Wrap], in member: MemberHistory, _ keys: KnownKeys
  ) -> EpochState {
    let exposed = wraps.filter {
      !member.access.includes($0.person) || keys.mayBeClosed($0)
    }
    guard exposed.isEmpty else { return .exposed(Set(exposed.map(\.person)).sorted()) }
    let wrapped = Set(wraps.map(\.person))
    let lacking = member.access.entitlements.keys.filter { person in
      guard !wrapped.contains(person), keys.open(of: person) != nil else { return false }
      return member.remainders[person]?.contains { remainder in
        remainder.role != nil
          && remainder.gift.link.map { $0 == epoch || past.contains($0) } ?? true
      } ?? false
    }
    return lacking.isEmpty ? .serves : .lacks(lacking.sorted())
  }

  /// What serves first, then what lacks somebody only; of equals the one with the most counting links in its past, then the
  /// lesser id.
  private static func ranking(
    of begun: [Int], _ states: [StatementID: EpochState], _ pasts: [LinkSet?],
    counting: [Int], in graph: LinkGraph
  ) -> [StatementID] {
    guard begun.count > 1 else { return begun.map { graph.ids[$0] } }
    var all = graph.none
    for number in counting { _ = all.insert(number) }
    let weighed = begun.map { number in
      let id = graph.ids[number]
      return (states[id]?.rank ?? 0, -(pasts[number]?.commonCount(with: all) ?? 0), id)
    }
    return weighed.sorted { $0 < $1 }.map(\.2)
  }
}

extension EpochState {
  fileprivate var rank: Int {
    switch self {
    case .serves: 0
    case .lacks: 1
    case .exposed: 2
    }
  }
}
