import VaultModel

/// A place among a member's owners that its holder offers to someone: Docs/Format.md, section 16, "Handing over".
package struct PlaceOffer: Hashable, Sendable {
  /// The link that says so.
  package let id: StatementID
  package let place: Place
  package let giver: PersonID
  package let taker: PersonID
  /// Of the device that offers, and that hands over.
  package let certificate: StatementID
  /// By the giver's clock.
  package let time: UInt64
  /// The link in which the taker agrees; nil while they have not.
  package let agreement: StatementID?
  /// Its holder has changed something in the member that the offer does not follow: a hand over here would undo that.
  package let isOvertaken: Bool
  /// The taker has agreed to the same offer, before it had to be made anew.
  package let hadAgreement: Bool
}

extension MemberHistory {
  /// The offers that stand, by seniority of what is offered; one for each place.
  package var offers: [PlaceOffer] {
    places.compactMap { place in
      guard let tenure = place.tenures.last, tenure.isHeld else { return nil }
      return offer(of: place.place, by: tenure.holder)
    }
  }

  /// Of several offers beside each other, that to the more senior one.
  private func offer(of place: Place, by holder: PersonID) -> PlaceOffer? {
    let written = graph.ids.indices.filter {
      verdicts[$0] == .counts && graph.links[$0].place == place
    }
    let steps = written.filter { graph.links[$0].offer != nil || graph.links[$0].handOver != nil }
    let last = graph.lasts(of: steps).filter { stands($0, by: holder) }
    let best = last.min { (seniority(of: $0), $0) < (seniority(of: $1), $1) }
    guard let best, let taker = graph.links[best].offer else { return nil }
    let link = graph.links[best]
    let known = graph.closure(of: [best])
    let agreements = agreements(of: taker)
    let agreedTo = Set(agreements.flatMap { graph.links[$0].follows })
    return PlaceOffer(
      id: graph.ids[best], place: place, giver: holder, taker: taker,
      certificate: link.certificate, time: link.time,
      agreement: agreements.filter { graph.links[$0].follows == [graph.ids[best]] }
        .map { graph.ids[$0] }.min(),
      isOvertaken: !written.allSatisfy(known.contains),
      hadAgreement: steps.contains { step in
        agreedTo.contains(graph.ids[step]) && isRepeated(step, in: steps, known, to: taker)
      })
  }

  /// Whether it is an offer of this holder to somebody else, who has access.
  private func stands(_ number: Int, by holder: PersonID) -> Bool {
    let link = graph.links[number]
    guard let taker = link.offer, link.person == holder, taker != holder else { return false }
    return access.includes(taker)
  }

  private func seniority(of offer: Int) -> Int {
    graph.links[offer].offer.flatMap { access.owners.firstIndex(of: $0) } ?? .max
  }

  private func agreements(of taker: PersonID) -> [Int] {
    graph.ids.indices.filter {
      verdicts[$0] == .counts && graph.links[$0].isAgreement && graph.links[$0].person == taker
    }
  }

  /// Whether all steps between an offer and a later one say the same as both.
  ///
  /// - Parameter known: The past of the later one, and itself.
  private func isRepeated(
    _ offer: Int, in steps: [Int], _ known: LinkSet, to taker: PersonID
  ) -> Bool {
    guard known.contains(offer) else { return false }
    let before = graph.closure(of: [offer])
    return steps.filter { known.contains($0) && !before.contains($0) }
      .allSatisfy { graph.links[$0].offer == taker && graph.links[$0].handOver == nil }
  }
}
