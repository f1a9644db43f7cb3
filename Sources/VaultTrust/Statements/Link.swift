import VaultModel

/// An owner changes who has access to a member, or somebody leaves or takes a place: `members/…/links/<id>`.
package struct Link: Hashable, Sendable {
  package var member: MemberID
  package var person: PersonID
  package var certificate: StatementID
  /// As whose holder it is written; nil: its writer leaves, or agrees to take a place.
  package var place: Place?
  package var follows: [StatementID]
  package var changes: [Change]
  /// Begins an epoch: the commitment to its key.
  package var epoch: FileHash?
  package var wraps: [Wrap]
  package var time: UInt64
  /// Links of less senior places that count whatever their writers' words say later.
  package var confirmed: [StatementID]
  /// Of a leaving: the newest heads of its writer's devices, which go on counting.
  package var heads: [LastHead]

  package init(
    member: MemberID, person: PersonID, certificate: StatementID, place: Place?,
    follows: [StatementID] = [], changes: [Change] = [], epoch: FileHash? = nil,
    wraps: [Wrap] = [], time: UInt64 = 0, confirmed: [StatementID] = [], heads: [LastHead] = []
  ) {
    self.member = member
    self.person = person
    self.certificate = certificate
    self.place = place
    self.follows = follows.sorted()
    self.changes = changes
    self.epoch = epoch
    self.wraps = wraps
    self.time = time
    self.confirmed = confirmed.sorted()
    self.heads = heads.sorted { $0.device < $1.device }
  }

  /// To whom this link hands its place over.
  package var handOver: PersonID? {
    for case .handOver(let taker) in changes { return taker }
    return nil
  }

  /// To whom this link offers its place; its writer, if it says that they keep it.
  package var offer: PersonID? {
    for case .offer(let taker) in changes { return taker }
    return nil
  }

  /// Whether its writer agrees to take the place that the link which it follows offers.
  package var isAgreement: Bool {
    if case .agree? = changes.first { true } else { false }
  }
}

extension Link {
  /// So many changes, wraps, and links of others that it confirms, has one link room for.
  package static let changeLimit = StatementLimits.changes
  package static let wrapLimit = StatementLimits.wraps
  package static let confirmLimit = StatementLimits.confirmed
}

/// The newest head that a device wrote before its person left.
package struct LastHead: Hashable, Sendable {
  package var device: DeviceID
  package var counter: UInt64

  package init(device: DeviceID, counter: UInt64) {
    self.device = device
    self.counter = counter
  }
}

/// A seat among a member's owners: who sits there may change, its seniority does not.
package struct Place: Hashable, Sendable {
  /// The link that made it; the member's root for the first one.
  package var link: StatementID
  /// For whom it was made.
  package var person: PersonID

  package init(link: StatementID, person: PersonID) {
    self.link = link
    self.person = person
  }
}

/// What a link changes for one person.
package enum Change: Hashable, Sendable {
  /// Gives a role; `until` is zero where it does not end.
  case give(PersonID, Role, until: UInt64)
  /// Leaves at most a role, or nothing. With `until`, it concerns only gifts that end by then.
  case limit(PersonID, Role?, until: UInt64)
  /// The place goes to someone who has agreed.
  case handOver(PersonID)
  /// The place is offered to someone.
  case offer(PersonID)
  /// The writer takes the place that they are offered.
  case agree(PersonID)

  package var person: PersonID {
    switch self {
    case .give(let person, _, _), .limit(let person, _, _): person
    case .handOver(let person), .offer(let person), .agree(let person): person
    }
  }
}

/// An epoch's key for one person's generation; the key stands in a file of its own.
package struct Wrap: Hashable, Sendable {
  /// The link that began the epoch; nil: the one in which this stands.
  package var epoch: StatementID?
  package var person: PersonID
  package var generation: StatementID
  package var file: FileHash

  package init(epoch: StatementID?, person: PersonID, generation: StatementID, file: FileHash) {
    self.epoch = epoch
    self.person = person
    self.generation = generation
    self.file = file
  }
}
