import Testing
import VaultModel

@testable import Vault

@Suite struct KeepPolicyTests {
  private let start: UInt64 = 1_700_000_000_000

  /// Of versions at these times, newest first, those that stay.
  private func thinned(_ times: [UInt64], _ policy: KeepPolicy, now: UInt64) -> [UInt64] {
    times.indices.filter { position in
      position == 0
        || policy.keeps(
          HybridTime(milliseconds: times[position]),
          replacedAt: HybridTime(milliseconds: times[position - 1]), now: now)
    }.map { times[$0] }
  }

  @Test func textSaysWhatItDoes() {
    for text in ["all", "1m:1h,1h:1d,1d", "10s:1m,1m", "1h", "1d:1w,1w"] {
      #expect(KeepPolicy(text)?.description == text)
    }
    #expect(KeepPolicy("60s:60m,60m:24h,24h") == .standard)
    #expect(KeepPolicy.standard.description == "1m:1h,1h:1d,1d")
    #expect(KeepPolicy("7d")?.description == "1w")
  }

  @Test(arguments: [
    "", "1", "m", "0m", "-1m", "1m:", ":1h", "1m:1h", "1m:1h,1m", "1m:1h,90s", "1h:1d,1m",
    "1m:1d,1h:1h,1d", "1m,1h", "1m:1h:1d", "1x", "1m: 1h,1d", "99999999999999999999m", "1m:1h,",
    "ALL", "١m",
  ])
  func refusesWhatIsNoPolicy(_ text: String) { #expect(KeepPolicy(text) == nil) }

  @Test func allKeepsEverything() {
    let times = (0..<1000).map { start - $0 * 10 }
    #expect(thinned(times, .everything, now: start) == times)
  }

  @Test func theLastOfEachIntervalStays() {
    let minute: UInt64 = 60_000
    let begin = start / minute * minute
    let times = [61_000, 59_999, 40_000, 1, 0].map { begin + $0 }
    #expect(
      thinned(times, .standard, now: begin + 62_000) == [begin + 61_000, begin + 59_999])
    // A version that stood for long is no other one's minute.
    #expect(thinned([begin + minute, begin], .standard, now: begin + minute).count == 2)
  }

  /// A program that saves every second for two days, thinned every now and then.
  @Test(arguments: [10, 61, 3601])
  func thinningAgainAndAgainLeavesWhatThinningOnceLeaves(_ step: Int) {
    var kept: [UInt64] = []
    var all: [UInt64] = []
    let end = 2 * 86_400
    for second in stride(from: 0, through: end, by: 7) {
      let now = start + UInt64(second) * 1000
      kept.insert(now, at: 0)
      all.append(now)
      if second / step != (second - 7) / step { kept = thinned(kept, .standard, now: now) }
    }
    let now = start + UInt64(end) * 1000
    let once = thinned(all.reversed(), .standard, now: now)
    kept = thinned(kept, .standard, now: now)
    #expect(kept == once)
    #expect(kept.count <= 1 + 61 + 25 + 3)
    // Something of every minute of the last hour, of every hour of the last day, and of each day.
    func gap(_ range: Range<UInt64>) -> UInt64 {
      let times = kept.filter { range.contains(now - $0) }
      return zip(times, times.dropFirst()).map { $0 - $1 }.max() ?? 0
    }
    #expect(gap(0..<3_600_000) <= 120_000)
    #expect(gap(3_600_000..<86_400_000) <= 7_200_000)
  }

  @Test func aClockThatWasAheadTakesNothingAwayThatAnotherTimeWouldNot() {
    let times = [start + 500_000, start + 440_000, start]
    #expect(thinned(times, .standard, now: start + 1000) == times)
  }
}
