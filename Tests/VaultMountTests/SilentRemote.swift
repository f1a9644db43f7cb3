import Threads
import VaultErrors
import VaultModel
import VaultObjects

/// A remote that is asked and says nothing, until it gives up.
final class SilentRemote: ChunkSource {
  private struct State {
    var askedCount = 0
    var hasGivenUp = false
  }

  private let state = Monitor(State())

  var askedCount: Int { state.withLock { $0.askedCount } }

  func giveUp() { state.change { $0.hasGivenUp = true } }

  func fetch(
    _ chunk: ObjectName, of member: MemberID, where isWhole: ([UInt8]) -> Bool
  ) throws(VaultError) -> [UInt8] {
    state.change { $0.askedCount += 1 }
    state.wait { $0.hasGivenUp ? Monitor<State>.Look<Void>.answer(()) : .wait }
    throw .away(path: chunk.hex, reason: "it says nothing")
  }

  func holds(
    _ chunk: ObjectName, byteCount: UInt64, of member: MemberID, under head: StandingHead?
  ) throws(VaultError) -> Bool { false }
}
