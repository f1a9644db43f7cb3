/// The epochs of a member (section 16 of the format, "Which epoch is written under").
struct MemberEpochs {
  typealias ID = [UInt8]

  /// A key for somebody, as a link names it.
  struct Wrap {
    let epoch: ID
    let person: ID
    let generation: ID
    let file: ID
  }

  enum State: Int {
    case serves, lacks, exposed
  }

  private let judge: MemberJudge
  /// Those that links name which count.
  private let wraps: [Wrap]
  /// Those that any link names.
  private let allWraps: [Wrap]
  let states: [ID: State]
  /// The one first that is written under by whoever has its key.
  let ranking: [ID]

  /// - Parameters:
  ///   - open: The only tip of whoever has one.
  ///   - isAhead: Whether a wrap that the link names is for keys that are not known, by a device that counts.
  init(
    _ judge: MemberJudge, open tip: (ID) -> ID?,
    isAhead: (Wrap, MemberJudge.Link) throws -> Bool = { _, _ in false }
  ) throws {
    self.judge = judge
    allWraps = try judge.links.flatMap(Self.wraps)
    let counting = judge.links.filter { judge.counting.contains($0.id) }
    let wraps = try counting.flatMap(Self.wraps)
    self.wraps = wraps
    let ahead = try counting.flatMap { link in
      try Self.wraps(of: link).filter { try isAhead($0, link) }
    }
    func isNamedAhead(_ wrap: Wrap) -> Bool {
      ahead.contains { $0.person == wrap.person && $0.generation == wrap.generation }
    }
    func open(_ person: ID) -> ID? {
      ahead.contains { $0.person == person } ? nil : tip(person)
    }
    let begun = counting.filter { $0.body.has(7) }
    var states: [ID: State] = [:]
    for link in begun {
      let own = wraps.filter { $0.epoch == link.id }
      let isExposed = own.contains {
        judge.role(of: $0.person) == nil || open($0.person) != $0.generation && !isNamedAhead($0)
      }
      let lacks = judge.everyone.contains { person in
        judge.role(of: person) != nil && open(person) != nil
          && judge.hasBeenGiven(to: person, knownTo: link, whatIsLeft: true)
          && !own.contains { $0.person == person }
      }
      states[link.id] = isExposed ? .exposed : lacks ? .lacks : .serves
    }
    self.states = states
    func rank(_ link: MemberJudge.Link) -> (Int, Int) {
      ((states[link.id] ?? .exposed).rawValue, -link.past.intersection(judge.counting).count)
    }
    ranking = begun.sorted { one, other in
      rank(one) == rank(other) ? MemberJudge.isLess(one.id, other.id) : rank(one) < rank(other)
    }.map(\.id)
  }

  private static func wraps(of link: MemberJudge.Link) throws -> [Wrap] {
    try link.body.messages(8).map { wrap in
      Wrap(
        epoch: wrap.has(1) ? try wrap.bytes(1) : link.id, person: try wrap.bytes(2),
        generation: try wrap.bytes(3), file: try wrap.bytes(4))
    }
  }

  /// The wraps of an epoch for somebody that links name which count.
  func wraps(of epoch: ID, for person: ID) -> [Wrap] {
    wraps.filter { $0.epoch == epoch && $0.person == person }
  }

  /// The epochs of which the person was ever given the key.
  func epochs(of person: ID) -> [ID] {
    ranking.filter { !wraps(of: $0, for: person).isEmpty }
  }

  /// The epochs that are over.
  var over: Set<ID> {
    guard let first = ranking.first else { return [] }
    let lacksNobody = judge.everyone.allSatisfy {
      judge.role(of: $0) == nil || !wraps(of: first, for: $0).isEmpty
    }
    return lacksNobody ? Set(ranking.filter { judge.comes(first, after: $0) }) : []
  }

  /// The files of wraps that may go, and those that stay.
  var files: (mayGo: Set<ID>, stay: Set<ID>) {
    let over = over
    let others = Set(allWraps.filter { !over.contains($0.epoch) }.map(\.file))
    let named = Set(wraps.filter { over.contains($0.epoch) }.map(\.file))
    return (named.subtracting(others), Set(wraps.map(\.file)).intersection(others))
  }
}

extension MemberJudge {
  /// Whether the member with this root is this one made anew ("A member made anew").
  func isRenewed(by root: WireMessage) throws -> Bool {
    let maker = try root.bytes(1)
    return try root.bytes(5) == member
      && places.contains { $0.isHeld && $0.tenures.last?.holder == maker }
  }

  /// Whether a link that counts ever gave the person what lets them write, whatever is left of it.
  func couldWrite(_ person: ID) -> Bool {
    gifts(to: person).contains { $0.role == .owner || $0.role == .editor }
  }
}
