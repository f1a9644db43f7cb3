import Foundation

/// Who may read one member, and with which keys (section 16 of the format).
struct Access {
  enum Role: UInt64 {
    case owner = 1
    case editor, viewer
  }

  let member: String
  let judge: MemberJudge
  /// The epoch that is written under: the id of the link that began it.
  let current: [UInt8]
  private let vault: FrozenVault
  private let people: [[UInt8]: PublicPerson]

  init(_ member: String, in vault: FrozenVault, people: [[UInt8]: PublicPerson]) throws {
    let root = try Self.root(member, in: vault, people: people)
    judge = try MemberJudge(
      Self.links(of: member, in: vault, people: people), member: try Array(hex: member),
      creator: try root.bytes(1))
    current = try Self.epoch(by: judge, people)
    (self.member, self.vault, self.people) = (member, vault, people)
  }

  /// The links that count.
  var links: [MemberJudge.Link] { judge.links.filter { judge.counting.contains($0.id) } }

  /// Every link that is sound.
  private static func links(
    of member: String, in vault: FrozenVault, people: [[UInt8]: PublicPerson]
  ) throws -> [MemberJudge.Link] {
    try vault.names(in: "members/\(member)/links").map { name in
      let file = try vault.file("members/\(member)/links/\(name)")
      var stands = false
      let (id, body) = try vault.primitives.statement(file, "link") { body in
        guard let writer = people[try body.bytes(2)] else { throw Refused("a stranger's link") }
        let certificate = try body.bytes(3)
        stands = try writer.stands(try Array(hex: name), by: certificate)
        return try writer.key(of: certificate)
      }
      try Refused.unless(try id.hex == name && body.bytes(1).hex == member, "a link's place")
      let place = try body.has(4) ? body.message(4) : nil
      return MemberJudge.Link(
        id: id, body: body, person: try body.bytes(2),
        place: try place.map {
          MemberJudge.Place.Name(maker: try $0.bytes(1), person: try $0.bytes(2))
        }, follows: Set(try body.all(5)), changes: try changes(of: body), stands: stands)
    }
  }

  private static func changes(of body: WireMessage) throws -> [MemberJudge.Change] {
    try body.messages(6).compactMap { change in
      // One of another kind is passed over.
      guard let kind = MemberJudge.Change.Kind(rawValue: try change.number(1)) else { return nil }
      return MemberJudge.Change(
        kind: kind, person: try change.bytes(2), role: Role(rawValue: try change.number(3)),
        until: try change.number(4))
    }
  }

  /// The first of the epochs in their rank.
  private static func epoch(
    by judge: MemberJudge, _ people: [[UInt8]: PublicPerson]
  ) throws -> [UInt8] {
    let counting = judge.links.filter { judge.counting.contains($0.id) }
    let ranked = try counting.filter { $0.body.has(7) }.map { link in
      let wraps = try Self.wraps(of: link.id, in: counting)
      let isExposed = try wraps.contains { wrap in
        let person = try wrap.bytes(2)
        return try judge.role(of: person) == nil || people[person]?.generation != wrap.bytes(3)
      }
      let wrapped = Set(try wraps.map { try $0.bytes(2) })
      let lacks = judge.everyone.contains { person in
        judge.role(of: person) != nil && people[person]?.tips.count == 1
          && judge.isGift(to: person, knownTo: link) && !wrapped.contains(person)
      }
      let past = link.past.intersection(judge.counting).count
      return (id: link.id, rank: isExposed ? 2 : lacks ? 1 : 0, past: past)
    }
    let first = ranked.min { one, other in
      if one.rank != other.rank { return one.rank < other.rank }
      return one.past == other.past ? MemberJudge.isLess(one.id, other.id) : one.past > other.past
    }
    guard let first else { throw Refused("no epoch") }
    return first.id
  }

  private static func wraps(
    of epoch: [UInt8], in links: [MemberJudge.Link]
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

  func role(of person: [UInt8]) -> Role? { judge.role(of: person) }

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

  /// Whether the file of the wrap that a link names for the person is there.
  func hasWrap(for person: [UInt8], of epoch: [UInt8]) throws -> Bool {
    guard let wrap = try wrap(for: person, of: epoch) else { return false }
    return try vault.names(in: "members/\(member)/wraps").contains(wrap.bytes(4).hex)
  }

  private func wrap(for person: [UInt8], of epoch: [UInt8]) throws -> WireMessage? {
    try Self.wraps(of: epoch, in: links).last { try $0.bytes(2) == person }
  }

  /// The person's keys of an epoch; nil without a wrap.
  func objects(of person: Person, in epoch: [UInt8]) throws -> ObjectReader? {
    guard let begun = links.first(where: { $0.id == epoch })?.body,
      let wrap = try wrap(for: person.id, of: epoch)
    else { return nil }
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
          && body.all(8).allSatisfy { follows in judge.links.contains { $0.id == follows } },
        "a head")
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
