import Testing

@testable import VaultSync

/// What a sync does next, whatever its reach and its options.
@Suite struct SyncCourseTests {
  private typealias Step = SyncCourse.Step

  static let options: [SyncOptions] = [SyncOptions.Direction.both, .pull, .push].flatMap {
    direction -> [SyncOptions] in
    [false, true].map { isDryRun in
      var options = SyncOptions()
      options.direction = direction
      options.isDryRun = isDryRun
      return options
    }
  }

  /// Every course that can come about, with each step after which a look is outdated.
  private func courses(
    _ reach: SyncReach.Kind, _ options: SyncOptions
  ) -> [(steps: [Step], outdating: Set<Step>)] {
    let all: [Set<Step>] = [
      [], [.part], [.tendAccess], [.part, .tendAccess], [.takeIncoming], [.part, .takeIncoming],
    ]
    return all.map { outdating in
      var course = SyncCourse(reach, options)
      var steps: [Step] = []
      var left = outdating
      while let step = course.next() {
        steps.append(step)
        course.end(of: step, isLookOutdated: left.remove(step) != nil)
      }
      return (steps, outdating)
    }
  }

  private static let taking: Set<Step> = [
    .takeStatements, .takeMembers, .part, .takeIncoming, .forgetIncoming,
  ]
  private static let putting: Set<Step> = [.tendAccess, .putPeople, .putMembers, .putCommits]

  @Test(arguments: SyncReach.Kind.allCases, Self.options)
  func nothingIsDoneBeforeItWasLookedAt(_ reach: SyncReach.Kind, _ options: SyncOptions) {
    for (steps, outdating) in courses(reach, options) {
      let takesIncoming =
        reach == .open && options.direction != .push && !options.isDryRun
      #expect(steps.contains(.takeIncoming) == takesIncoming)
      #expect(steps.first == (reach == .heads ? .findCommits : .look))
      var isOutdated = true
      var left = outdating
      for step in steps {
        if step == .look { isOutdated = false }
        if Self.taking.union(Self.putting).contains(step) { #expect(!isOutdated, "\(steps)") }
        if left.remove(step) != nil { isOutdated = true }
      }
    }
  }

  @Test(arguments: [SyncReach.Kind.locked, .open], Self.options)
  func aRemovedDeviceIsStoppedBeforeAnythingOfMembersMoves(
    _ reach: SyncReach.Kind, _ options: SyncOptions
  ) throws {
    for (steps, _) in courses(reach, options) {
      let check = try #require(steps.firstIndex(of: .requireNotRemoved))
      let moving = steps.firstIndex { $0 == .takeMembers || Self.putting.contains($0) }
      #expect(moving.map { check < $0 } ?? true)
      // What says that it was removed has come by then.
      if let statements = steps.firstIndex(of: .takeStatements) { #expect(statements < check) }
    }
  }

  @Test(arguments: SyncReach.Kind.allCases, Self.options)
  func theDirectionIsKept(_ reach: SyncReach.Kind, _ options: SyncOptions) {
    if reach == .heads { return }
    for (steps, _) in courses(reach, options) {
      let steps = Set(steps)
      #expect(steps.isDisjoint(with: Self.taking) == (options.direction == .push))
      #expect(steps.contains(.putMembers) == (options.direction != .pull))
      #expect(steps.contains(.endPut) == steps.contains(.putMembers))
      #expect(!(steps.contains(.tendAccess) && options.isDryRun))
    }
  }

  @Test func whoGoesOnAsAnotherDeviceTakesAgain() {
    let steps = courses(.open, SyncOptions())[1].steps
    #expect(
      steps == [
        .look, .takeStatements, .requireNotRemoved, .takeMembers, .part, .look, .takeMembers,
        .takeIncoming, .forgetIncoming, .requireNotRemoved, .tendAccess, .carryLogs, .putPeople,
        .putMembers, .endPut, .countPending,
      ])
  }

  @Test func aSyncOfHeadsPutsNothingButCommits() {
    for options in Self.options {
      var course = SyncCourse(.heads, options)
      var steps: [Step] = []
      while let step = course.next() { steps.append(step) }
      #expect(steps == [.findCommits, .look, .requireSettled, .putCommits, .endPut])
    }
  }
}
