import VaultModel
import VaultPeople
import VaultTrust

/// Whose word counts, where heads say something of other devices: nobody but their writer has signed that. Docs/Format.md,
/// "Lines".
struct Witnesses: Sendable {
  /// This machine's, which says what it has seen itself.
  let own: DeviceID
  let people: People
  let links: MemberLinks

  /// Whether another line of a device that its head names is followed before that device's own head has come: an editor could
  /// name heads of an owner's that never were, and keep the owner's own from everybody else. How far the device has come is
  /// for `CounterWitnesses` to say.
  func believes(_ witness: DeviceID, ofLineOf device: DeviceID) -> Bool {
    witness == own || !isOwners(device) || isOwners(witness)
  }

  /// Whether a device's word proves that a late head of another device was taken over: an editor could leave out what somebody
  /// else wrote. Docs/Format.md, section 16.
  func proves(_ witness: DeviceID, of device: DeviceID) -> Bool {
    witness == own || isOwners(witness) || areOfOnePerson(witness, device)
  }

  /// Whether a device is believed where its head says that another device has taken over a line, which has surely been that one
  /// before: an owner's is, and this one. An editor could have what somebody else wrote passed over.
  func believes(_ witness: DeviceID, of line: Head.Retold) -> Bool {
    (witness == own || isOwners(witness)) && hasSurelyBecome(line.by, from: line.device)
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

  /// The devices of people who may write the member, those too that wait for a closing, and may count when it comes.
  var writersDevices: Set<DeviceID> {
    let writers = people.persons.values.filter(isWriter)
    return Set(writers.flatMap { Array($0.devices.keys) + Array($0.waiting.keys) })
  }

  /// Whether the device counts, and is of somebody who may write the member.
  func isOfWriter(_ device: DeviceID) -> Bool {
    people.persons.values.contains { $0.devices[device] != nil && isWriter($0) }
  }

  private func isOwners(_ device: DeviceID) -> Bool {
    people.persons.values.contains { $0.devices[device] != nil && isOwner($0) }
  }

  private func isWriter(_ person: Person) -> Bool { links.access.countsAsWriter(person.id) }

  /// Whatever the date: this machine's clock may be wrong.
  func isOwner(_ person: Person) -> Bool { links.role(of: person.id, now: 0) == .owner }

  /// Whether both devices were certified by one person.
  func areOfOnePerson(_ one: DeviceID, _ other: DeviceID) -> Bool {
    people.persons.values.contains {
      $0.devices[one] != nil && $0.devices[other] != nil
    }
  }

  /// Whether a device may say that its machine was another one before, in one step or several; their person may have left them out
  /// since. The device that it was has approved a certificate of it, as nobody else can: so whoever has stolen one of a person's
  /// machines takes over no line of the others. What approves another machine's carries an `approval`.
  func hasBecome(_ new: DeviceID, from old: DeviceID) -> Bool {
    leads(from: new, to: old) { $0 }
  }

  /// Whether a device is of the person of another one, and may say that its machine was that one before. Both count: what a device
  /// has taken over that was left out since, others say in `retold`.
  func goesOnAs(_ new: DeviceID, from old: DeviceID) -> Bool {
    areOfOnePerson(new, old) && hasBecome(new, from: old)
  }

  /// Whether the same holds whoever says it: all certificates of the device say the same. With the key of one device anybody can
  /// certify another one once more, without asking it.
  private func hasSurelyBecome(_ new: DeviceID, from old: DeviceID) -> Bool {
    leads(from: new, to: old) { $0.count == 1 ? $0 : [] }
  }

  /// - Parameter counting: As of `People.leads`.
  private func leads(
    from new: DeviceID, to old: DeviceID, counting: (Set<DeviceID?>) -> Set<DeviceID?>
  ) -> Bool {
    guard let person = person(of: new, and: old) else { return false }
    return people.leads(from: new, to: old, of: person, counting: counting)
  }

  /// Who has certified both devices, and may have left them out since.
  func person(of one: DeviceID, and other: DeviceID) -> Person? {
    people.persons.values.first {
      $0.anyCertificate(of: one) != nil && $0.anyCertificate(of: other) != nil
    }
  }
}

extension People {
  /// Whether the certificates of a person's device say that its machine was another one before, in one step or several.
  ///
  /// - Parameter counting: Of what a device's certificates say that it was before those that count; nil stands for a machine of
  ///   its own.
  func leads(
    from new: DeviceID, to old: DeviceID, of person: Person,
    counting: (Set<DeviceID?>) -> Set<DeviceID?>
  ) -> Bool {
    var (open, seen) = ([new], Set([new]))
    while let device = open.popLast() {
      for case let before? in counting(origins(of: device, of: person))
      where seen.insert(before).inserted {
        if before == old { return true }
        open.append(before)
      }
    }
    return false
  }

  private func origins(of device: DeviceID, of person: Person) -> Set<DeviceID?> {
    let certificates = (person.certificates[device] ?? []).map(\.certificate)
    return Set(
      certificates.map { (certificate) -> DeviceID? in
        guard certificate.approval.isEmpty, let approver = certificate.approver else { return nil }
        return trust.statements.certificates[approver]?.device
      })
  }
}

/// Whose word counts of how far other devices have come of which no head is here: of people who may write only owners' devices,
/// the same person's, and this one. Whoever took an editor's word would take what the editor makes up for newer than all that
/// somebody else is yet to write. Docs/Format.md, "Counters".
///
/// Looked up once: heads name very many devices.
struct CounterWitnesses: Sendable {
  private let witnesses: Witnesses
  private let writersDevices: Set<DeviceID>
  private let strong: Set<DeviceID>

  init(_ witnesses: Witnesses) {
    self.witnesses = witnesses
    writersDevices = witnesses.writersDevices
    strong = witnesses.ownersDevices.union([witnesses.own])
  }

  func believes(_ witness: DeviceID, of device: DeviceID) -> Bool {
    !writersDevices.contains(device) || strong.contains(witness)
      || witnesses.areOfOnePerson(witness, device)
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
