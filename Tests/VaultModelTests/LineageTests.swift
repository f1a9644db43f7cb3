import Testing
import VaultCrypto

@testable import VaultModel

/// Which head of a device goes on from which, on every pair of heads of small random trees.
@Suite struct LineageTests {
  /// The same numbers for the same seed.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  /// A head of a tree of heads: each goes on from its parent, with a greater counter.
  private struct Node {
    let mark: HeadMark
    let ancestors: [HeadMark]
    var lineage: Lineage { Lineage(ancestors) }
  }

  private func tree(_ seed: UInt64) -> [Node] {
    var random = Numbers(state: seed)
    var nodes = [Node(mark: HeadMark(counter: 1, beginning: random.next()), ancestors: [])]
    for _ in 0..<12 {
      let parent = nodes[Int.random(in: nodes.indices, using: &random)]
      let counter = parent.mark.counter + UInt64.random(in: 1...2, using: &random)
      nodes.append(
        Node(
          mark: HeadMark(counter: counter, beginning: random.next()),
          ancestors: parent.ancestors + [parent.mark]))
    }
    return nodes
  }

  @Test(arguments: 0..<20)
  func everyTwoHeadsStandAsTheyWereWritten(seed: Int) {
    for one in tree(UInt64(seed)) {
      for other in tree(UInt64(seed)) {
        let standing = one.lineage.standing(of: one.mark, to: other.mark, other.lineage)
        if one.mark == other.mark {
          #expect(standing == .same)
        } else if one.ancestors.contains(other.mark) {
          #expect(standing == .newer)
        } else if other.ancestors.contains(one.mark) {
          #expect(standing == .older)
        } else {
          let common = Set(one.ancestors).intersection(other.ancestors).map(\.counter).max()
          #expect(standing == .apart(above: common ?? 0))
        }
      }
    }
  }

  @Test func whatWasWrittenBeforeHeadsSaidSoGoesByCounters() {
    let known = HeadMark(counter: 3, beginning: 1)
    let head = HeadMark(counter: 9, beginning: 2)
    let later = Lineage([HeadMark(counter: 8, beginning: 3)])
    #expect(later.standing(of: head, to: known, Lineage()) == .newer)
    #expect(Lineage().standing(of: known, to: head, later) == .older)
    let whole = Lineage([HeadMark(counter: 3, beginning: 4), HeadMark(counter: 8, beginning: 3)])
    #expect(whole.standing(of: head, to: known, Lineage()) == .apart(above: 0))
  }

  @Test func aSegmentKeepsTheHeadsBeforeIt() throws {
    let device = DeviceID.random()
    let marks = [1, 2, 7].map { HeadMark(counter: $0, beginning: .max - $0) }
    let segment = Segment(
      entries: [], lineage: SegmentLineage(device: device, marks: marks))
    #expect(try Segment(decoding: segment.encoded()) == segment)
    var cut = segment.encoded()
    cut.removeLast()
    #expect(throws: ModelError.self) { try Segment(decoding: cut) }
  }

  @Test func aHeadKeepsBranchesAndStrays() throws {
    var head = Head()
    head.branches = [Head.Branch(device: .random(), above: 4)]
    head.strays = [Head.Stray(device: .random(), counter: 9, headHash: .random(), above: 3)]
    head.heard = [Head.Cover(device: .random(), counter: 7, headHash: .random())]
    head.takenOver = [Head.Cover(device: .random(), counter: 5, headHash: .random())]
    head.retold = [retold([5, 9])]
    #expect(try Head(decoding: head.encoded()) == head)
  }

  private func retold(_ counters: some Sequence<UInt64>) -> Head.Retold {
    Head.Retold(
      device: .random(), above: 4, by: .random(),
      marks: counters.map { HeadMark(counter: $0, beginning: .max - $0) })
  }

  @Test func aLineThatWasTakenOverHasTheHeadsThatItNamesAboveTheCounter() {
    var line = retold([4, 5, 9])
    let device = line.device
    line.marks.append(HeadMark(counter: 11, beginning: 1))
    #expect(
      [5, 9, 11].allSatisfy { counter in
        line.marks.contains { $0.counter == counter && line.has($0, of: device) }
      })
    #expect(!line.has(line.marks[0], of: device), "what both lines share")
    #expect(!line.has(HeadMark(counter: 5, beginning: 1), of: device), "another head")
    #expect(!line.has(line.marks[1], of: line.by), "another device")
  }

  @Test func moreLinesAndHeadsThanAHeadMayNameAreRefused() throws {
    let most = retold(5..<5 + UInt64(Limits.retoldMarks))
    var head = Head(retold: Array(repeating: most, count: Limits.headRetold))
    let bytes = head.encoded()
    #expect(try Head(decoding: bytes) == head)
    #expect(bytes.count < Limits.signedFileBytes / 2)
    head.retold.append(retold([5]))
    #expect(throws: ModelError.self) { try Head(decoding: head.encoded()) }
    head.retold = [retold(5...5 + UInt64(Limits.retoldMarks))]
    #expect(throws: ModelError.self) { try Head(decoding: head.encoded()) }
  }

  @Test func aHeadThatNamesMoreDevicesThanAnyFamilyHasIsRefused() throws {
    let cover = Head.Cover(device: .random(), counter: 1, headHash: .random())
    var head = Head(heard: Array(repeating: cover, count: Limits.headHeard))
    #expect(try Head(decoding: head.encoded()) == head)
    head.heard.append(cover)
    #expect(throws: ModelError.self) { try Head(decoding: head.encoded()) }
    head = Head(takenOver: Array(repeating: cover, count: Limits.headHeard))
    #expect(try Head(decoding: head.encoded()) == head)
    head.takenOver.append(cover)
    #expect(throws: ModelError.self) { try Head(decoding: head.encoded()) }
    let crowded = Head(cover: Array(repeating: cover, count: Limits.headDevices + 1))
    #expect(throws: ModelError.self) { try Head(decoding: crowded.encoded()) }
  }

  @Test func aRenamedVectorIsConcurrentWithTheOtherLineAndReplacesWhatBothKnew() {
    let (old, new, third) = (DeviceID.random(), DeviceID.random(), DeviceID.random())
    var version = VersionVector(device: old, counter: 9)
    version[third] = 2
    let renamed = version.renaming(old, above: 3, to: new)
    #expect(renamed[old] == 3 && renamed[new] == 9 && renamed[third] == 2)
    #expect(renamed.compare(to: VersionVector(device: old, counter: 5)) == .concurrent)
    #expect(renamed.compare(to: VersionVector(device: old, counter: 3)) == .dominates)
    let before = VersionVector(device: old, counter: 3)
    #expect(before.renaming(old, above: 3, to: new) == before)
  }
}
