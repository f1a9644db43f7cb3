import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects

@testable import VaultSync

/// What this machine takes of a remote that it remembers.
@Suite struct RemoteMemoryTests {
  /// Only there may a lazy vault let go of a chunk: another device may be about to remove what no head there names.
  @Test func whatIsNamedStaysWhereTheHeadStandsAndNothingIsToBeCompared() {
    let hash = Digest.sha256([1])
    let path = VaultPath.head(.random(), .random())
    let head = StandingHead(path: path, counter: 5, hash: hash)
    var memory = RemoteMemory()
    #expect(!memory.keepsWhatIsNamed(by: head) && !memory.keepsWhatIsNamed(by: nil))
    memory.lastComparison = 7
    #expect(!memory.keepsWhatIsNamed(by: head))
    memory.seen[path] = RemoteMemory.Seen(
      fingerprint: nil, state: RegisterState(counter: 4, hash: Digest.sha256([2])))
    #expect(!memory.keepsWhatIsNamed(by: head))
    memory.seen[path] = RemoteMemory.Seen(
      fingerprint: nil, state: RegisterState(counter: 5, hash: hash))
    #expect(memory.keepsWhatIsNamed(by: head) && memory.keepsWhatIsNamed(by: nil))
    memory.lastComparison = 0
    #expect(!memory.keepsWhatIsNamed(by: head) && !memory.keepsWhatIsNamed(by: nil))
  }

  /// Whoever has keys may have everybody carry any number of files. What was seen of them is not forgotten for that: a remote that
  /// goes back would be told no more.
  @Test func whatWasSeenIsReadHoweverMuchItIs() throws {
    let file = RemoteStateFile(
      state: StateFolder(store: MemoryStore()), remote: try #require(RemoteName("usb")))
    var memory = RemoteMemory()
    let (member, hash) = (MemberID.random(), Digest.sha256([1]))
    for counter in 0..<300_000 as Range<UInt64> {
      memory.seen[.link(member, .random())] = RemoteMemory.Seen(
        fingerprint: counter, state: RegisterState(counter: counter, hash: hash))
    }
    try #require(memory.encoded().count > 64 << 20)
    try file.store(memory)
    #expect(try file.load().seen == memory.seen)
  }

  /// What it lacks it may have yet, where it is not as the last sync left it.
  @Test func aRemoteIsSettledWhileItShowsTheHeadsThatWereSeen() throws {
    let (member, device) = (MemberID.random(), DeviceID.random())
    func entry(_ device: DeviceID, _ fingerprint: UInt64) -> BlobEntry {
      BlobEntry(name: device.hex, kind: .blob, size: 1, fingerprint: fingerprint)
    }
    var memory = RemoteMemory()
    memory.lastComparison = 7
    #expect(!memory.isSettled(member, listing: []))
    #expect(!memory.isSettled(member, listing: [entry(device, 1)]))
    memory.seen[.head(member, device)] = RemoteMemory.Seen(
      fingerprint: 1, state: RegisterState(counter: 4, hash: Digest.sha256([2])))
    #expect(memory.isSettled(member, listing: [entry(device, 1)]))
    #expect(!memory.isSettled(.random(), listing: [entry(device, 1)]))
    for heads in [[], [entry(device, 2)], [entry(device, 1), entry(.random(), 1)]] {
      #expect(!memory.isSettled(member, listing: heads))
    }
    let forged = DeviceID.random()
    memory.broken[.head(member, forged)] = RemoteMemory.Broken(fingerprint: 5, finding: nil)
    #expect(memory.isSettled(member, listing: [entry(device, 1), entry(forged, 5)]))
    let changes: [(inout RemoteMemory) -> Void] = [
      { $0.lastComparison = 0 }, { $0.lastLoss = 1 }, { $0.fail(at: 1, "off") },
    ]
    for change in changes {
      var other = memory
      change(&other)
      #expect(!other.isSettled(member, listing: [entry(device, 1)]))
    }
  }
}
