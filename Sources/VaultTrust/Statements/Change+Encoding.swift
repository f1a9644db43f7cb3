import VaultModel

extension Change {
  private enum Kind {
    static let give: UInt64 = 1
    static let limit: UInt64 = 2
    static let handOver: UInt64 = 3
    static let offer: UInt64 = 4
    static let agree: UInt64 = 5
  }

  /// The change; nil for one of a kind that this program does not know.
  init?(from reader: inout WireReader) throws(ModelError) {
    var kind: UInt64 = 0
    var person: PersonID?
    var role: UInt64 = 0
    var until: UInt64 = 0
    while let tag = try reader.next() {
      switch tag {
      case .varint(1): kind = try reader.number()
      case .bytes(2): person = try reader.id("person")
      case .varint(3): role = try reader.number()
      case .varint(4): until = try reader.time()
      default: _ = try reader.skip(tag)
      }
    }
    guard (Kind.give...Kind.agree).contains(kind) else { return nil }
    let whom = try reader.required(person, "person")
    switch (kind, role) {
    case (Kind.give, 1...3):
      let role = try reader.required(Role(number: role), "role")
      guard role != .owner || until == 0 else { throw reader.malformed("an owner has no end") }
      self = .give(whom, role, until: until)
    case (Kind.limit, 0), (Kind.limit, 2), (Kind.limit, 3):
      self = .limit(whom, Role(number: role), until: until)
    case (Kind.handOver, 1): self = .handOver(whom)
    case (Kind.offer, 1): self = .offer(whom)
    case (Kind.agree, 1): self = .agree(whom)
    default: throw reader.malformed("a change has a role that it cannot have")
    }
  }

  func encode(into writer: inout WireWriter) {
    switch self {
    case .give(let person, let role, let until):
      Self.encode(Kind.give, person, role.number, until, into: &writer)
    case .limit(let person, let role, let until):
      Self.encode(Kind.limit, person, role?.number ?? 0, until, into: &writer)
    case .handOver(let taker): Self.encode(Kind.handOver, taker, 1, 0, into: &writer)
    case .offer(let taker): Self.encode(Kind.offer, taker, 1, 0, into: &writer)
    case .agree(let taker): Self.encode(Kind.agree, taker, 1, 0, into: &writer)
    }
  }

  private static func encode(
    _ kind: UInt64, _ person: PersonID, _ role: UInt64, _ until: UInt64,
    into writer: inout WireWriter
  ) {
    writer.varint(1, kind)
    writer.id(2, person)
    writer.varint(3, role)
    writer.varint(4, until)
  }
}

extension Role {
  init?(number: UInt64) {
    switch number {
    case 1: self = .owner
    case 2: self = .editor
    case 3: self = .viewer
    default: return nil
    }
  }

  var number: UInt64 {
    switch self {
    case .owner: 1
    case .editor: 2
    case .viewer: 3
    }
  }
}
