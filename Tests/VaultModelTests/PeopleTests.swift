import Fuzzing
import Testing
import VaultModel

@Suite struct Base32Tests {
  /// RFC 4648, section 10, without padding.
  @Test(arguments: [
    ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
    ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
  ])
  func isThatOfTheStandard(text: String, digits: String) {
    #expect(Base32.encode(text.utf8) == digits)
    #expect(Base32.decode(digits) == Array(text.utf8))
  }

  @Test(arguments: ["M", "MZ1", "my", "MZ", "MY======", "MZXW6Y", "É"])
  func refusesWhatItDoesNotWrite(digits: String) {
    #expect(Base32.decode(digits) == nil)
  }
}

@Suite struct PersonalProfileJoinTests {
  private func profiles(_ random: inout SeededRandom) -> [PersonalProfile] {
    let (people, ids) = ([random.id(), random.id()] as [PersonID], [random.id()] as [InvitationID])
    let members = [random.id(), random.id()] as [MemberID]
    return (0..<4).map { number in
      PersonalProfile(
        name: "name \(number)", time: HybridTime(rawValue: UInt64(random.number(below: 3))),
        people: people.map {
          Acquaintance(
            person: $0, name: "n\(random.number(below: 9))",
            verification: random.number(below: 2) == 0 ? .invitedInPerson : .wordsCompared,
            time: UInt64(random.number(below: 3)))
        },
        invitations: ids.map {
          OpenInvitation(
            id: $0, secret: random.number(below: 2) == 0 ? nil : random.bytes(16), created: 1,
            until: 2, time: UInt64(random.number(below: 3)))
        },
        members: members.map {
          MemberName(
            member: $0, title: random.number(below: 3) == 0 ? nil : .record,
            time: UInt64(random.number(below: 3)))
        })
    }
  }

  @Test func theOrderDoesNotMatterAndTwiceIsOnce() {
    var random = SeededRandom(seed: 11)
    for _ in 0..<200 {
      let all = profiles(&random)
      var forwards = all[0]
      for other in all { forwards.join(other) }
      var backwards = all[3]
      for other in all.reversed() { backwards.join(other) }
      #expect(forwards == backwards)
      var again = forwards
      again.join(backwards)
      #expect(again == forwards)
    }
  }

  @Test func eachEntryHasATimeOfItsOwn() {
    var random = SeededRandom(seed: 12)
    let (ben, carla): (PersonID, PersonID) = (random.id(), random.id())
    func known(_ person: PersonID, _ time: UInt64) -> Acquaintance {
      Acquaintance(person: person, name: "at \(time)", verification: .wordsCompared, time: time)
    }
    var profile = PersonalProfile(
      name: "A", time: HybridTime(rawValue: 1), people: [known(ben, 5), known(carla, 1)])
    profile.join(
      PersonalProfile(
        name: "B", time: HybridTime(rawValue: 9), people: [known(carla, 2), known(ben, 4)]))
    #expect(profile.name == "B")
    #expect(Set(profile.people) == [known(ben, 5), known(carla, 2)])
  }

  /// A machine with a clock that is years ahead, or whoever had it for a day, has said something else of Ben.
  @Test func whatIsNotedLastCountsWhateverClocksSaid() {
    var random = SeededRandom(seed: 13)
    let (ben, emma): (PersonID, MemberID) = (random.id(), random.id())
    let (invitation, secret): (InvitationID, [UInt8]) = (random.id(), random.bytes(16))
    let other = PersonalProfile(
      name: "A", time: .zero,
      people: [Acquaintance(person: ben, name: "B", verification: .trustedOnFirstUse, time: 900)],
      invitations: [
        OpenInvitation(id: invitation, secret: secret, created: 1, until: 2, time: 900)
      ],
      members: [MemberName(member: emma, title: .record, time: 900)])
    var profile = other
    profile.note(Acquaintance(person: ben, name: "Ben", verification: .wordsCompared, time: 5))
    profile.note(OpenInvitation(id: invitation, secret: nil, created: 1, until: 2, time: 5))
    profile.note(MemberName(member: emma, title: nil, time: 5))
    let noted = profile
    profile.join(other)
    #expect(profile == noted)
    #expect(profile.people.map(\.name) == ["Ben"] && profile.people.map(\.time) == [901])
    #expect(profile.invitations.map(\.secret) == [nil])
    #expect(profile.members.map(\.title) == [nil])
  }
}
