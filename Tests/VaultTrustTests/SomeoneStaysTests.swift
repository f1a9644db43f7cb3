import Testing
import VaultModel
import VaultTrust

/// All owners leave without knowing of each other, and one stays: what they can do from then on. Docs/Format.md, section 16,
/// "Someone stays".
@Suite struct SomeoneStaysTests {
  private var family = Family()
  private let dora: TestDevice
  private let annasLeaving: StatementID
  /// As a machine remembers it that had Anna's leaving before the others came.
  private let memory: TrustMemory
  private let bensLeaving: StatementID

  init() {
    dora = family.newcomer("Dora")
    annasLeaving = family.world.leave(
      family.emma, by: family.annaDesk, follows: [family.carlIn])
    memory = family.world.trust().memory
    bensLeaving = family.world.leave(
      family.emma, by: family.benDesk, follows: [family.carlIn])
    _ = family.world.leave(family.emma, by: family.carlDesk, follows: [family.carlIn])
  }

  /// What the next thing that somebody writes follows.
  private func tips(for person: TestPerson) throws -> [StatementID] {
    try #require(family.world.trust().members[family.emma]).tips(for: person.id)
  }

  /// The same with and without memory.
  private func expect(
    owners: [TestPerson], _ verdicts: [StatementID: LinkVerdict],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for memory in [.empty, memory, family.world.trust(memory: memory).memory] {
      let trust = family.world.trust(memory: memory)
      let access = trust.access(to: family.emma)
      #expect(access?.owners == owners.map(\.id), sourceLocation: sourceLocation)
      #expect(access?.contested == [], sourceLocation: sourceLocation)
      for (link, verdict) in verdicts {
        #expect(trust.link(link, in: family.emma) == verdict, sourceLocation: sourceLocation)
      }
    }
  }

  @Test mutating func theirPlaceCanBeHandedOver() throws {
    let emma = family.emma
    expect(owners: [family.anna], [annasLeaving: .someoneStays])
    #expect(try tips(for: family.anna).contains(annasLeaving))
    #expect(try !tips(for: family.ben).contains(annasLeaving))
    let gift = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: try tips(for: family.anna),
      [.give(dora.person, .editor)])
    let handOver = family.world.handOver(
      emma, by: family.annaDesk, as: family.annasPlace, to: dora,
      follows: try tips(for: family.anna))
    expect(
      owners: [dora.person],
      [gift: .counts, handOver: .counts, annasLeaving: .someoneStays])
    #expect(family.world.trust().role(family.anna, in: emma) == .editor)
  }

  @Test mutating func theyLeaveOnceThereIsAnother() throws {
    let emma = family.emma
    let gift = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: try tips(for: family.anna),
      [.give(dora.person, .owner)])
    expect(owners: [family.anna, dora.person], [gift: .counts])
    let again = family.world.leave(emma, by: family.annaDesk, follows: try tips(for: family.anna))
    expect(
      owners: [dora.person], [gift: .counts, again: .counts, annasLeaving: .someoneStays])
    #expect(family.world.trust().role(family.anna, in: emma) == nil)
    // And so on.
    let last = family.world.leave(emma, by: dora, follows: try tips(for: dora.person))
    expect(owners: [dora.person], [again: .counts, last: .someoneStays])
  }

  /// Anna goes on: what she gives then.
  private mutating func goOn() throws -> StatementID {
    family.world.link(
      family.emma, by: family.annaDesk, as: family.annasPlace, follows: try tips(for: family.anna),
      [.give(dora.person, .editor)])
  }

  /// Anna's words close, and let her devices stay.
  private mutating func close(
    counted: [StatementID] = [], retracted: [StatementID] = [], after closing: StatementID? = nil
  ) -> StatementID {
    family.world.closing(
      of: family.anna, follows: [closing ?? family.openings[family.anna] ?? .zero],
      stay: [family.annaDesk, family.annaPhone], counted: counted, retracted: retracted)
  }

  /// Ben's words leave out the device with which he left, and do not list that he did.
  private mutating func letBenComeBack() {
    _ = family.world.closing(
      of: family.ben, follows: [family.openings[family.ben] ?? .zero], stay: [family.benPhone],
      counted: [family.carlIn])
  }

  /// Without words nothing tells Anna, who stayed, from one who left, and goes on with leavings that were signed with
  /// removed devices of all others.
  @Test mutating func whoseWordsTakeTheirLeavingBackStaysWhateverTheOthersSay() throws {
    let gift = try goOn()
    letBenComeBack()
    expect(
      owners: [family.ben],
      [annasLeaving: .counts, gift: .givenUp(by: annasLeaving), bensLeaving: .departed])
    _ = close(retracted: [annasLeaving])
    expect(owners: [family.anna, family.ben], [annasLeaving: .someoneStays, gift: .counts])
    let again = family.world.leave(
      family.emma, by: family.annaDesk, follows: try tips(for: family.anna))
    expect(owners: [family.ben], [again: .counts, gift: .counts])
  }

  private func stayed(_ person: TestPerson) -> Set<StatementID>? {
    family.world.trust().members[family.emma]?.stayed(by: person.id)
  }

  @Test mutating func aClosingTakesBackWhatOneWentOnAfter() throws {
    #expect(stayed(family.anna) == [])
    _ = try goOn()
    #expect(stayed(family.anna) == [annasLeaving])
    #expect(stayed(family.ben) == [])
    // It falls with its device, of which there may be more than there is room for.
    let history = try #require(family.world.trust().members[family.emma])
    let departing: Set = [family.annaDesk.certificate]
    #expect(history.stayed(by: family.anna.id, besides: departing) == [])
    letBenComeBack()
    #expect(stayed(family.anna) == [])
  }

  /// What one closing lists no other one takes away, whichever comes first.
  @Test mutating func whatTheirWordsListTheyDoNotTakeBack() throws {
    let gift = try goOn()
    letBenComeBack()
    let first = close(retracted: [annasLeaving])
    _ = close(counted: [annasLeaving], after: first)
    expect(owners: [family.ben], [annasLeaving: .counts, gift: .givenUp(by: annasLeaving)])
  }

  /// Where a place was given up twice a closing lists what may count by another end: not what the person's words took back
  /// before, which would be undone by that.
  @Test func whatTheirWordsTookBackTheyDoNotList() throws {
    var family = Family()
    let emma = family.emma
    let before = family.world.leave(emma, by: family.annaDesk, follows: [family.carlIn])
    let leaving = family.world.leave(emma, by: family.benPhone, follows: [before])
    _ = family.world.leave(emma, by: family.carlDesk, follows: [before])
    _ = family.world.closing(
      of: family.ben, follows: [family.openings[family.ben] ?? .zero],
      stay: [family.benDesk, family.benPhone], retracted: [leaving])
    for name in ["Dora", "Puppet"] {
      let taker = family.newcomer(name)
      _ = family.world.handOver(
        emma, by: family.benPhone, as: family.bensPlace, to: taker, follows: [family.carlIn])
    }
    let history = try #require(family.world.trust().members[emma])
    #expect(history.placesGivenUpTwice.map(\.isDecided) == [false])
    #expect(history.verdict(on: leaving) == .someoneStays)
    let lasting = history.lasting(signedBy: [family.benPhone.certificate])
    #expect(lasting.count == 4 && !lasting.contains(leaving))
  }

  /// Neither another one's words nor somebody's who has found old ones bring anybody back, nor does a device.
  @Test func nobodyElseTakesALeavingBack() {
    var family = Family()
    let emma = family.emma
    let opening = family.openings[family.anna] ?? .zero
    let new = TestKey("Anna's new words")
    _ = family.world.closing(
      of: family.anna, follows: [opening], stay: [family.annaDesk, family.annaPhone], by: new,
      replacing: [family.anna.words])
    let leaving = family.world.leave(emma, by: family.annaDesk, follows: [family.carlIn])
    let memory = family.world.trust().memory
    for (person, key) in [
      (family.ben, family.ben.words), (family.anna, family.anna.words),
      (family.anna, family.ben.words),
    ] {
      _ = family.world.closing(
        of: person, follows: [family.openings[person] ?? .zero],
        stay: [family.annaDesk, family.annaPhone, family.benDesk, family.benPhone],
        retracted: [leaving], by: key)
    }
    let later = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [leaving], [.take(family.ben)])
    for memory in [.empty, memory] {
      let trust = family.world.trust(memory: memory)
      #expect(trust.access(to: emma)?.owners == [family.ben.id, family.carl.id])
      #expect(trust.link(leaving, in: emma) == .counts)
      #expect(trust.link(later, in: emma) == .givenUp(by: leaving))
    }
  }

  /// Machines remember what came to them first, and come to the same.
  @Test mutating func inWhicheverOrderItComes() throws {
    let gift = try goOn()
    let before = Set(family.world.files.keys)
    _ = close(retracted: [annasLeaving])
    letBenComeBack()
    let late = [bensLeaving, gift] + Set(family.world.files.keys).subtracting(before).sorted()
    #expect(late.count == 4)
    for order in 0..<24 {
      var (rest, number, memory) = (late, order, TrustMemory.empty)
      while !rest.isEmpty {
        memory = family.world.trust(memory: memory, without: Set(rest)).memory
        rest.remove(at: number % rest.count)
        number /= rest.count + 1
      }
      let trust = family.world.trust(memory: memory)
      #expect(trust.access(to: family.emma)?.owners == [family.anna.id, family.ben.id], "\(order)")
      #expect(trust.access(to: family.emma)?.contested == [])
      #expect(trust.link(gift, in: family.emma) == .counts)
    }
  }

  /// However often they say it, and whatever it costs to judge that.
  @Test mutating func theyStayHoweverOftenTheyLeave() {
    var last = annasLeaving
    for _ in 0..<100 {
      last = family.world.leave(family.emma, by: family.annaDesk, follows: [last])
    }
    expect(owners: [family.anna], [annasLeaving: .someoneStays, last: .someoneStays])
  }
}
