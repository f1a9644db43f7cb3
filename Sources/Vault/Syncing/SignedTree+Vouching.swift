import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Who is vouched for, as the tree shows.
extension SignedTree {
  /// Who is vouched for, with those besides for whom these members speak. A member whose root does not hold says nothing.
  package func extending(
    _ vouching: Vouching, by members: some Sequence<MemberID>
  ) throws(VaultError) -> Vouching {
    var histories: [MemberHistory] = []
    for member in members {
      if let links = try ifWhole(self.links(of: member)) { histories.append(links.history) }
    }
    var extended = vouching
    extended.judge(histories)
    return extended
  }

  /// Who made a member, if its root holds.
  package func creator(of member: MemberID) throws(VaultError) -> PersonID? {
    try ifWhole(links(of: member).creator)
  }

  /// Whether the person has closings that count.
  package func holds(_ person: PersonID) -> Bool { people[person] != nil }

  /// Those who have certified the device, whether it counts or not. An honest one has one person; whoever has its key can have
  /// anybody certify it.
  package func persons(of device: DeviceID) -> [PersonID] {
    people.persons.values.filter { $0.anyCertificate(of: device) != nil }.map(\.id)
  }

  /// The device with a certificate of it, whether it counts or not; nil for one that nobody certified.
  func certified(_ device: DeviceID) -> CertifiedDevice? {
    people.persons.values.lazy.compactMap { $0.anyCertificate(of: device) }.first
  }
}
