import VaultModel

/// What the judgement of a member's links asks about people.
struct LinkStandings {
  /// For each link, whether its device counts or the link is listed.
  let stands: [Bool]
  /// Links with certificates that no words of their person gave: anybody can write those.
  let nobodys: Set<Int>
  /// The leavings that their writers have taken back.
  let retracted: Set<Int>
  /// Ends of tenures that counted here before.
  let remembered: Set<StatementID>
  /// Links of which a person has said that they end none.
  let refused: Set<StatementID>
}

/// Judges a member's links, place after place from the most senior on: Docs/Format.md, section 16.
struct MemberJudge {
  let graph: LinkGraph
  private let standings: LinkStandings
  /// Leavings that do not count, as nobody else would stay, or would have stayed.
  private let void: Set<Int>
  private let written: [Place: [Int]]
  /// Those that stand.
  let leavings: [PersonID: [Int]]
  private let agreements: Set<Int>
  private var pasts: [LinkSet?]
  /// Links that a counting one confirms, each with the rank of the most senior place that does.
  private var confirmed: [Int: Int] = [:]

  private(set) var verdicts: [LinkVerdict]
  private(set) var places: [PlaceHistory] = []
  private(set) var gifts: [PersonID: [Gift]] = [:]
  private(set) var limits: [PersonID: [Limit]] = [:]
  /// Who could write by another end of a place that was given up twice than the one that counts.
  private(set) var writersByOtherEnds: Set<PersonID> = []

  init(
    graph: LinkGraph, first: Place, standings: LinkStandings, void: Set<Int>
  ) {
    self.graph = graph
    self.standings = standings
    self.void = void
    pasts = graph.noPasts
    verdicts = standings.stands.map { $0 ? .noPlace : .departed }
    var written: [Place: [Int]] = [:]
    var leavings: [PersonID: [Int]] = [:]
    var agreements: Set<Int> = []
    let named = Set(graph.links.flatMap(\.confirmed))
    for (number, link) in graph.links.enumerated()
    where standings.stands[number] || named.contains(graph.ids[number]) {
      if let place = link.place {
        written[place, default: []].append(number)
      } else if standings.stands[number] {
        if link.isAgreement {
          agreements.insert(number)
        } else {
          leavings[link.person, default: []].append(number)
        }
      }
    }
    self.written = written
    self.leavings = leavings
    self.agreements = agreements
    judge(first, since: nil)
    // A place is made by a link of a more senior one, which comes before: so all are met in order.
    for number in graph.ids.indices where verdicts[number] == .counts {
      for case .give(let person, .owner, _) in graph.links[number].changes
      where places.count < StatementLimits.places {
        judge(Place(link: graph.ids[number], person: person), since: number)
      }
    }
    judgeLeavings()
    judgeAgreements()
    judgeWhatRivalsMade()
  }

  /// The links that come before this one; computed once.
  mutating func past(of link: Int) -> LinkSet { graph.past(of: link, known: &pasts) }

  // MARK: Places

  private mutating func judge(_ place: Place, since beginning: Int?) {
    let rank = places.count
    places.append(PlaceHistory(place: place, tenures: []))
    var next: Tenure? = Tenure(holder: place.person, beginning: beginning)
    while var tenure = next {
      let number = TenureNumber(place: rank, tenure: places[rank].tenures.count)
      gifts[tenure.holder, default: []].append(
        Gift(link: tenure.beginning, role: .owner, until: 0, tenure: number))
      tenure.takings = takings(of: tenure, rank: rank)
      let may = mayCount(in: tenure)
      let own = (written[place] ?? []).filter { link in
        graph.links[link].person == tenure.holder
          && (standings.stands[link] || confirmed[link].map { $0 < rank } ?? false)
      }
      setEnd(of: &tenure, among: own.filter(may.contains), leavings: may)
      let before = tenure.end.map { past(of: $0.link) }
      for link in own where verdicts[link] != .counts {
        verdicts[link] = verdict(on: link, in: tenure, may: may, before: before)
        if verdicts[link] == .counts { register(link, rank: rank) }
      }
      places[rank].tenures.append(tenure)
      next = nil
      if case .handedOver(let link, let taker)? = tenure.end {
        next = Tenure(holder: taker, beginning: link)
      }
    }
  }

  private mutating func takings(of tenure: Tenure, rank: Int) -> [Limit] {
    let senior = (limits[tenure.holder] ?? []).filter { limit in
      limit.until == 0 && limit.rank.map { $0 < rank } ?? false
    }
    guard let beginning = tenure.beginning, !senior.isEmpty else { return senior }
    let past = past(of: beginning)
    return senior.filter { $0.link != beginning && !past.contains($0.link) }
  }

  /// The links that come after the tenure's beginning and before all its takings.
  private mutating func mayCount(in tenure: Tenure) -> LinkSet {
    var may = graph.none
    if let beginning = tenure.beginning {
      may = graph.future(of: beginning)
    } else {
      for link in graph.ids.indices { _ = may.insert(link) }
    }
    for taking in tenure.takings { may.formIntersection(past(of: taking.link)) }
    return may
  }

  /// Finds the link that ends a tenure, and those that may be it as well.
  private func setEnd(of tenure: inout Tenure, among own: [Int], leavings may: LinkSet) {
    let holder = tenure.holder
    let ownLinks = Set(own)
    let handOvers = own.filter { isAgreed($0, to: ownLinks) }
    let leaving = (leavings[holder] ?? []).filter { may.contains($0) && !void.contains($0) }
    let all = handOvers + leaving
    // Whatever becomes of the end on which a person has settled: another one is none for it, nor for what comes after that.
    func isRefused(_ link: Int) -> Bool { standings.refused.contains(graph.ids[link]) }
    let later = graph.future(of: all.filter { !isRefused($0) })
    let candidates = all.filter { !later.contains($0) }
    let possible = candidates.filter { !isRefused($0) }
    let remembered = possible.filter { standings.remembered.contains(graph.ids[$0]) }
    let pool = remembered.isEmpty ? possible : remembered
    let isLeaving = Set(leaving)
    let best = pool.min { left, right in
      isLeaving.contains(left) == isLeaving.contains(right)
        ? graph.ids[left] < graph.ids[right] : isLeaving.contains(right)
    }
    // Any number of leavings can stand beside it, in each tenure of their writer. None of them makes anybody an owner, and it is
    // enough to tell that there are others.
    let others = candidates.filter { $0 != best }
    tenure.others =
      others.filter { !isLeaving.contains($0) }
      + others.filter(isLeaving.contains).prefix(Tenure.toldLeavings)
    tenure.refused = candidates.filter(isRefused)
    tenure.isRemembered = remembered.count == 1
    guard let best else { return }
    tenure.end =
      graph.links[best].handOver.map { .handedOver(link: best, to: $0) } ?? .left(link: best)
  }

  /// Whether the link hands over what its taker has agreed to take: it follows the agreement alone, and that the offer, which
  /// is one of these links.
  private func isAgreed(_ handOver: Int, to own: Set<Int>) -> Bool {
    guard let taker = graph.links[handOver].handOver, let agreement = onlyFollowed(by: handOver),
      agreements.contains(agreement), graph.links[agreement].person == taker,
      let offer = onlyFollowed(by: agreement)
    else { return false }
    return graph.links[offer].offer == taker && own.contains(offer)
  }

  private func onlyFollowed(by link: Int) -> Int? {
    let follows = graph.links[link].follows
    return follows.count == 1 ? graph.number(of: follows[0]) : nil
  }

  private mutating func verdict(
    on link: Int, in tenure: Tenure, may: LinkSet, before end: LinkSet?
  ) -> LinkVerdict {
    if may.contains(link) {
      guard let end, let ending = tenure.end, link != ending.link, !end.contains(link) else {
        return .counts
      }
      return .givenUp(by: graph.ids[ending.link])
    }
    for taking in tenure.takings where !past(of: taking.link).contains(link) {
      return .taken(by: graph.ids[taking.link])
    }
    return verdicts[link]
  }

  // MARK: What counts

  private mutating func register(_ number: Int, rank: Int) {
    for link in graph.links[number].confirmed.compactMap(graph.number(of:)) where link < number {
      confirmed[link] = min(rank, confirmed[link] ?? rank)
    }
    for change in graph.links[number].changes {
      switch change {
      case .give(_, .owner, _), .handOver, .offer, .agree: break
      case .give(let person, let role, let until):
        gifts[person, default: []].append(
          Gift(link: number, role: role, until: until, tenure: nil))
      case .limit(let person, let role, let until):
        limits[person, default: []].append(
          Limit(link: number, rank: rank, role: role, until: until))
      }
    }
  }

  private mutating func judgeLeavings() {
    for (person, links) in leavings {
      guard let given = gifts[person] else { continue }
      // One walk for all of them: anybody can write any number. The creator's first place comes before every link.
      let after =
        given.contains { $0.link == nil } ? nil : graph.future(of: given.compactMap(\.link))
      for link in links where after?.contains(link) ?? true {
        guard !void.contains(link) else {
          verdicts[link] = .someoneStays
          continue
        }
        guard case .limit(_, let role, _)? = graph.links[link].changes.first else { continue }
        verdicts[link] = .counts
        limits[person, default: []].append(Limit(link: link, rank: nil, role: role, until: 0))
      }
    }
  }

  private mutating func judgeAgreements() {
    for link in agreements {
      guard let offer = onlyFollowed(by: link), verdicts[offer] == .counts,
        graph.links[offer].offer == graph.links[link].person
      else { continue }
      verdicts[link] = .counts
    }
  }

  /// What may count where another end of a contested place is known to be the true one: what the holders after that end have
  /// written as such, and those of places that they made. Whoever could write by any of it, contested or not, is noted.
  private mutating func judgeWhatRivalsMade() {
    for history in places {
      for tenure in history.tenures where !tenure.others.isEmpty {
        for number in tenure.others + made(after: tenure.others, of: history.place) {
          noteWriters(by: graph.links[number])
        }
        guard tenure.isContested, let end = tenure.end?.link else { continue }
        for number in made(after: tenure.rivals, of: history.place) {
          verdicts[number] = .contested(by: graph.ids[end])
        }
      }
    }
  }

  /// The links that do not count, and that the holders of a place after one of these ends have written as such, or those of
  /// places that they made.
  private func made(after ends: [Int], of place: Place) -> [Int] {
    let after = graph.future(of: ends)
    var holders = [place: Set(ends.compactMap { graph.links[$0].handOver })]
    var made: [Int] = []
    for number in graph.ids.indices where verdicts[number] == .noPlace && after.contains(number) {
      let link = graph.links[number]
      guard let place = link.place, holders[place]?.contains(link.person) ?? false else { continue }
      made.append(number)
      for change in link.changes {
        switch change {
        case .handOver(let taker): holders[place]?.insert(taker)
        case .give(let person, .owner, _):
          holders[Place(link: graph.ids[number], person: person)] = [person]
        case .give, .limit, .offer, .agree: break
        }
      }
    }
    return made
  }

  private mutating func noteWriters(by link: Link) {
    for change in link.changes {
      switch change {
      case .handOver(let person): writersByOtherEnds.insert(person)
      case .give(let person, let role, _) where role.mayWrite: writersByOtherEnds.insert(person)
      case .give, .limit, .offer, .agree: break
      }
    }
  }
}
