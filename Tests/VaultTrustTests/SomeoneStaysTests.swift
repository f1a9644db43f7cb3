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

  init() {
    dora = family.newcomer("Dora")
    annasLeaving = family.world.leave(
      family.emma, by: family.annaDesk, follows: [family.carlIn])
    memory = family.world.trust().memory
    for device in [family.benDesk, family.carlDesk] {
      _ = family.world.leave(family.emma, by: device, follows: [family.carlIn])
    }
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

  /// However often they say it, and whatever it costs to judge that.
  @Test mutating func theyStayHoweverOftenTheyLeave() {
    var last = annasLeaving
    for _ in 0..<100 {
      last = family.world.leave(family.emma, by: family.annaDesk, follows: [last])
    }
    expect(owners: [family.anna], [annasLeaving: .someoneStays, last: .someoneStays])
  }
}
