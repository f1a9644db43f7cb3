import BlobStore
import VaultErrors
import VaultModel
import VaultTrust

/// A place among a member's owners that was given up twice.
package struct PlaceToSettle: Sendable {
  /// One of the links that may be the end.
  package struct End: Sendable {
    package let link: StatementID
    /// To whom it hands the place over; nil: its holder leaves.
    package let taker: PersonID?
    /// By its writer's clock, in milliseconds since 1970.
    package let time: UInt64
    /// Whether it is the one that counts here.
    package let counts: Bool
    /// Whether a person has said that it is not true.
    package let isRefused: Bool

    fileprivate init(_ end: PlaceGivenUpTwice.End) {
      (link, taker, time) = (end.link, end.taker, end.time)
      (counts, isRefused) = (end.counts, end.isRefused)
    }
  }

  package let member: MemberID
  package let place: PlaceGivenUpTwice

  package var holder: PersonID { place.holder }
  /// The one that counts first.
  package var ends: [End] { place.ends.map { End($0) } }
  /// Whether the one that counts had counted here before another one came.
  package var isRemembered: Bool { place.isRemembered }
  /// Whether a person has said which one is true.
  package var isSettled: Bool { place.isSettled }
}

extension Vault {
  /// Those of members that show here of which nothing tells which end is the true one.
  package var contestedPlaces: [PlaceToSettle] {
    members.flatMap { member in
      member.register.links.history.placesGivenUpTwice.filter(\.isContested).map {
        PlaceToSettle(member: member.id, place: $0)
      }
    }
  }

  /// The places that were given up twice by somebody for whom this person vouches, in members that show here or do not.
  ///
  /// - Parameter isMeant: Members that are asked for, in which it may be anybody.
  package func placesToSettle(
    alsoIn isMeant: (MemberID) -> Bool = { _ in false }
  ) throws(VaultError) -> [PlaceToSettle] {
    let entries = try storing(context.store.list("members"))
    let known = try vouching().people.union([person])
    var found: [PlaceToSettle] = []
    for id in entries.compactMap({ MemberID(hex: $0.name) }) {
      guard let links = try ifWhole(context.opening(of: id).loadLinks()) else { continue }
      let places = links.history.placesGivenUpTwice
      found += places.filter { known.contains($0.holder) || isMeant(id) }.map {
        PlaceToSettle(member: id, place: $0)
      }
    }
    return found
  }

  /// This machine goes by one of the links with which a place was given up twice from now on, whichever came first.
  ///
  /// - Parameter end: One of the `ends` of a place of this member.
  /// - Throws: `notFound` when there is no such end; what reading and writing the state throws.
  package func settle(_ member: MemberID, on end: StatementID) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    let places = try context.opening(of: member).loadLinks().history.placesGivenUpTwice
    guard let place = places.first(where: { $0.ends.contains { $0.link == end } }) else {
      throw .notFound(what: "an end \(end.shortHex) of a place that was given up twice")
    }
    try context.state.settle(member, on: end, among: Set(place.ends.map(\.link)))
    audit.note(.share, member: member, person: place.holder, detail: "settled on \(end.shortHex)")
    if let open = self.member(member) { _ = try reloadLinks(of: open) }
    _ = try refreshMembers()
  }
}
