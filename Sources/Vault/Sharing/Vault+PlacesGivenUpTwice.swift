import BlobStore
import VaultErrors
import VaultModel
import VaultPeople
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
    let known = try vouching().people.union([person])
    return try placesGivenUpTwice { (place, id) in
      known.contains(place.holder) || isMeant(id)
    }
  }

  /// The places that were given up twice, of which nobody has said which end is true, in members in which something may hang on
  /// that which the devices that leave have signed: one of the ends, links that do not count here, or records.
  ///
  /// Removed now, what these devices signed goes on to stand, by each of the ends, as far as it is here. Once the person has said
  /// which one is true, the rest of it comes, and what counts by others alone is not listed any more.
  package func placesToSettle(before leaving: Leaving) throws(VaultError) -> [PlaceToSettle] {
    let withoutRoom = try context.ownPerson()
      .devicesWithoutRoom(besides: leaving.devices, at: device)
    let devices = leaving.devices.union(withoutRoom)
    let departing = certificates(of: devices)
    var found = try placesGivenUpTwice { (place, _) in !place.isDecided }
    for member in Set(found.map(\.member)) {
      if try hasHead(of: devices, in: member) { continue }
      let history = try context.opening(of: member).loadLinks().history
      let lasting = history.lasting(signedBy: departing)
      let kept = lasting.subtracting(leaving.disowned(of: lasting, history))
      let isOfOther = !kept.isSubset(of: history.signed(by: departing))
      found.removeAll { one in
        one.member == member && !isOfOther && !one.place.ends.contains { kept.contains($0.link) }
      }
    }
    return found
  }

  /// Whether one of these devices has written records of a member. Where that was under the keys of another end, nothing here tells
  /// what they wrote.
  private func hasHead(
    of devices: Set<DeviceID>, in member: MemberID
  ) throws(VaultError) -> Bool {
    let heads = try storing(context.store.list(BlobPath("members/\(member.hex)/heads")))
    let names = Set(devices.map(\.hex))
    return heads.contains { names.contains($0.name) }
  }

  /// In members that show here or do not.
  private func placesGivenUpTwice(
    where isMeant: (PlaceGivenUpTwice, MemberID) -> Bool
  ) throws(VaultError) -> [PlaceToSettle] {
    let entries = try storing(context.store.list("members"))
    var found: [PlaceToSettle] = []
    for id in entries.compactMap({ MemberID(hex: $0.name) }) {
      guard let links = try ifWhole(context.opening(of: id).loadLinks()) else { continue }
      found += links.history.placesGivenUpTwice
        .filter { isMeant($0, id) }.map { PlaceToSettle(member: id, place: $0) }
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
