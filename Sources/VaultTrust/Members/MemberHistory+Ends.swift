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
  }

  package let place: Place
  package let holder: PersonID
  /// The one that counts first, then by what their writers say of the time.
  package let ends: [End]
  /// Whether the one that counts had counted here before another one came; otherwise nothing but an order of all links says so.
  package let isRemembered: Bool
}

extension MemberHistory {
  /// The places that were given up twice, by seniority.
  package var placesGivenUpTwice: [PlaceGivenUpTwice] {
    places.flatMap { history in
      history.tenures.compactMap { tenure in
        guard let end = tenure.end, !tenure.others.isEmpty else { return nil }
        let others = tenure.others.map { self.end($0, counts: false) }
        return PlaceGivenUpTwice(
          place: history.place, holder: tenure.holder,
          ends: [self.end(end.link, counts: true)]
            + others.sorted { ($0.time, $0.link) < ($1.time, $1.link) },
          isRemembered: tenure.isRemembered)
      }
    }
  }

  private func end(_ number: Int, counts: Bool) -> PlaceGivenUpTwice.End {
    PlaceGivenUpTwice.End(
      link: graph.ids[number], taker: graph.links[number].handOver, time: graph.links[number].time,
      counts: counts)
  }
}
