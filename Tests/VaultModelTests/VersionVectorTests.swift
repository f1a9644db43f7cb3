import Fuzzing
import Testing
import VaultModel

@Suite struct VersionVectorTests {
  @Test func comparesAndJoinsAsEachCounterDoes() {
    var random = SeededRandom(seed: 1)
    let devices: [DeviceID] = [random.id(), random.id(), random.id()]
    for _ in 0..<2_000 {
      var (left, right) = (VersionVector(), VersionVector())
      for device in devices {
        left[device] = UInt64(random.number(below: 3))
        right[device] = UInt64(random.number(below: 3))
      }
      let isAhead = devices.contains { left[$0] > right[$0] }
      let isBehind = devices.contains { left[$0] < right[$0] }
      let expected: VersionVector.Order =
        isAhead ? (isBehind ? .concurrent : .dominates) : (isBehind ? .dominated : .equal)
      #expect(left.compare(to: right) == expected)
      #expect((left == right) == (expected == .equal))
      let joined = left.joined(with: right)
      for device in devices { #expect(joined[device] == max(left[device], right[device])) }
      #expect(joined == right.joined(with: left))
      #expect(joined.entries.map(\.device) == joined.entries.map(\.device).sorted())
    }
  }

  @Test func hybridTimeOnlyGrows() {
    let time = HybridTime(milliseconds: 5, counter: .max)
    #expect(time.next(now: 3) == HybridTime(milliseconds: 6))
    #expect(time.next(now: 9) == HybridTime(milliseconds: 9))
    #expect(HybridTime(rawValue: .max).next(now: .max) == HybridTime(rawValue: .max))
    #expect(HybridTime(milliseconds: .max).milliseconds == 1 << 48 - 1)
  }
}
