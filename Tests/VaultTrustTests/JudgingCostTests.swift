import Testing
import VaultModel
import VaultTrust

/// What judging costs, without the signatures, each of which is verified once in the life of a machine's state.
@Suite struct JudgingCostTests {
  private static let memberCount = 20, linkCount = 200

  #if DEBUG
    private static let limit = Duration.seconds(1)
  #else
    private static let limit = Duration.milliseconds(50)
  #endif

  /// Twenty members, whose owners have given and taken access and changed keys, two hundred links each, of which some were
  /// signed on two devices that had not met.
  private static func family() -> (world: World, members: [MemberID]) {
    var family = Family()
    var members: [MemberID] = []
    for _ in 0..<memberCount {
      let member = family.world.member(by: family.annaDesk)
      members.append(member)
      let place = member.firstPlace(of: family.anna)
      let wraps = [family.anna, family.ben, family.carl].map { family.wrap($0) }
      var tips = [
        family.world.link(
          member, by: family.annaDesk, as: place, [.give(family.ben, .editor)], epoch: true,
          wraps: wraps)
      ]
      var count = 1
      while count < linkCount {
        let person = count.isMultiple(of: 3) ? family.ben : family.carl
        let isApart = count.isMultiple(of: 7) && count < linkCount - 1
        let devices = isApart ? [family.annaDesk, family.annaPhone] : [family.annaDesk]
        let hasEpoch = count.isMultiple(of: 10)
        tips = devices.map { device in
          family.world.link(
            member, by: device, as: place, follows: tips,
            count.isMultiple(of: 2) ? [.give(person, .viewer)] : [.take(person)],
            epoch: hasEpoch, wraps: hasEpoch ? wraps : [], time: UInt64(count))
        }
        count += devices.count
      }
    }
    return (family.world, members)
  }

  @Test func twentyMembersWithTwoHundredLinksEach() throws {
    let (world, members) = Self.family()
    let files = Array(world.files.values)
    let statements = Statements(vault: world.vault, files: files, check: TestKey.check)
    let trust = Trust(statements)
    for member in members {
      let history = try #require(trust.members[member])
      #expect(history.counting.count == Self.linkCount)
      #expect(try #require(trust.epochs[member]).ranking.count >= 19)
    }
    let times = (0..<9).map { _ in processorTime { _ = Trust(statements) } }
    let fastest = try #require(times.min())
    print("judging \(members.count) members of \(Self.linkCount) links: \(fastest)")
    #expect(fastest <= Self.limit)
  }
}
