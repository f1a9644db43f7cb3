import VaultModel

/// A member as its links come out: which count, who holds which place, who has access.
package struct MemberHistory: Sendable {
  package let member: MemberID
  package let root: MemberRoot
  let graph: LinkGraph
  let verdicts: [LinkVerdict]
  /// By what they were judged.
  private let standings: LinkStandings
  let places: [PlaceHistory]
  package let access: Access
  /// What is left of each person's gifts.
  let remainders: [PersonID: [Remainder]]
  /// Who could write by another end of a place that was given up twice than the one that counts.
  private let writersByOtherEnds: Set<PersonID>
  /// Whom some link let write, whatever became of it.
  private let believedWriters: Set<PersonID>
  /// The heads that go on counting of those who left.
  let lastHeads: [PersonID: [DeviceID: UInt64]]

  init(member: MemberID, root: MemberRoot, graph: LinkGraph, standings: LinkStandings) {
    self.member = member
    self.root = root
    self.graph = graph
    self.standings = standings
    let first = Place(link: member.root, person: root.person)
    var judge = Self.judge(graph, first, standings)
    verdicts = judge.verdicts
    places = judge.places
    writersByOtherEnds = judge.writersByOtherEnds
    believedWriters = Self.believedWriters(graph, judge.verdicts, first, standings)
    remainders = judge.remainders()
    access = Access(
      places: judge.places, remainders: remainders, claimed: judge.claimed(remainders))
    var lastHeads: [PersonID: [DeviceID: UInt64]] = [:]
    for number in graph.ids.indices where judge.verdicts[number] == .counts {
      let link = graph.links[number]
      for head in link.heads {
        let known = lastHeads[link.person]?[head.device] ?? 0
        lastHeads[link.person, default: [:]][head.device] = max(known, head.counter)
      }
    }
    self.lastHeads = lastHeads
  }

  /// Judges anew for as long as nobody holds a place, each time without the leaving of one more person who has to stay.
  private static func judge(
    _ graph: LinkGraph, _ first: Place, _ standings: LinkStandings
  ) -> MemberJudge {
    var void = standings.retracted
    var judge = MemberJudge(graph: graph, first: first, standings: standings, void: void)
    for round in 1...StatementLimits.stays {
      guard let (holder, leaving) = lastToLeave(judge) else { break }
      // One after it is of somebody who knew that they stayed, and left again.
      let isLast = round == StatementLimits.stays
      let later = isLast ? graph.none : graph.future(of: leaving)
      void.formUnion((judge.leavings[holder] ?? []).filter { !later.contains($0) })
      judge = MemberJudge(graph: graph, first: first, standings: standings, void: void)
    }
    return judge
  }

  /// Where nobody holds a place: the most senior of those who left last, none of whom knew that the others leave.
  private static func lastToLeave(_ judge: MemberJudge) -> (holder: PersonID, leaving: Int)? {
    let last = judge.places.compactMap(\.tenures.last)
    guard !last.contains(where: \.isHeld) else { return nil }
    let left = last.compactMap { tenure -> (holder: PersonID, leaving: Int)? in
      guard tenure.takings.isEmpty, case .left(let link)? = tenure.end else { return nil }
      return (tenure.holder, link)
    }
    let final = Set(judge.graph.lasts(of: left.map(\.leaving)))
    // Places come by seniority, so the first one found is the most senior one.
    return left.first { final.contains($0.leaving) }
  }

  /// Whether heads of the person's devices counted once, whether they do now or not; or count where another end is taken for
  /// true of a place that was given up twice. Whoever was misled so has gone on from what they wrote.
  package func couldWrite(_ person: PersonID) -> Bool {
    (remainders[person] ?? []).contains { $0.gift.role.mayWrite }
      || writersByOtherEnds.contains(person)
  }

  /// Whether the person could write, or was right to believe so: a link let them that does not count any more, as its device was
  /// left out, its writer's place was taken or given up, or what had made its writer an owner fell itself.
  package func couldBelieveToWrite(_ person: PersonID) -> Bool {
    couldWrite(person) || believedWriters.contains(person)
  }

  /// Whom links let write that count, or that were written by somebody who held their place by some link of these. What anybody
  /// can have signed lets nobody.
  private static func believedWriters(
    _ graph: LinkGraph, _ verdicts: [LinkVerdict], _ first: Place, _ standings: LinkStandings
  ) -> Set<PersonID> {
    var writers: Set<PersonID> = []
    var holders: [Place: Set<PersonID>] = [first: [first.person]]
    for (number, link) in graph.links.enumerated() {
      guard let place = link.place else { continue }
      switch verdicts[number] {
      case .counts, .taken, .givenUp, .contested: break
      case .departed, .noPlace:
        guard !standings.nobodys.contains(number), holders[place]?.contains(link.person) ?? false
        else { continue }
      case .waits, .someoneStays: continue
      }
      for change in link.changes {
        switch change {
        case .give(let person, let role, _) where role.mayWrite:
          writers.insert(person)
          if role == .owner { holders[Place(link: graph.ids[number], person: person)] = [person] }
        case .handOver(let person):
          writers.insert(person)
          holders[place, default: []].insert(person)
        case .give, .limit, .offer, .agree: break
        }
      }
    }
    return writers
  }

  /// What a closing lists of the links that devices with these certificates, of one person, have signed: those that count, and
  /// where a place was given up twice, and no person has said which end is true, those that stand and may count elsewhere. A
  /// closing that left these out would decide the matter for everybody. What a person has refused is not listed, also if it is a
  /// leaving, which counts by itself; nor are leavings that were taken back, or that such a closing takes back.
  package func lasting(signedBy certificates: Set<StatementID>) -> Set<StatementID> {
    let signed = graph.ids.indices.filter { certificates.contains(graph.links[$0].certificate) }
    var lasting = signed.filter { verdicts[$0] == .counts }
    if placesGivenUpTwice.contains(where: { !$0.isDecided }) {
      let writers = Set(signed.map { graph.links[$0].person })
      let after = graph.future(of: graph.ids.indices.filter { gives($0, to: writers) })
      lasting += signed.filter { number in
        let link = graph.links[number]
        guard verdicts[number] != .counts, standings.stands[number] else { return false }
        // Anybody can write any number of agreements and leavings: those that never count are not listed.
        if link.isAgreement {
          return link.follows.compactMap(graph.number).contains {
            graph.links[$0].offer == link.person
          }
        }
        return link.place != nil || after.contains(number)
      }
      let takenBack = Set(writers.flatMap { stayed(by: $0) })
      lasting.removeAll { standings.retracted.contains($0) || takenBack.contains(graph.ids[$0]) }
    }
    return Set(lasting.map { graph.ids[$0] }).subtracting(standings.refused)
  }

  /// Whether a link that does not stand is of somebody who was never given anything, or of no device of its writer's: it would
  /// not count if it stood, or anybody can have signed it.
  func isOfStranger(_ number: Int) -> Bool {
    guard verdicts[number] == .departed else { return false }
    let writer = graph.links[number].person
    return standings.nobodys.contains(number)
      || remainders[writer] == nil && !writersByOtherEnds.contains(writer)
  }

  private func gives(_ number: Int, to people: Set<PersonID>) -> Bool {
    graph.links[number].changes.contains { change in
      switch change {
      case .give(let person, _, _), .handOver(let person): people.contains(person)
      case .limit, .offer, .agree: false
      }
    }
  }

  /// The verdict on a link of this member; nil if it is not here.
  package func verdict(on link: StatementID) -> LinkVerdict? {
    if let number = graph.number(of: link) { return verdicts[number] }
    return graph.waiting[link].map { .waits(for: $0) }
  }

  /// The links that count, less those before another one.
  package var tips: [StatementID] {
    graph.lasts(of: verdicts.indices.filter { verdicts[$0] == .counts }).map { graph.ids[$0] }
      .sorted()
  }

  /// What comes before what a person writes: all that counts, and the leavings of theirs that do not, as somebody has to stay. A
  /// hand over, or another leaving, that did not come after one of these would stand beside it once somebody else has a place.
  private func lastFollowed(by person: PersonID) -> [Int] {
    graph.lasts(
      of: verdicts.indices.filter {
        verdicts[$0] == .counts
          || verdicts[$0] == .someoneStays && graph.links[$0].person == person
      })
  }

  /// What a new link or head of the person follows, as far as there is room. An owner may write any number beside one another.
  /// Those come first after which the person has what they were given, then those of the most senior.
  package func tips(for person: PersonID) -> [StatementID] {
    let (tips, limit) = (lastFollowed(by: person), StatementLimits.linkFollows)
    guard tips.count > limit else { return tips.map { graph.ids[$0] }.sorted() }
    var followed = Set(needed(of: tips, by: person))
    let rank = ranksOfLinks
    for tip in tips.sorted(by: { (rank($0), -$0) < (rank($1), -$1) }) where followed.count < limit {
      followed.insert(tip)
    }
    return followed.map { graph.ids[$0] }.sorted()
  }

  /// Where there are more tips than one link can follow: what links follow that say nothing else, so that one after these comes
  /// after all tips. Each of them counts, as it comes after what the person was given.
  ///
  /// What is given beside a limit does not outlast it, and anybody who was ever given something can write any number of leavings.
  package func gatherings(for person: PersonID) -> [[StatementID]] {
    let (tips, limit) = (lastFollowed(by: person), StatementLimits.linkFollows)
    guard tips.count > limit else { return [] }
    let needed = Set(needed(of: tips, by: person))
    let others = tips.filter { !needed.contains($0) }
    return stride(from: 0, to: others.count, by: limit - needed.count).map { start in
      (needed + others[start...].prefix(limit - needed.count)).map { graph.ids[$0] }.sorted()
    }
  }

  /// How senior the place is as whose holder a link was written; those of no place come last.
  var ranksOfLinks: (Int) -> Int {
    let ranks = Dictionary(zip(places.map(\.place), 0...), uniquingKeysWith: min)
    return { link in graph.links[link].place.flatMap { ranks[$0] } ?? places.count }
  }

  /// Some of the tips after which the person has what they were given; at most half of what a link follows.
  private func needed(of tips: [Int], by person: PersonID) -> [Int] {
    let rank = ranksOfLinks
    let gifts = (remainders[person] ?? []).filter { $0.role != nil }.compactMap(\.gift.link)
      .sorted { (rank($0), $0) < (rank($1), $1) }
    return gifts.prefix(StatementLimits.linkFollows / 2).compactMap { gift in
      let after = graph.future(of: gift)
      return tips.first { $0 == gift || after.contains($0) }
    }
  }

  /// The places that the person holds, the most senior first.
  package func seats(of person: PersonID) -> [Place] {
    places.filter { place in
      place.tenures.last.map { $0.isHeld && $0.holder == person } ?? false
    }.map(\.place)
  }

  /// The ends of tenures that nothing contests: for this machine's memory.
  package var ends: [StatementID] {
    places.flatMap(\.tenures).compactMap { tenure in
      tenure.isContested ? nil : tenure.end.map { graph.ids[$0.link] }
    }
  }
}
