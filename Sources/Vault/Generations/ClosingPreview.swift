import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// What a person sees before they change their keys: which devices stay, and what those that go have done lately.
package struct ClosingPreview: Sendable {
  /// A device that stays.
  package struct Staying: Sendable {
    package let device: DeviceID
    /// When it was certified, by the clock of whoever did; milliseconds since 1970.
    package let since: UInt64
    /// The device that approved it; nil where the words did.
    package let approver: DeviceID?
    package let isThisOne: Bool
  }

  /// What a departing device has signed that counts.
  package struct Deed: Sendable {
    package enum Kind: Hashable, Sendable {
      /// Made a machine a device of the person.
      case approved(DeviceID)
      case gave(PersonID, Role)
      /// Took access away, or left the person no more than this.
      case limited(PersonID, to: Role?)
      case offered(to: PersonID)
      case handedOver(to: PersonID)
      case left
      case made
    }

    package let kind: Kind
    /// Nil for an approval.
    package let member: FileName?
    /// By the device's clock; milliseconds since 1970.
    package let time: UInt64
  }

  /// This one first, then the oldest.
  package let staying: [Staying]
  /// The newest first.
  package let deeds: [Deed]
  /// How many devices go as well, since there is no room for all that departing ones have let in.
  package let goingAlongCount: Int
  /// How many people are known to those that go alone, and are forgotten, as there is no room for what is known of all.
  package let forgottenCount: Int
}

extension Vault {
  /// What a closing that leaves these devices out would leave in.
  ///
  /// - Throws: `limit` where no closing has room for all that would stay; what reading the vault's people throws.
  package func closingPreview(
    removing departing: Set<DeviceID>
  ) throws(VaultError) -> ClosingPreview {
    try context.reloadPeople()
    let own = try context.ownPerson()
    let goingAlong = own.devicesWithoutRoom(besides: departing, at: device)
    let going = departing.union(goingAlong)
    try own.requireRoom(without: going)
    let known = context.people.trust.statements.certificates
    // Those that wait for the words stay as well.
    let all = own.devices.merging(own.waiting) { counting, _ in counting }
    let staying = all.filter { !going.contains($0.key) }.map { id, certified in
      ClosingPreview.Staying(
        device: id, since: certified.certificate.time,
        approver: certified.certificate.approver.flatMap { known[$0]?.device },
        isThisOne: id == device)
    }.sorted { left, right in
      if left.isThisOne != right.isThisOne { return left.isThisOne }
      return (left.since, left.device) < (right.since, right.device)
    }
    let certificates = certificates(of: going)
    let deeds = approvals(by: certificates, in: all) + changes(by: certificates)
    return ClosingPreview(
      staying: staying, deeds: deeds.sorted { $0.time > $1.time },
      goingAlongCount: goingAlong.count,
      forgottenCount: try passedOn(by: going).forgottenCount)
  }

  private func approvals(
    by certificates: Set<StatementID>, in devices: [DeviceID: CertifiedDevice]
  ) -> [ClosingPreview.Deed] {
    devices.compactMap { id, certified in
      guard let approver = certified.certificate.approver, certificates.contains(approver) else {
        return nil
      }
      return ClosingPreview.Deed(
        kind: .approved(id), member: nil, time: certified.certificate.time)
    }
  }

  private func changes(by certificates: Set<StatementID>) -> [ClosingPreview.Deed] {
    members.flatMap { member -> [ClosingPreview.Deed] in
      let history = member.register.links.history
      var deeds: [ClosingPreview.Deed] = []
      if certificates.contains(history.root.certificate) {
        deeds.append(
          ClosingPreview.Deed(kind: .made, member: member.name, time: history.root.time))
      }
      for link in history.lasting(signedBy: certificates).sorted().compactMap(history.link) {
        for kind in link.changes.compactMap({ Self.kind(of: $0, in: link) }) {
          deeds.append(ClosingPreview.Deed(kind: kind, member: member.name, time: link.time))
        }
      }
      return deeds
    }
  }

  private static func kind(of change: Change, in link: Link) -> ClosingPreview.Deed.Kind? {
    switch change {
    case .give(let person, let role, _): .gave(person, role)
    case .limit(let person, let role, _):
      link.place == nil && person == link.person ? .left : .limited(person, to: role)
    case .offer(let person): .offered(to: person)
    case .handOver(let person): .handedOver(to: person)
    // It says nothing without the offer, and the hand over says it.
    case .agree: nil
    }
  }
}
