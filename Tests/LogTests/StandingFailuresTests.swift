import Testing
import VaultModel

@testable import Log

@Suite struct StandingFailuresTests {
  private let key = StandingFailures.Key(work: .commit, subject: nil)

  @Test func aFailureThatGoesOnIsToldEverLessOften() {
    var standing = StandingFailures()
    let told = (0..<7200).filter {
      standing.note("noSpace", of: key, at: UInt64($0) * 1000).isTold
    }
    #expect(told == [0, 60, 180, 420, 900, 1860, 3780])
    #expect(standing.end(key)?.count == 7200)
    #expect(standing.end(key) == nil && standing.isEmpty)
    #expect(standing.note("noSpace", of: key, at: 7_200_000).isTold)
  }

  @Test func itIsToldEveryHourAtLeast() {
    var standing = StandingFailures()
    let told = (0..<100_000).filter {
      standing.note("noSpace", of: key, at: UInt64($0) * 10_000).isTold
    }
    let pauses = zip(told, told.dropFirst()).map { $1 - $0 }
    #expect(pauses.last == 360 && pauses.allSatisfy { $0 <= 360 })
  }

  @Test func twoKindsThatTakeTurnsAreNoNews() {
    var standing = StandingFailures()
    let told = (0..<60).filter {
      standing.note($0 % 2 == 0 ? "noSpace" : "readOnly", of: key, at: UInt64($0) * 1000).isTold
    }
    #expect(told == [0, 1])
    let last = standing.end(key)
    #expect(last?.count == 60 && last?.first == 0 && last?.kind == "readOnly")
  }

  @Test func othersHaveCountsOfTheirOwn() {
    var standing = StandingFailures()
    let other = StandingFailures.Key(work: .commit, subject: LogIdentity(MemberID.zero))
    #expect(standing.note("noSpace", of: key, at: 5).isTold)
    #expect(standing.note("noSpace", of: other, at: 6).isTold)
    #expect(!standing.note("noSpace", of: other, at: 7).isTold)
    #expect(standing.end(other)?.count == 2)
    #expect(!standing.isEmpty)
  }

  @Test func aClockThatIsPutBackSilencesNothing() {
    var standing = StandingFailures()
    #expect(standing.note("noSpace", of: key, at: 1_000_000).isTold)
    #expect(standing.note("noSpace", of: key, at: 10).isTold)
  }

  @Test func theStateHearsOfItEveryTenSeconds() {
    var standing = StandingFailures()
    let kept = (0..<60).filter { standing.note("noSpace", of: key, at: UInt64($0) * 1000).isKept }
    #expect(kept == [0, 10, 20, 30, 40, 50])
  }
}
