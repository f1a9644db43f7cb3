import Foundation

/// Who may read one member, and with which keys (section 16 of the format), where no two links stand beside each other: so
/// every link of an owner counts.
struct Access {
  enum Role: UInt64 {
    case owner = 1
    case editor, viewer
  }

  /// What a link, or the member's root, gives.
  private struct Gift {
    let link: Int?
    let role: Role
  }

  let member: String
  /// The links that count, each after all that it follows.
  let links: [(id: [UInt8], body: WireMessage)]
  /// The epoch that is written under: the id of the link that began it.
  let current: [UInt8]
  private let roles: [[UInt8]: Role]
  private let vault: FrozenVault
  private let people: [[UInt8]: PublicPerson]

  init(_ member: String, in vault: FrozenVault, people: [[UInt8]: PublicPerson]) throws {
    let root = try Self.root(member, in: vault, people: people)
    let links = try Self.line(of: member, in: vault, people: people)
    self.links = links
    var gifts: [[UInt8]: [Gift]] = [try root.bytes(1): [Gift(link: nil, role: .owner)]]
    for (number, link) in links.enumerated() {
      let writer = try link.body.bytes(2)
      if link.body.has(4) {
        try Refused.unless(
          gifts[writer]?.contains { $0.role == .owner } ?? false, "a link of no owner")
      }
      for change in try link.body.messages(6) {
        let person = try change.bytes(2)
        switch try change.number(1) {
        case 1:
          guard let role = Role(rawValue: try change.number(3)) else { throw Refused("a role") }
          gifts[person, default: []].append(Gift(link: number, role: role))
        case 2:
          try Refused.unless(link.body.has(4) || person == writer, "a leaving of another")
          let most = Role(rawValue: try change.number(3))
          gifts[person] = gifts[person]?.compactMap { gift in
            guard gift.link != number else { return gift }
            return most.map { most in
              Gift(link: gift.link, role: most.rawValue > gift.role.rawValue ? most : gift.role)
            }
          }
        default: throw Refused("a hand over")
        }
      }
    }
    roles = gifts.compactMapValues { $0.map(\.role).min { $0.rawValue < $1.rawValue } }
    current = try Self.epoch(of: links, roles: roles, people)
    (self.member, self.vault, self.people) = (member, vault, people)
  }

  /// The links in the order of what they follow, of which there is one only.
  private static func line(
    of member: String, in vault: FrozenVault, people: [[UInt8]: PublicPerson]
  ) throws -> [(id: [UInt8], body: WireMessage)] {
    var next: [[[UInt8]]: (id: [UInt8], body: WireMessage)] = [:]
    for name in try vault.names(in: "members/\(member)/links") {
      let (id, body) = try vault.primitives.statement(
        try vault.file("members/\(member)/links/\(name)"), "link"
      ) { body in
        guard let writer = people[try body.bytes(2)] else { throw Refused("a stranger's link") }
        return try writer.signer(try body.bytes(3), of: try Array(hex: name))
      }
      try Refused.unless(try id.hex == name && body.bytes(1).hex == member, "a link's place")
      let follows = try body.all(5)
      try Refused.unless(follows.count < 2 && next[follows] == nil, "links beside each other")
      next[follows] = (id, body)
    }
    var line: [(id: [UInt8], body: WireMessage)] = []
    while let link = next.removeValue(forKey: line.last.map { [$0.id] } ?? []) { line.append(link) }
    try Refused.unless(next.isEmpty, "a link that follows nothing here")
    return line
  }

  /// The last epoch that serves: all who have access have its key for their open generation, and nobody else.
  private static func epoch(
    of links: [(id: [UInt8], body: WireMessage)], roles: [[UInt8]: Role],
    _ people: [[UInt8]: PublicPerson]
  ) throws -> [UInt8] {
    for link in links.reversed() where link.body.has(7) {
      let wraps = try Self.wraps(of: link.id, in: links)
      let isServing =
        try wraps.allSatisfy { wrap in
          let person = try wrap.bytes(2)
          return try roles[person] != nil && people[person]?.generation == wrap.bytes(3)
        } && Set(wraps.map { try $0.bytes(2) }) == Set(roles.keys)
      if isServing { return link.id }
    }
    throw Refused("no epoch serves")
  }

  private static func wraps(
    of epoch: [UInt8], in links: [(id: [UInt8], body: WireMessage)]
  ) throws -> [WireMessage] {
    try links.flatMap { link in
      try link.body.messages(8).filter { try ($0.has(1) ? $0.bytes(1) : link.id) == epoch }
    }
  }

  /// The epochs of which the person was ever given the key.
  func epochs(of person: [UInt8]) throws -> [[UInt8]] {
    try links.map(\.id).filter { epoch in
      try Self.wraps(of: epoch, in: links).contains { try $0.bytes(2) == person }
    }
  }

  func role(of person: [UInt8]) -> Role? { roles[person] }

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

  /// The person's keys of an epoch; nil without a wrap.
  func objects(of person: Person, in epoch: [UInt8]) throws -> ObjectReader? {
    guard let begun = links.first(where: { $0.id == epoch })?.body else { return nil }
    let wrap = try Self.wraps(of: epoch, in: links).last { try $0.bytes(2) == person.id }
    guard let wrap else { return nil }
    let (id, commitment) = (try Array(hex: member), try begun.bytes(7))
    let file = try vault.file("members/\(member)/wraps/\(wrap.bytes(4).hex)")
    try Refused.unless(
      try file.sha256 == wrap.bytes(4), "a wrap's name")
    let generation = try wrap.bytes(3)
    guard let known = people[person.id] else { throw Refused("a stranger's wrap") }
    let key = try vault.primitives.unwrapped(
      file, try person.agreementKey(generation: generation),
      try known.agreementPublicKey(generation: generation), "epoch-wrap",
      context: id + commitment + person.id + generation)
    let committed = Array("kinvault/2/epoch".utf8) + [0] + vault.primitives.vault + id + key
    try Refused.unless(committed.sha256 == commitment, "the epoch's key")
    return ObjectReader(memberKey: key, member: id, primitives: vault.primitives)
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
      let body = try vault.primitives.statement(try vault.file(path), "head") { _ in
        try certificate.bytes(3)
      }.body
      let person = try certificate.bytes(1)
      try Refused.unless(
        try body.bytes(1).hex == member && body.bytes(2) == person && body.bytes(4) == device
          && body.all(8).allSatisfy { follows in links.contains { $0.id == follows } }, "a head")
      guard let role = role(of: person), role != .viewer else { continue }
      guard try body.bytes(7) == current else {
        late.append((device, try body.number(5)))
        continue
      }
      heads.append(
        try vault.primitives.opened(
          try WireMessage(body.bytes(9)), key: objects.registerKey, label: "head", path: path,
          counter: try body.number(5)))
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
