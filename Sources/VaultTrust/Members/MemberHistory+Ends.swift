import VaultModel

/// A holder's place among a member's owners that was given up twice, at points that do not know of each other: once, mostly,
/// by whoever has their keys. What counted here first decides, or a person who asks the others.
package struct PlaceGivenUpTwice: Hashable, Sendable {
  /// One of the links that may be the end.
  package struct End: Hashable, Sendable {
    package let link: StatementID
    /// To whom it hands the place over; nil: its holder leaves.
    package let taker: PersonID?
    /// By its writer's clock, in milliseconds since 1970.
    package let time: UInt64
    /// Whether it is the one that counts here.
    package let counts: Bool
    /// Whether a person has said that it is not true.
    package let isRefused: Bool
  }

  package let place: Place
  package let holder: PersonID
  /// The one that counts first, then by what their writers say of the time. None counts where a person has refused all that
  /// are left.
  package let ends: [End]
  /// Whether the one that counts had counted here before another one came; otherwise nothing but an order of all links says so.
  package let isRemembered: Bool
  /// Whether nothing tells of several ends which one is true.
  package let isContested: Bool

  /// Whether a person has said which one is true.
  package var isSettled: Bool { isRemembered && ends.allSatisfy { $0.counts != $0.isRefused } }

  /// Whether there is none that a person has neither taken for true nor refused. What they took for true may have fallen since.
  package var isDecided: Bool { isSettled || ends.allSatisfy(\.isRefused) }
}

extension MemberHistory {
  /// The places that were given up twice, by seniority.
  package var placesGivenUpTwice: [PlaceGivenUpTwice] {
    places.flatMap { history in
      history.tenures.compactMap { tenure in
        guard !tenure.others.isEmpty else { return nil }
        let refused = Set(tenure.refused)
        let others = tenure.others.map { end($0, of: tenure, refused) }
        return PlaceGivenUpTwice(
          place: history.place, holder: tenure.holder,
          ends: (tenure.end.map { [end($0.link, of: tenure, refused)] } ?? [])
            + others.sorted { ($0.time, $0.link) < ($1.time, $1.link) },
          isRemembered: tenure.isRemembered, isContested: tenure.isContested)
      }
    }
  }

  private func end(
    _ number: Int, of tenure: Tenure, _ refused: Set<Int>
  ) -> PlaceGivenUpTwice.End {
    PlaceGivenUpTwice.End(
      link: graph.ids[number], taker: graph.links[number].handOver, time: graph.links[number].time,
      counts: number == tenure.end?.link, isRefused: refused.contains(number))
  }

  /// The links that do not count and come before an end that a person has refused, or after it.
  package var leadingToRefusedEnds: Set<StatementID> {
    let refused = places.flatMap(\.tenures).flatMap(\.refused)
    if refused.isEmpty { return [] }
    let before = graph.closure(of: refused)
    let after = graph.future(of: refused)
    return Set(
      graph.ids.indices.filter {
        verdicts[$0] != .counts && (before.contains($0) || after.contains($0))
      }.map { graph.ids[$0] })
  }
}
