import Foundation

/// Who may read one member, and with which keys (sections 15 and 16 of the format), where no two epochs were begun at once.
struct Access {
  struct Epoch: Hashable {
    let number: UInt64
    let owner: [UInt8]
    var name: String { "\(number)-\(owner.hex)" }
  }

  enum Role: UInt64 {
    case owner = 1
    case editor, viewer
  }

  let member: String
  /// The valid grants by epoch and person.
  let grants: [Epoch: [[UInt8]: WireMessage]]
  let current: Epoch
  private let vault: FrozenVault
  private let people: [[UInt8]: PublicPerson]

  init(_ member: String, in vault: FrozenVault, people: [[UInt8]: PublicPerson]) throws {
    let root = try Self.root(member, in: vault, people: people)
    var waiting: [WireMessage] = []
    for epoch in try vault.names(in: "members/\(member)/grants") {
      for person in try vault.names(in: "members/\(member)/grants/\(epoch)") {
        let path = "members/\(member)/grants/\(epoch)/\(person)"
        let grant = try vault.primitives.verified(try vault.file(path), "grant", path: path) {
          body, id in
          guard let giver = people[try body.bytes(6)] else { throw Refused("a stranger's grant") }
          return try giver.signer(try body.bytes(14), of: id)
        }
        try Refused.unless(
          try grant.bytes(1).hex == member && Self.epoch(of: grant).name == epoch
            && grant.bytes(4).hex == person, "a grant")
        waiting.append(grant)
      }
    }
    // What follows something has a greater number, and the first grant of an epoch vouches for its others.
    waiting.sort { one, other in
      let (a, b) = ((try? one.number(2)) ?? 0, (try? other.number(2)) ?? 0)
      return a == b ? Self.isFirst(one) && !Self.isFirst(other) : a < b
    }
    var grants: [Epoch: [[UInt8]: WireMessage]] = [:]
    var followed: Set<Epoch> = []
    func isOwner(_ person: [UInt8], _ epoch: Epoch) throws -> Bool {
      try grants[epoch]?[person]?.number(8) == Role.owner.rawValue
    }
    for grant in waiting {
      let epoch = try Self.epoch(of: grant)
      if Self.isFirst(grant) {
        let follows = try grant.messages(12).map { try Self.followed($0) }
        let isBegun =
          try follows.isEmpty
          ? epoch.number == 1 && root.bytes(1) == epoch.owner
          : follows.allSatisfy { try isOwner(epoch.owner, $0) }
        try Refused.unless(try isBegun && grant.number(8) == 1, "the beginning of an epoch")
        followed.formUnion(follows)
      } else {
        try Refused.unless(try isOwner(grant.bytes(6), epoch), "a giver")
      }
      grants[epoch, default: [:]][try grant.bytes(4)] = grant
    }
    let tips = Set(grants.keys).subtracting(followed)
    guard tips.count == 1, let tip = tips.first else { throw Refused("\(tips.count) tips") }
    current = tip
    self.grants = grants
    (self.member, self.vault, self.people) = (member, vault, people)
  }

  /// The member root's body: the member is named after its id.
  static func root(
    _ member: String, in vault: FrozenVault, people: [[UInt8]: PublicPerson]
  ) throws -> WireMessage {
    let file = try vault.file("members/\(member)/root")
    let (id, body) = try vault.primitives.statement(file, "root") { body in
      guard let creator = people[try body.bytes(1)] else { throw Refused("a stranger's member") }
      return try creator.signer(try body.bytes(2), of: try Array(hex: member))
    }
    try Refused.unless(id.hex == member, "the member's name")
    return body
  }

  private static func epoch(of grant: WireMessage) throws -> Epoch {
    Epoch(number: try grant.number(2), owner: try grant.bytes(3))
  }

  private static func followed(_ epoch: WireMessage) throws -> Epoch {
    Epoch(number: try epoch.number(1), owner: try epoch.bytes(2))
  }

  /// Whether its owner gave it to themself.
  private static func isFirst(_ grant: WireMessage) -> Bool {
    guard let giver = try? grant.bytes(6) else { return false }
    return (try? grant.bytes(4)) == giver && (try? grant.bytes(3)) == giver
  }

  func role(of person: [UInt8], in epoch: Epoch) throws -> Role? {
    try grants[epoch]?[person].flatMap { Role(rawValue: try $0.number(8)) }
  }

  /// The person's keys of an epoch; nil without a grant.
  func objects(of person: Person, in epoch: Epoch) throws -> ObjectReader? {
    guard let grant = grants[epoch]?[person.id] else { return nil }
    guard let giver = people[try grant.bytes(6)] else { return nil }
    let id = try Array(hex: member)
    let wrapKey = try vault.primitives.wrapKey(
      try person.agreementKey(generation: try grant.bytes(5)),
      try giver.agreementPublicKey(generation: try grant.bytes(7)), "grant-wrap", salt: id,
      context: UInt32(truncatingIfNeeded: epoch.number).bigEndianBytes + epoch.owner + giver.id
        + person.id)
    return ObjectReader(
      memberKey: try unwrap(try grant.bytes(9), with: wrapKey), member: id,
      primitives: vault.primitives)
  }

  // MARK: Heads

  /// What counts of the member's heads, opened.
  func heads(_ objects: ObjectReader) throws -> [WireMessage] {
    var heads: [WireMessage] = []
    var late: [(device: [UInt8], counter: UInt64)] = []
    for name in try vault.names(in: "members/\(member)/heads") {
      let path = "members/\(member)/heads/\(name)"
      let device = try Array(hex: name)
      guard let certificate = try certificate(of: device) else { continue }
      let body = try vault.primitives.verified(try vault.file(path), "head", path: path) { _, _ in
        try certificate.bytes(3)
      }
      let person = try certificate.bytes(1)
      try Refused.unless(
        try body.bytes(1).hex == member && body.bytes(2) == device && body.bytes(5) == person,
        "a head")
      guard let role = try role(of: person, in: current), role != .viewer else { continue }
      guard try body.bytes(7) == objects.keyID else {
        late.append((device, try body.number(3)))
        continue
      }
      heads.append(
        try vault.primitives.opened(
          try body.message(8), key: objects.registerKey, label: "head", path: path,
          counter: try body.number(3)))
    }
    let covers = try heads.flatMap { try $0.messages(3) }
    for head in late {
      let isTakenOver = try covers.contains {
        try $0.bytes(1) == head.device && $0.number(2) >= head.counter
      }
      try Refused.unless(isTakenOver, "a late head that nobody has taken over")
    }
    return heads
  }

  /// Nil for a device that nobody certifies any more.
  private func certificate(of device: [UInt8]) throws -> WireMessage? {
    for person in people.values {
      if let certificate = try vault.certificates(of: person)[device] { return certificate }
    }
    return nil
  }
}
