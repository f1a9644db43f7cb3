import Testing
import VaultModel

@testable import VaultSync

/// Every situation that a register can be in, with counters 1 to 3 and two files for each.
@Suite struct RegisterPlanTests {
  private static let states: [RegisterState?] = {
    var states: [RegisterState?] = [nil]
    for counter: UInt8 in 1...3 {
      for file: UInt8 in 1...2 {
        let bytes = [UInt8](repeating: counter * 10 + file, count: 32)
        states.append(RegisterState(counter: UInt64(counter), hash: FileHash(bytes) ?? .zero))
      }
    }
    return states
  }()

  private static func forEachSituation(_ body: (RegisterSituation) -> Void) {
    for local in states {
      for remote in states {
        for mark in states {
          for shown in states {
            for isOwn in [false, true] {
              for previous in [nil, remote?.hash] {
                for hasLines in [false, true] {
                  body(
                    RegisterSituation(
                      local: local, remote: remote, mark: mark, shown: shown, previous: previous,
                      isOwn: isOwn, hasLines: hasLines))
                }
              }
            }
          }
        }
      }
    }
  }

  @Test func nothingIsReplacedByWhatIsNotNewer() {
    Self.forEachSituation { situation in
      let (local, remote) = (situation.local?.counter ?? 0, situation.remote?.counter ?? 0)
      let plan = RegisterPlan(situation)
      if plan.isForked { return }
      switch plan.action {
      case .take: #expect(remote > local)
      case .put: #expect(local > remote)
      case .compare: #expect(local > remote && situation.hasLines)
      case .leave: break
      }
    }
  }

  /// A device's own register of which the remote has all but the end of the log waits for that; no other one does.
  @Test func onlyOwnRegistersThatSayNothingElseWaitForTheLog() {
    Self.forEachSituation { situation in
      for since: UInt64 in 1...3 {
        var waiting = situation
        waiting.unchangedSince = since
        let (before, plan) = (RegisterPlan(situation), RegisterPlan(waiting))
        guard plan != before else { continue }
        #expect(situation.isOwn && situation.remote.map { $0.counter >= since } ?? false)
        #expect(plan.action == .leave && plan.findings == before.findings)
        #expect(before.action == .put || before.action == .compare)
      }
    }
  }

  @Test func whatIsOlderThanSeenIsNeverTakenAndAlwaysNamed() {
    Self.forEachSituation { situation in
      let plan = RegisterPlan(situation)
      let remote = situation.remote?.counter ?? 0
      if let shown = situation.shown, shown.counter > remote {
        #expect(plan.action != .take)
        #expect(plan.findings.contains(.wentBack(shows: remote, showed: shown.counter)))
      }
      if let mark = situation.mark, mark.counter > remote { #expect(plan.action != .take) }
    }
  }

  /// What this device has written, and nobody was shown, is not what a remote hides.
  @Test func noRemoteIsToBlameForWhatItNeverShowed() {
    Self.forEachSituation { situation in
      let isBlamed = RegisterPlan(situation).findings.contains {
        if case .olderThanSeen = $0 { true } else { false }
      }
      #expect(!isBlamed || !situation.isOwn)
    }
  }

  @Test func twoFilesOfOneCounterReplaceNothing() {
    Self.forEachSituation { situation in
      guard let remote = situation.remote else { return }
      let others = [situation.local, situation.mark, situation.shown].compactMap(\.self)
      // What another device says of itself is settled once the greater file stands on both sides.
      let isSettling =
        !situation.hasLines && !situation.isOwn && situation.local == situation.remote
      let isFork = others.contains {
        $0.counter == remote.counter && $0.hash != remote.hash
          && !(isSettling && $0.hash < remote.hash)
      }
      let plan = RegisterPlan(situation)
      #expect(plan.findings.contains(.forked(counter: remote.counter)) == isFork)
      guard isFork, situation.hasLines || situation.isOwn else { return }
      // What a device has written of itself since takes the place of either.
      let isAnew = !situation.hasLines && situation.local?.counter ?? 0 > remote.counter
      #expect(plan.action == (isAnew ? .put : .leave))
    }
  }

  /// Of what a device says of itself one file holds for everybody but the device, wherever each of both stands.
  @Test func twoFilesOfOneCounterThatAreNoHeadsBecomeOne() {
    var count = 0
    Self.forEachSituation { situation in
      let plan = RegisterPlan(situation)
      guard plan.isForked, !situation.hasLines, !situation.isOwn, let local = situation.local,
        let remote = situation.remote
      else { return }
      let isOld = [situation.shown, situation.mark].contains { $0?.counter ?? 0 > remote.counter }
      guard local.counter == remote.counter, local != remote, !isOld else {
        #expect(plan.action == .leave)
        return
      }
      #expect(plan.action == (local.hash < remote.hash ? .take : .put))
      count += 1
    }
    #expect(count > 0)
  }

  /// The device whose register was written twice may never write it anew.
  @Test func whatIsSettledOnBothSidesIsToldNoMore() throws {
    let states = Self.states.compactMap(\.self).filter { $0.counter == 2 }
    let (lesser, greater) = (
      try #require(states.min { $0.hash < $1.hash }),
      try #require(states.max { $0.hash < $1.hash })
    )
    for isOwn in [false, true] {
      let plan = RegisterPlan(
        RegisterSituation(
          local: greater, remote: greater, mark: lesser, shown: lesser, isOwn: isOwn,
          hasLines: false))
      #expect(plan.isForked == isOwn)
      #expect(plan.action == .leave)
    }
  }

  @Test func whatIsHereAndNewerIsAlwaysPut() {
    Self.forEachSituation { situation in
      let plan = RegisterPlan(situation)
      let isForked = plan.findings.contains { if case .forked = $0 { true } else { false } }
      guard let local = situation.local, local.counter > situation.remote?.counter ?? 0, !isForked
      else { return }
      #expect(plan.action == .put || plan.action == .compare)
    }
  }

  @Test func whatIsNotKnownToBeGoneOnFromIsCompared() {
    Self.forEachSituation { situation in
      guard RegisterPlan(situation).action == .compare else { return }
      #expect(situation.remote != situation.shown)
      #expect(situation.remote?.hash != situation.previous)
    }
  }

  @Test func whatIsTheSameOnBothSidesStays() {
    for state in Self.states {
      let plan = RegisterPlan(RegisterSituation(local: state, remote: state, mark: state))
      #expect(plan == RegisterPlan(.leave))
    }
  }
}
