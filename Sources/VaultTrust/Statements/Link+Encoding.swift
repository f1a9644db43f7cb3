import VaultModel

extension Link {
  package init(decoding body: [UInt8]) throws(ModelError) {
    self = try WireReader.read(body, what: "link", limit: StatementLimits.linkBytes) {
      reader throws(ModelError) in try Link(from: &reader)
    }
  }

  private init(from reader: inout WireReader) throws(ModelError) {
    var member: MemberID?
    var person: PersonID?
    var certificate: StatementID?
    var link = Link(member: .zero, person: .zero, certificate: .zero, place: nil)
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): member = try reader.id("member")
      case .bytes(2): person = try reader.id("person")
      case .bytes(3): certificate = try reader.id("certificate")
      case .bytes(4):
        var inner = try reader.message("place")
        link.place = try Place(from: &inner)
      case .bytes(5):
        try reader.appendAscending(to: &link.follows, limit: StatementLimits.linkFollows, "follows")
      case .bytes(6):
        try Limits.check(link.changes.count + 1, StatementLimits.changes, "changes")
        var inner = try reader.message("change")
        if let change = try Change(from: &inner) { link.changes.append(change) }
      case .bytes(7): link.epoch = try reader.id("epoch")
      case .bytes(8):
        try Limits.check(link.wraps.count + 1, StatementLimits.wraps, "wraps")
        var inner = try reader.message("wrap")
        link.wraps.append(try Wrap(from: &inner))
      case .varint(9): link.time = try reader.time()
      case .bytes(10):
        try reader.appendAscending(
          to: &link.confirmed, limit: StatementLimits.confirmed, "confirmed")
      case .bytes(11):
        try Limits.check(link.heads.count + 1, StatementLimits.staying, "heads")
        var inner = try reader.message("head")
        link.heads.append(try LastHead(from: &inner))
      default: _ = try reader.skip(tag)
      }
    }
    link.member = try reader.required(member, "member")
    link.person = try reader.required(person, "person")
    link.certificate = try reader.required(certificate, "certificate")
    if let reason = link.flaw { throw reader.malformed(reason) }
    self = link
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

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.id(1, member)
    writer.id(2, person)
    writer.id(3, certificate)
    if let place {
      writer.message(4) { writer in
        writer.id(1, place.link)
        writer.id(2, place.person)
      }
    }
    for id in follows { writer.elementID(5, id) }
    for change in changes { writer.message(6) { change.encode(into: &$0) } }
    writer.id(7, epoch)
    for wrap in wraps {
      writer.message(8) { writer in
        writer.id(1, wrap.epoch)
        writer.id(2, wrap.person)
        writer.id(3, wrap.generation)
        writer.id(4, wrap.file)
      }
    }
    writer.varint(9, time)
    for id in confirmed { writer.elementID(10, id) }
    for head in heads {
      writer.message(11) { writer in
        writer.id(1, head.device)
        writer.varint(2, head.counter)
      }
    }
    return writer.bytes
  }
}

extension Place {
  fileprivate init(from reader: inout WireReader) throws(ModelError) {
    var link: StatementID?
    var person: PersonID?
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): link = try reader.id("link")
      case .bytes(2): person = try reader.id("person")
      default: _ = try reader.skip(tag)
      }
    }
    self.init(
      link: try reader.required(link, "link"), person: try reader.required(person, "person"))
  }
}

extension LastHead {
  fileprivate init(from reader: inout WireReader) throws(ModelError) {
    var device: DeviceID?
    var counter: UInt64 = 0
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): device = try reader.id("device")
      case .varint(2): counter = try reader.number()
      default: _ = try reader.skip(tag)
      }
    }
    self.init(device: try reader.required(device, "device"), counter: counter)
  }
}

extension Wrap {
  fileprivate init(from reader: inout WireReader) throws(ModelError) {
    var epoch: StatementID?
    var person: PersonID?
    var generation: StatementID?
    var file: FileHash?
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): epoch = try reader.id("epoch")
      case .bytes(2): person = try reader.id("person")
      case .bytes(3): generation = try reader.id("generation")
      case .bytes(4): file = try reader.id("file")
      default: _ = try reader.skip(tag)
      }
    }
    self.init(
      epoch: epoch, person: try reader.required(person, "person"),
      generation: try reader.required(generation, "generation"),
      file: try reader.required(file, "file"))
  }
}
