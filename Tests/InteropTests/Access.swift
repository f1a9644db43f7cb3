import Foundation

/// Who may read one member, and with which keys (section 16 of the format).
struct Access {
  enum Role: UInt64 {
    case owner = 1
    case editor, viewer
  }

  let member: String
  let judge: MemberJudge
  let epochs: MemberEpochs
  /// The epoch that is written under: the id of the link that began it.
  let current: [UInt8]
  private let vault: FrozenVault
  private let people: [[UInt8]: PublicPerson]

  init(_ member: String, in vault: FrozenVault, people: [[UInt8]: PublicPerson]) throws {
    let root = try Self.root(member, in: vault, people: people)
    let judge = try MemberJudge(
      Self.links(of: member, in: vault, people: people), member: try Array(hex: member),
      creator: try root.bytes(1))
    self.judge = judge
    epochs = try MemberEpochs(
      judge, open: { person in people[person].flatMap { $0.tips.count == 1 ? $0.tips[0] : nil } },
      isAhead: { wrap, link in
        let isKnown = people[wrap.person].map { $0.valid.contains(wrap.generation) } ?? true
        return try !isKnown && people[link.person]?.counting.contains(link.body.bytes(3)) ?? false
          && (wrap.person == link.person || judge.isSenior(link.person, to: wrap.person))
      })
    guard let current = epochs.ranking.first else { throw Refused("no epoch") }
    self.current = current
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
      var (stands, isRetracted) = (false, false)
      let (id, body) = try vault.primitives.statement(file, "link") { body in
        guard let writer = people[try body.bytes(2)] else { throw Refused("a stranger's link") }
        let certificate = try body.bytes(3)
        stands = try writer.stands(try Array(hex: name), by: certificate)
        isRetracted = try writer.hasRetracted(try Array(hex: name))
        return try writer.key(of: certificate)
      }
      try Refused.unless(try id.hex == name && body.bytes(1).hex == member, "a link's place")
      let place = try body.has(4) ? body.message(4) : nil
      return MemberJudge.Link(
        id: id, body: body, person: try body.bytes(2),
        place: try place.map {
          MemberJudge.Place.Name(maker: try $0.bytes(1), person: try $0.bytes(2))
        }, follows: Set(try body.all(5)), changes: try changes(of: body), stands: stands,
        isRetracted: isRetracted)
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
    guard let wrap = epochs.wraps(of: epoch, for: person).last else { return false }
    return try wrapFiles.contains(wrap.file)
  }

  /// The names of the files of wraps that are there.
  var wrapFiles: Set<[UInt8]> {
    get throws {
      Set(try vault.names(in: "members/\(member)/wraps").map { try Array(hex: $0) })
    }
  }

  /// The person's keys of an epoch; nil without a wrap.
  func objects(of person: Person, in epoch: [UInt8]) throws -> ObjectReader? {
    guard let begun = links.first(where: { $0.id == epoch })?.body,
      let wrap = epochs.wraps(of: epoch, for: person.id).last
    else { return nil }
    let (id, commitment) = (try Array(hex: member), try begun.bytes(7))
    let file = try vault.file("members/\(member)/wraps/\(wrap.file.hex)")
    try Refused.unless(file.sha256 == wrap.file, "a wrap's name")
    let generation = wrap.generation
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
  func heads(_ objects: ObjectReader) throws -> [MemberHead] {
    var heads: [MemberHead] = []
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
      let counter = try body.number(5)
      heads.append(
        MemberHead(
          device: device, counter: counter,
          body: try vault.primitives.opened(
            try WireMessage(body.bytes(9)), key: objects.registerKey, label: "head", path: path,
            counter: counter)))
    }
    let told = try heads.flatMap { try $0.body.messages(3) + $0.body.messages(16) }
    for head in late {
      let isTakenOver = try told.contains {
        try $0.bytes(1) == head.device && $0.number(2) >= head.counter
      }
      try Refused.unless(isTakenOver, "a late head that nobody has taken over")
    }
    return heads
  }

  /// What these heads say of how far counters have come.
  func counters(_ heads: [MemberHead]) throws -> Counters {
    var (devices, counting) = (CertifiedDevices(), Set<[UInt8]>())
    for person in people.values {
      var (certified, staying) = (Set<[UInt8]>(), Set<[UInt8]>())
      for (id, certificate) in person.certificates {
        let device = try PublicPerson.device(of: certificate)
        certified.insert(device)
        devices.persons[device] = person.id
        if try certificate.bytes(8).isEmpty,
          let approver = try person.certificates[certificate.bytes(6)]
        {
          devices.before[device] = try PublicPerson.device(of: approver)
        }
        if judge.couldWrite(person.id) { devices.writers.insert(device) }
        if let role = role(of: person.id), role != .viewer { devices.current.insert(device) }
        guard person.counting.contains(id) else { continue }
        counting.insert(device)
        staying.insert(device)
        if role(of: person.id) == .owner { devices.owners.insert(device) }
      }
      // Whoever else certifies one that its person has left out.
      if judge.couldWrite(person.id) { devices.former.formUnion(certified.subtracting(staying)) }
    }
    devices.former.formUnion(Set(devices.persons.keys).subtracting(counting))
    return try Counters(heads, of: devices)
  }

  /// Nil for a device that nobody certifies any more.
  private func certificate(of device: [UInt8]) throws -> WireMessage? {
    for person in people.values {
      if let certificate = try vault.certificates(of: person)[device] { return certificate }
    }
    return nil
  }
}
