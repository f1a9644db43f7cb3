import VaultModel

/// Whose word counts, where heads say something of other devices: nobody but their writer has signed that. Docs/Format.md,
/// "Lines".
struct Witnesses: Sendable {
  /// This machine's, which says what it has seen itself.
  let own: DeviceID
  let people: People
  let links: MemberLinks

  /// Whether what a device's head says of another device's heads is believed before those have come: an editor could name
  /// heads of an owner's that never were, and keep the owner's own from everybody else.
  func believes(_ witness: DeviceID, of device: DeviceID) -> Bool {
    witness == own || !isOwners(device) || isOwners(witness)
  }

  /// Whether a device's word proves that a late head of another device was taken over: an editor could leave out what somebody
  /// else wrote. Docs/Format.md, section 16.
  func proves(_ witness: DeviceID, of device: DeviceID) -> Bool {
    witness == own || isOwners(witness) || areOfOnePerson(witness, device)
  }

  /// Whether a device is believed where its head says that another device has taken over a line, both of one person, who may
  /// have left them out since: an owner's is, and this one. An editor could have what somebody else wrote passed over.
  func believes(_ witness: DeviceID, of line: Head.Retold) -> Bool {
    line.by != line.device && (witness == own || isOwners(witness))
      && wereOfOnePerson(line.by, line.device)
  }

  /// Whether the device's head says of a line whose it is, and is believed.
  func retells(_ head: LoadedHead) -> Bool {
    head.head.retold.contains { believes(head.device, of: $0) }
  }

  /// The member's owners.
  var owners: Set<PersonID> { Set(people.persons.values.filter(isOwner).map(\.id)) }

  /// The devices of the member's owners.
  var ownersDevices: Set<DeviceID> {
    Set(people.persons.values.filter(isOwner).flatMap(\.devices.keys))
  }

  /// Owners' devices that wait for a closing, and may count when it comes.
  var ownersDevicesToCome: Set<DeviceID> {
    Set(people.persons.values.filter(isOwner).flatMap(\.waiting.keys))
  }

  private func isOwners(_ device: DeviceID) -> Bool {
    people.persons.values.contains { $0.devices[device] != nil && isOwner($0) }
  }

  /// Whatever the date: this machine's clock may be wrong.
  func isOwner(_ person: Person) -> Bool { links.role(of: person.id, now: 0) == .owner }

  /// Whether both devices were certified by one person.
  func areOfOnePerson(_ one: DeviceID, _ other: DeviceID) -> Bool {
    people.persons.values.contains {
      $0.devices[one] != nil && $0.devices[other] != nil
    }
  }

  /// The same of devices that their person may have left out since.
  func wereOfOnePerson(_ one: DeviceID, _ other: DeviceID) -> Bool {
    person(of: one, and: other) != nil
  }

  /// Who has certified both devices, and may have left them out since.
  func person(of one: DeviceID, and other: DeviceID) -> Person? {
    people.persons.values.first {
      $0.anyCertificate(of: one) != nil && $0.anyCertificate(of: other) != nil
    }
  }
}

extension HeadRegister {
  var witnesses: Witnesses {
    Witnesses(own: context.device.id, people: context.people, links: links)
  }
}

extension Member {
  var witnesses: Witnesses { register.witnesses }
}
