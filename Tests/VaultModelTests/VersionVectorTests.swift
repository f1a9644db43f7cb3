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
    #expect(HybridTime.last.next(now: .max) == .last)
    #expect(HybridTime(rawValue: .max).next(now: 0) == .last)
    #expect(HybridTime(milliseconds: .max).milliseconds == Limits.time)
  }

  @Test(arguments: [HybridTime.last, HybridTime(rawValue: HybridTime.last.rawValue + 1)])
  func aTimeAfterTheYear9999IsRefused(_ time: HybridTime) throws {
    var revision = RecordRevision(
      record: .root, place: RecordPlace(parent: nil, title: .record), placeTime: .zero,
      attributes: RecordAttributes(mode: 0), attributesTime: .zero, version: VersionVector(),
      time: .zero, device: .zero, document: Item(name: .record, file: .zero, time: time),
      items: ItemTree())
    let bytes = revision.encode(storingPages: PageShelf().store)
    if time == .last {
      #expect(try RecordRevision(decoding: bytes).document?.time == .last)
    } else {
      #expect(throws: ModelError.self) { try RecordRevision(decoding: bytes) }
    }
  }
}
