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
}
