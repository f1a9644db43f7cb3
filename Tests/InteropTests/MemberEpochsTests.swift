import Testing

/// Epochs that are over, wraps that may go, and members that were made anew, as section 16 of the format tells it.
@Suite struct MemberEpochsTests {
  private typealias ID = [UInt8]
  private static func id(_ number: UInt8) -> ID { ID(repeating: number, count: 32) }
  private let member = id(9)
  private let anna = id(1)
  private let ben = id(2)
  private let carla = id(3)
  /// Everyone's open generation.
  private let open = id(8)

  private struct Given {
    let kind: MemberJudge.Change.Kind
    let person: [UInt8]
    let role: Access.Role?
    var until: UInt64 = 0
  }

  /// A link that stands, unless it is said that it does not.
  private func link(
    _ number: UInt8, by person: [UInt8], as place: MemberJudge.Place.Name?,
    follows: [UInt8] = [], _ changes: [Given] = [], begins: Bool = false,
    wraps: [(epoch: UInt8?, person: [UInt8], file: UInt8)] = [], confirmed: [UInt8] = [],
    stands: Bool = true, isRetracted: Bool = false
  ) throws -> MemberJudge.Link {
    let body = MessageWriter { link in
      if begins { link.add(7, Self.id(number)) }
      for wrap in wraps {
        link.add(8) { message in
          if let epoch = wrap.epoch { message.add(1, Self.id(epoch)) }
          message.add(2, wrap.person)
          message.add(3, open)
          message.add(4, Self.id(wrap.file))
        }
      }
      for other in confirmed { link.add(10, Self.id(other)) }
    }
    return MemberJudge.Link(
      id: Self.id(number), body: try body.message, person: person, place: place,
      follows: Set(follows.map(Self.id)),
      changes: changes.map {
        MemberJudge.Change(kind: $0.kind, person: $0.person, role: $0.role, until: $0.until)
      }, stands: stands, isRetracted: isRetracted)
  }

  private var first: MemberJudge.Place.Name { .init(maker: member, person: anna) }
  private var bens: MemberJudge.Place.Name { .init(maker: Self.id(20), person: ben) }

  private func judge(_ links: [MemberJudge.Link]) throws -> MemberJudge {
    try MemberJudge(links, member: member, creator: anna)
  }

  private func epochs(
    _ links: [MemberJudge.Link], withoutGeneration people: Set<[UInt8]> = []
  ) throws -> MemberEpochs {
    let open = open
    return try MemberEpochs(judge(links)) { people.contains($0) ? nil : open }
  }

  /// Anna begins an epoch for herself and Ben, an owner.
  private func beginning() throws -> [MemberJudge.Link] {
    [
      try link(20, by: anna, as: first, [Given(kind: .give, person: ben, role: .owner)]),
      try link(
        21, by: anna, as: first, follows: [20], begins: true,
        wraps: [(nil, anna, 101), (nil, ben, 102)]),
    ]
  }

  /// Ben's, after that of the beginning, whose key both get.
  private func bensEpoch() throws -> MemberJudge.Link {
    try link(
      22, by: ben, as: bens, follows: [21], begins: true,
      wraps: [(nil, anna, 103), (nil, ben, 104)])
  }

  /// Ben's device that left was removed, and Anna confirms what it wrote.
  @Test func nobodyConfirmsALeaving() throws {
    var links = try beginning()
    links.append(
      try link(
        22, by: ben, as: nil, follows: [21], [Given(kind: .limit, person: ben, role: nil)],
        stands: false))
    links.append(try link(23, by: anna, as: first, follows: [22], confirmed: [22]))
    #expect(try judge(links).role(of: ben) == .owner)
  }

  /// What its taker has not agreed to is none, so they can leave nothing by it.
  @Test func aHandOverThatEndsNothingGivesNothing() throws {
    let links = [
      try link(20, by: anna, as: first, [Given(kind: .handOver, person: ben, role: .owner)]),
      try link(
        21, by: ben, as: nil, follows: [20], [Given(kind: .limit, person: ben, role: nil)]),
    ]
    #expect(try judge(links).counting == [Self.id(20)])
    #expect(try !judge(links).couldWrite(ben))
  }

  @Test func aTakingsLimitOfWhatEndsLeavesAnOwnersPlaceAlone() throws {
    var links = try beginning()
    links.append(
      try link(
        22, by: anna, as: first, follows: [21],
        [
          Given(kind: .limit, person: ben, role: .editor),
          Given(kind: .limit, person: ben, role: nil, until: 7),
        ]))
    #expect(try judge(links).role(of: ben) == .editor)
  }

  /// Carla's access was taken, and given anew; who knew only of the taking lacks nobody.
  @Test func whoHadNothingThenIsNotLacked() throws {
    var links = try beginning()
    links.append(
      try link(
        22, by: anna, as: first, follows: [21], [Given(kind: .give, person: carla, role: .viewer)]))
    links.append(
      try link(
        23, by: anna, as: first, follows: [22], [Given(kind: .limit, person: carla, role: nil)]))
    links.append(
      try link(
        24, by: ben, as: bens, follows: [23], begins: true,
        wraps: [(nil, anna, 103), (nil, ben, 104)]))
    links.append(
      try link(
        25, by: anna, as: first, follows: [23], [Given(kind: .give, person: carla, role: .viewer)]))
    #expect(try judge(links).role(of: carla) == .viewer)
    #expect(try epochs(links).states[Self.id(24)] == .serves)
  }

  @Test func whoStaysLeavesOnceThereIsAnother() throws {
    var links = try beginning()
    for (number, person) in [(UInt8(22), anna), (23, ben)] {
      links.append(
        try link(
          number, by: person, as: nil, follows: [21],
          [Given(kind: .limit, person: person, role: nil)]))
    }
    #expect(try judge(links).role(of: anna) == .owner)
    links.append(
      try link(
        24, by: anna, as: first, follows: [22, 23],
        [Given(kind: .give, person: carla, role: .owner)]))
    links.append(
      try link(
        25, by: anna, as: nil, follows: [24], [Given(kind: .limit, person: anna, role: nil)]))
    let judge = try judge(links)
    #expect(judge.role(of: anna) == nil && judge.role(of: carla) == .owner)
  }

  /// Ben's words have left out the device with which he left.
  @Test func whoTakesTheirLeavingBackStaysBesideWhoComesBack() throws {
    for isRetracted in [false, true] {
      var links = try beginning()
      for (number, person) in [(UInt8(22), anna), (23, ben)] {
        links.append(
          try link(
            number, by: person, as: nil, follows: [21],
            [Given(kind: .limit, person: person, role: nil)], stands: person == anna,
            isRetracted: isRetracted && person == anna))
      }
      links.append(
        try link(
          24, by: anna, as: first, follows: [22, 23],
          [Given(kind: .give, person: carla, role: .viewer)]))
      let judge = try judge(links)
      #expect(judge.role(of: ben) == .owner)
      let (annas, carlas): (Access.Role?, Access.Role?) =
        isRetracted ? (.owner, .viewer) : (nil, nil)
      #expect(judge.role(of: anna) == annas)
      #expect(judge.role(of: carla) == carlas)
    }
  }

  @Test func anEpochIsOverOnceEveryoneHasTheNextOnesKey() throws {
    var links = try beginning()
    #expect(try epochs(links).over.isEmpty)
    try links.append(bensEpoch())
    let epochs = try epochs(links)
    #expect(epochs.ranking == [Self.id(22), Self.id(21)])
    #expect(epochs.over == [Self.id(21)])
    #expect(epochs.files.mayGo == [Self.id(101), Self.id(102)])
    #expect(epochs.files.stay == [Self.id(103), Self.id(104)])
  }

  /// While somebody has no key of the later one, they go on with the one before.
  @Test func notWhileSomebodyHasNone() throws {
    var links = try beginning()
    links.append(
      try link(22, by: ben, as: bens, follows: [21], begins: true, wraps: [(nil, ben, 104)]))
    #expect(try epochs(links).states[Self.id(22)] == .lacks)
    #expect(try epochs(links).over.isEmpty)
    // Who has no open generation is not lacked, and has no key all the same.
    let apart = try epochs(links, withoutGeneration: [anna])
    #expect(apart.states[Self.id(22)] == .serves)
    #expect(apart.over.isEmpty)
    links.append(try link(23, by: anna, as: first, follows: [22], wraps: [(22, anna, 105)]))
    #expect(try epochs(links).over == [Self.id(21)])
  }

  /// A wrap for newer keys of somebody than are known here, by a device that counts.
  @Test func whatIsAheadExposesNothing() throws {
    let links = try beginning() + [bensEpoch()]
    let known = { (person: [UInt8]) in person == anna ? Self.id(7) : open }
    #expect(try MemberEpochs(judge(links), open: known).states[Self.id(22)] == .exposed)
    let epochs = try MemberEpochs(judge(links), open: known) { wrap, link in
      link.id == Self.id(22) && wrap.person == anna
    }
    #expect(epochs.states[Self.id(22)] == .serves)
  }

  /// Neither of two that are beside each other is over.
  @Test func whatIsBesideIsNotOver() throws {
    var links = try beginning()
    for (number, place) in [(UInt8(22), first), (23, bens)] {
      links.append(
        try link(
          number, by: place.person, as: place, follows: [21], begins: true,
          wraps: [(nil, anna, number + 80), (nil, ben, number + 90)]))
    }
    let epochs = try epochs(links)
    #expect(epochs.ranking == [22, 23, 21].map(Self.id))
    #expect(epochs.over == [Self.id(21)])
  }

  /// The later epoch's beginner is taken out by who did not know of it: the one before is needed again.
  @Test func whatFallsMakesTheOneBeforeNeededAgain() throws {
    var links = try beginning() + [bensEpoch()]
    links.append(
      try link(
        23, by: anna, as: first, follows: [21], [Given(kind: .limit, person: ben, role: nil)]))
    let epochs = try epochs(links)
    // Ben has its key, and no access.
    #expect(epochs.states == [Self.id(21): .exposed])
    #expect(epochs.over.isEmpty)
    #expect(epochs.files.mayGo.isEmpty)
  }

  /// Somebody leaves who has the key of the one in use.
  @Test func whatIsOverStaysSoWhenSomebodyLeaves() throws {
    var links = try beginning() + [bensEpoch()]
    links.append(
      try link(
        23, by: ben, as: nil, follows: [22], [Given(kind: .limit, person: ben, role: nil)]))
    let epochs = try epochs(links)
    #expect(epochs.states[Self.id(22)] == .exposed)
    #expect(epochs.ranking == [Self.id(22), Self.id(21)])
    #expect(epochs.over == [Self.id(21)])
  }

  /// Somebody without a place names a file that is in use as a wrap of an epoch that is over, and the other way round.
  @Test func whatDoesNotCountLetsNoFileGo() throws {
    var links = try beginning() + [bensEpoch()]
    links.append(
      try link(
        24, by: carla, as: .init(maker: Self.id(20), person: carla), follows: [22],
        wraps: [(21, anna, 103), (21, carla, 106), (22, carla, 101)]))
    let epochs = try epochs(links)
    #expect(epochs.over == [Self.id(21)])
    #expect(epochs.files.mayGo == [Self.id(102)])
    #expect(epochs.files.stay.isSuperset(of: [Self.id(103), Self.id(104)]))
  }

  /// A member is made anew by who holds a place in it: not by an editor, nor by who was taken out.
  @Test func aMemberIsMadeAnewByAnOwner() throws {
    func root(by person: [UInt8], renewing member: [UInt8]) throws -> WireMessage {
      try MessageWriter { root in
        root.add(1, person)
        root.add(5, member)
      }.message
    }
    var links = try beginning()
    links.append(
      try link(
        22, by: ben, as: bens, follows: [21], [Given(kind: .give, person: carla, role: .editor)]))
    let family = try judge(links)
    #expect(try family.isRenewed(by: root(by: ben, renewing: member)))
    #expect(try family.isRenewed(by: root(by: anna, renewing: member)))
    #expect(try !family.isRenewed(by: root(by: carla, renewing: member)))
    #expect(try !family.isRenewed(by: root(by: ben, renewing: Self.id(7))))
    links.append(
      try link(
        23, by: anna, as: first, follows: [22], [Given(kind: .limit, person: ben, role: nil)]))
    #expect(try !judge(links).isRenewed(by: root(by: ben, renewing: member)))
  }

  // MARK: The frozen vault

  /// Of every epoch that is over the wraps are gone, and of every other one they are there; and some are over.
  @Test func theFrozenVaultHasTheWrapsThatAreNeeded() throws {
    let vault = try FrozenVault("2-shared")
    let people = try vault.people()
    var overCount = 0
    for member in try vault.names(in: "members") {
      let access = try Access(member, in: vault, people: people)
      overCount += access.epochs.over.count
      #expect(try access.wrapFiles == access.epochs.files.stay, "\(member)")
      // No member was made anew there.
      #expect(try !Access.root(member, in: vault, people: people).has(5))
    }
    #expect(overCount > 0)
  }
}
