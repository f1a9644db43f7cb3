import Testing
import VaultCrypto
import VaultModel

@testable import Vault
@testable import VaultSync

/// The other decisions of a sync.
@Suite struct PlanTests {
  private let devices = (1...3).map {
    DeviceID([UInt8](repeating: UInt8($0), count: 32)) ?? .zero
  }

  private func entry(_ version: VersionVector, isDeleted: Bool = false) -> RecordEntry {
    RecordEntry(
      record: .random(), parent: .root, title: .record, revision: .random(), version: version,
      time: .zero, device: devices[0], isDeleted: isDeleted)
  }

  private func version(_ counters: UInt64...) -> VersionVector {
    var version = VersionVector()
    for (device, counter) in zip(devices, counters) { version[device] = counter }
    return version
  }

  @Test func statements() {
    let (one, two) = (FileHash.random(), FileHash.random())
    func facts(_ hash: FileHash?) -> SignedFacts? {
      hash.map { SignedFacts(counter: 0, hash: $0, previous: nil) }
    }
    func plan(_ local: FileHash?, _ remote: FileHash?) -> StatementPlan {
      StatementPlan(local: facts(local), remoteHash: remote)
    }
    #expect(plan(nil, nil) == .leave)
    #expect(plan(one, nil) == .put)
    #expect(plan(nil, one) == .take)
    #expect(plan(one, one) == .leave)
    #expect(plan(one, two) == .differ)
  }

  @Test func coverageKnowsWhatEachHeadKnew() {
    let coverage = Coverage([devices[0]: 5, devices[1]: 2])
    #expect(coverage.holds(entry(version(5))) == true)
    #expect(coverage.holds(entry(version(6))) == false)
    #expect(coverage.holds(entry(version(0, 0, 1))) == false)
    #expect(coverage.holds(entry(version(5, 3))) == false)
    // A merge of what two devices wrote has no counter of its own.
    #expect(coverage.holds(entry(version(5, 2))) == nil)
    // Nobody has written it: whoever made it up would have it brought nowhere, and named by everyone.
    #expect(coverage.holds(entry(version())) == false)
    var revision = RecordRevision(
      record: .random(), place: RecordPlace(parent: .root, title: .record), placeTime: .zero,
      attributesTime: .zero, version: version(), time: .zero, device: devices[0])
    #expect(!coverage.holds(revision))
    // What stands for a revision is of no device.
    let begunAnew = version(5).begunAnew(over: .random(), by: devices[0]) { _ in true }
    #expect(coverage.holds(entry(begunAnew)) == nil)
    revision.version = begunAnew
    #expect(coverage.holds(revision))
    revision.version = version(6).begunAnew(over: .random(), by: devices[0]) { _ in true }
    #expect(!coverage.holds(revision))
    let ofNobody = version().begunAnew(over: .random(), by: devices[0]) { _ in true }
    #expect(coverage.holds(entry(ofNobody)) == false)
    #expect(
      coverage.missingCommits(of: [devices[0]: 7, devices[1]: 1, devices[2]: 3]) == 5)
  }

  @Test func aHeadThatSomeoneSawAndNobodyShowsIsNamed() {
    let cover = [
      Head.Cover(device: devices[1], counter: 4, headHash: .random()),
      Head.Cover(device: devices[2], counter: 2, headHash: .random()),
    ]
    let found = WithheldHead.find(
      heads: [(devices[0], cover)], shown: [devices[1]: 3, devices[2]: 2])
    #expect(
      found == [WithheldHead(device: devices[1], seen: 4, shown: 3, witness: devices[0])])
  }

  @Test func massChangesAreMoreThanHalfAndMoreThanTwenty() {
    func change(live: Int, deleted: Int, conflicts: Int) -> Bool {
      var change = MassChange(liveCount: live)
      for _ in 0..<deleted {
        change.count(entry(version(2), isDeleted: true), over: entry(version(1)))
      }
      for _ in 0..<conflicts { change.count(entry(version(0, 1)), over: entry(version(1))) }
      // None of these takes anything away.
      change.count(entry(version(2)), over: entry(version(1)))
      change.count(entry(version(2), isDeleted: true), over: nil)
      change.count(entry(version(2), isDeleted: true), over: entry(version(1), isDeleted: true))
      return change.needsConsent
    }
    #expect(!change(live: 20, deleted: 20, conflicts: 0))
    #expect(change(live: 21, deleted: 21, conflicts: 0))
    #expect(!change(live: 42, deleted: 11, conflicts: 10))
    #expect(change(live: 41, deleted: 11, conflicts: 10))
    #expect(!change(live: 1000, deleted: 300, conflicts: 200))
  }

  @Test func memoryComesBackAsItWasAndTornItIsForgotten() throws {
    var memory = RemoteMemory()
    memory.lastSuccess = 12
    memory.pendingCommitCount = 3
    memory.seen[.device(.random(), .random())] = RemoteMemory.Seen(
      fingerprint: 77, state: RegisterState(counter: 4, hash: .random()))
    memory.seen[.head(.random(), devices[0])] = RemoteMemory.Seen(
      fingerprint: nil, state: RegisterState(counter: 9, hash: .random()))
    memory.fail(at: 20, "the disk\nis gone")
    memory.fail(at: 30, "still gone")
    #expect(memory.failures?.first == 20)
    let bytes = memory.encoded()
    #expect(RemoteMemory(decoding: bytes) == memory)
    for count in 0..<bytes.count {
      #expect(RemoteMemory(decoding: Array(bytes.prefix(count))) == nil)
    }
    for position in bytes.indices {
      var flipped = bytes
      flipped[position] ^= 1
      #expect(RemoteMemory(decoding: flipped) == nil)
    }
    for _ in 0..<4 { memory.fail(at: 40, "gone") }
    #expect(memory.isInTrouble)
    memory.succeed(at: 50)
    #expect(memory.failures == nil)
  }
}
