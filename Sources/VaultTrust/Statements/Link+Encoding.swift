import VaultModel

extension Link: WireMessage {
  package static let what: StaticString = "link"
  package static let byteLimit = StatementLimits.linkBytes
  package static let blank = Link(
    member: .zero, person: .zero, certificate: .zero, place: nil)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &member, "member")
    try fields.id(2, &person, "person")
    try fields.id(3, &certificate, "certificate")
    var places = place.map { [$0] } ?? []
    try fields.messages(4, &places, "place")
    place = places.last
    try fields.ids(
      5, &follows, "follows", limit: StatementLimits.linkFollows, isAscending: true)
    var stored = changes.map { StoredChange($0) }
    try fields.messages(6, &stored, "changes", limit: StatementLimits.changes) { $0.isKnown }
    changes = stored.compactMap(\.change)
    try fields.idIfThere(7, &epoch, "epoch")
    try fields.messages(8, &wraps, "wraps", limit: StatementLimits.wraps)
    try fields.time(9, &time, "time")
    try fields.ids(
      10, &confirmed, "confirmed", limit: StatementLimits.confirmed, isAscending: true)
    try fields.messages(11, &heads, "heads", limit: StatementLimits.staying)
  }

  package func check() throws(ModelError) {
    if let flaw { throw .malformed(what: "link", reason: flaw) }
  }

  /// What forbids these changes in one link; nil: nothing.
  private var flaw: String? {
    guard place != nil else {
      guard changes.count == 1, epoch == nil, wraps.isEmpty, confirmed.isEmpty else {
        return Self.noOwners
      }
      switch changes[0] {
      case .limit(person, _, until: 0): return nil
      case .agree(person) where heads.isEmpty && follows.count == 1: return nil
      default: return Self.noOwners
      }
    }
    guard heads.isEmpty else { return "it names heads, and its writer does not leave" }
    var owners: Set<PersonID> = []
    var (handOvers, offers) = (0, 0)
    for change in changes {
      switch change {
      case .give(let person, .owner, _):
        guard owners.insert(person).inserted else { return "it gives one person two places" }
      case .handOver: handOvers += 1
      case .offer: offers += 1
      case .agree: return "it agrees to take a place, as the holder of one"
      case .give, .limit: break
      }
    }
    return handOvers > 1 || offers > 1 ? "it hands one place over twice, or offers it twice" : nil
  }

  private static let noOwners =
    "it is no owner's, and does not only say that its writer leaves, or takes a place"
}

extension Place: WireMessage {
  package static let what: StaticString = "place"
  package static let blank = Place(link: .zero, person: .zero)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &link, "link")
    try fields.id(2, &person, "person")
  }
}

extension LastHead: WireMessage {
  package static let what: StaticString = "head"
  package static let blank = LastHead(device: .zero, counter: 0)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &device, "device")
    try fields.count(2, &counter, "counter")
  }
}

extension Wrap: WireMessage {
  package static let what: StaticString = "wrap"
  package static let blank = Wrap(epoch: nil, person: .zero, generation: .zero, file: .zero)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.idIfThere(1, &epoch, "epoch")
    try fields.id(2, &person, "person")
    try fields.id(3, &generation, "generation")
    try fields.id(4, &file, "file")
  }
}
