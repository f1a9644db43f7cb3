import Testing
import VaultModel
import VaultTrust

/// For whom a person vouches, as members' links say it.
@Suite struct VouchingTests {
  private func judged(
    _ family: Family, own: TestPerson, knowing people: [TestPerson] = []
  ) -> Vouching {
    var vouching = Vouching(own: own.id, people: people.map(\.id))
    vouching.judge(Array(family.world.trust().members.values))
    return vouching
  }

  @Test func whoeverAMemberOfSomebodyKnownNamesIsVouchedForByThoseWhoHaveIt() {
    let family = Family()
    let all: Set = [family.anna.id, family.ben.id, family.carl.id]
    for person in [family.anna, family.ben, family.carl] {
      let vouching = judged(family, own: person, knowing: [family.anna])
      #expect(vouching.people == all && vouching.members == [family.emma])
    }
    // By a link that Ben wrote.
    #expect(judged(family, own: family.carl, knowing: [family.ben]).people == all)
    // What somebody is given by people whom they do not know says nothing.
    #expect(judged(family, own: family.carl).people == [family.carl.id])
  }

  /// Dora has no access: those who have are carried with the member, and vouch for nothing else.
  @Test func withoutAccessAMembersPeopleAreCompanions() {
    var family = Family()
    let dora = family.newcomer("Dora")
    let liam = family.world.member(by: family.carlDesk)
    let vouching = judged(family, own: dora.person, knowing: [family.anna])
    #expect(vouching.people == [family.anna.id, dora.person.id])
    #expect(vouching.companions.isSuperset(of: [family.ben.id, family.carl.id]))
    #expect(vouching.carries(family.carl.id))
    #expect(vouching.members == [family.emma] && !vouching.members.contains(liam))
  }

  /// A stranger gives everybody access to what they made up.
  @Test func aStrangersGiftVouchesForNobody() {
    var family = Family()
    let mallory = family.newcomer("Mallory")
    let made = family.world.member(by: mallory)
    let gift = family.world.link(
      made, by: mallory, as: made.firstPlace(of: mallory.person),
      [.give(family.anna, .owner), .give(family.ben, .viewer)])
    var vouching = judged(family, own: family.anna, knowing: [family.ben])
    #expect(!vouching.people.contains(mallory.person.id) && !vouching.members.contains(made))
    // Nor does it who leaves it.
    _ = family.world.leave(made, by: family.benDesk, follows: [gift])
    vouching = judged(family, own: family.anna, knowing: [family.ben])
    #expect(!vouching.members.contains(made))
    // But who shares it on.
    _ = family.world.link(
      made, by: family.annaDesk, as: Place(link: gift, person: family.anna.id), follows: [gift],
      [.give(family.carl, .editor)])
    vouching = judged(family, own: family.ben, knowing: [family.anna])
    #expect(vouching.members.contains(made))
  }

  @Test func eachVouchesForSixtyFourAtMost() throws {
    var family = Family()
    let made = (0..<70).map { TestPerson("Made up \($0)") }
    var last = family.carlIn
    for person in made {
      last = family.world.link(
        family.emma, by: family.benDesk, as: family.bensPlace, follows: [last],
        [.give(person, .viewer)])
    }
    let vouching = judged(family, own: family.anna)
    // Carl is one of those whom Ben has named.
    #expect(vouching.people.intersection(made.map(\.id)).count == Vouching.limit - 1)
    #expect(vouching.people.contains(family.carl.id))
    var answering = Vouching(own: family.anna.id)
    answering.note(answers: made.map(\.id))
    #expect(answering.people.count == Vouching.limit + 1)
  }

  /// Whoever has a copy of Anna's machine names as many as there is room for, before everybody else.
  @Test func takingAccessFromWhomAThiefNamedMakesRoom() {
    var family = Family()
    let emma = family.emma
    let dora = family.newcomer("Dora")
    let gift = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [family.carlIn],
      [.give(dora.person, .editor)])
    let made = (0..<Vouching.limit).map { TestPerson("Made up \($0)") }
    let thefts = family.world.link(
      emma, by: family.annaPhone, as: family.annasPlace, made.map { .give($0, .viewer) })
    #expect(judged(family, own: family.ben).people.isSuperset(of: made.map(\.id)))
    _ = family.world.link(
      emma, by: family.annaDesk, as: family.annasPlace, follows: [gift, thefts].sorted(),
      made.map { .take($0) })
    #expect(judged(family, own: family.ben).people.contains(dora.person.id))
  }
}
