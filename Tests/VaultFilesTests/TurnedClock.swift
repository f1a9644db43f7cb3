import MachineState
import Synchronization
import Vault

/// A clock that stands still until a test turns it.
final class TurnedClock: Sendable {
  private let now: Mutex<UInt64>

  init(_ start: UInt64) { now = Mutex(start) }

  func advance(to time: UInt64) { now.withLock { $0 = time } }

  var wallClock: WallClock { WallClock { [self] in now.withLock { $0 } } }
}
