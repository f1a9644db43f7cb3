import VaultModel

/// A change as it stands in a link.
struct StoredChange: WireMessage {
  private enum Kind {
    static let give: UInt64 = 1
    static let limit: UInt64 = 2
    static let handOver: UInt64 = 3
    static let offer: UInt64 = 4
    static let agree: UInt64 = 5
  }

  private var kind: UInt64
  private var person: PersonID?
  private var role: UInt64
  private var until: UInt64

  private init(_ kind: UInt64, _ person: PersonID?, _ role: UInt64, until: UInt64 = 0) {
    self.kind = kind
    self.person = person
    self.role = role
    self.until = until
  }

  init(_ change: Change) {
    switch change {
    case .give(let person, let role, let until):
      self.init(Kind.give, person, role.number, until: until)
    case .limit(let person, let role, let until):
      self.init(Kind.limit, person, role?.number ?? 0, until: until)
    case .handOver(let taker): self.init(Kind.handOver, taker, 1)
    case .offer(let taker): self.init(Kind.offer, taker, 1)
    case .agree(let taker): self.init(Kind.agree, taker, 1)
    }
  }

  static let what: StaticString = "change"
  static let blank = StoredChange(0, nil, 0)

  mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.count(1, &kind, "kind")
    try fields.idIfThere(2, &person, "person")
    try fields.count(3, &role, "role")
    try fields.time(4, &until, "until")
  }

  func check() throws(ModelError) {
    guard isKnown, change == nil else { return }
    throw .malformed(what: "change", reason: "it has no person, or a role that it cannot have")
  }

  /// Whether it is of a kind that this program knows.
  var isKnown: Bool { (Kind.give...Kind.agree).contains(kind) }

  /// Nil for one that is of no known kind, or that no link may have.
  var change: Change? {
    guard let person else { return nil }
    switch (kind, role) {
    // An owner has no end.
    case (Kind.give, 1): return until == 0 ? .give(person, .owner, until: 0) : nil
    case (Kind.give, 2...3): return Role(number: role).map { .give(person, $0, until: until) }
    case (Kind.limit, 0), (Kind.limit, 2...3):
      return .limit(person, Role(number: role), until: until)
    case (Kind.handOver, 1): return .handOver(person)
    case (Kind.offer, 1): return .offer(person)
    case (Kind.agree, 1): return .agree(person)
    default: return nil
    }
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
