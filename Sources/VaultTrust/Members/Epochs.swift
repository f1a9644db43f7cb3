import VaultModel

/// Whether an epoch may go on being written under: Docs/Format-2.md, "Epochs".
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

  /// - Parameter open: the generation that keys are wrapped for, of whoever has one.
  init(of member: MemberHistory, open: (PersonID) -> StatementID?) {
    let graph = member.graph
    let counting = graph.ids.indices.filter { member.verdicts[$0] == .counts }
    var wraps: [StatementID: [Wrap]] = [:]
    for number in counting {
      for wrap in graph.links[number].wraps {
        wraps[wrap.epoch ?? graph.ids[number], default: []].append(wrap)
      }
    }
    var states: [StatementID: EpochState] = [:]
    var serving: [Int] = []
    for number in counting where graph.links[number].epoch != nil {
      let id = graph.ids[number]
      let state = Self.state(of: number, wraps[id] ?? [], in: member, open: open)
      states[id] = state
      if state == .serves { serving.append(number) }
    }
    self.states = states
    current = Self.current(of: serving, counting: counting, in: graph)
  }

  private static func state(
    of epoch: Int, _ wraps: [Wrap], in member: MemberHistory, open: (PersonID) -> StatementID?
  ) -> EpochState {
    let exposed = wraps.filter {
      !member.access.includes($0.person) || open($0.person) != $0.generation
    }
    guard exposed.isEmpty else { return .exposed(Set(exposed.map(\.person)).sorted()) }
    let wrapped = Set(wraps.map(\.person))
    let before = member.graph.closure(of: [epoch])
    let lacking = member.access.entitlements.keys.filter { person in
      guard !wrapped.contains(person), open(person) != nil else { return false }
      return member.remainders[person]?.contains { remainder in
        remainder.role != nil && remainder.gift.link.map(before.contains) ?? true
      } ?? false
    }
    return lacking.isEmpty ? .serves : .lacks(lacking.sorted())
  }

  /// The one with the most counting links in its past, then the lesser id.
  private static func current(
    of serving: [Int], counting: [Int], in graph: LinkGraph
  ) -> StatementID? {
    guard serving.count > 1 else { return serving.first.map { graph.ids[$0] } }
    var all = graph.none
    for number in counting { _ = all.insert(number) }
    let weighed = serving.map { (graph.past(of: $0).commonCount(with: all), graph.ids[$0]) }
    return weighed.min { $0.0 != $1.0 ? $0.0 > $1.0 : $0.1 < $1.1 }?.1
  }
}
