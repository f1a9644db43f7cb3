import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultPeople

/// Whether this machine's clock may have jumped ahead. Docs/Format.md, "Removing objects".
extension Vault {
  /// How far the clock is ahead of everything that this machine knows of the vault; nil where it is not far. Nobody can tell
  /// from the vault alone whether the clock jumped or nobody used the vault for so long: somebody has to say so.
  ///
  /// - Throws: Why what is noted of the clock cannot be read.
  package func clockLeap() throws(VaultError) -> ClockLeap? {
    try context.clockLeap(from: members)
  }

  /// The vault is used on this machine. What others wrote shows that the clock is right, also once it is long ago.
  package func noteClock() throws(VaultError) {
    let now = context.clock.milliseconds()
    try context.state.noteClock(
      now, after: members.compactMap(\.ownTime).max() ?? now,
      told: members.compactMap(\.timeOfOthers).max())
  }
}

extension VaultContext {
  /// How far the clock is ahead of all that is known, where of what other devices wrote only these members are known.
  func clockLeap(from members: [Member]) throws(VaultError) -> ClockLeap? {
    guard let seen = try state.clockSeen() ?? members.compactMap(\.ownTime).max() else {
      return nil
    }
    let told = members.compactMap(\.timeOfOthers).max() ?? 0
    return ClockLeap(from: max(seen, told), to: clock.milliseconds())
  }
}

extension Member {
  /// When this device's last head was written, by its own clock, in milliseconds since 1970.
  fileprivate var ownTime: UInt64? {
    heads.withLock { $0.last(of: context.device.id)?.head.time.milliseconds }
  }

  /// When the newest head of another device was written that can be believed, in milliseconds since 1970.
  fileprivate var timeOfOthers: UInt64? {
    heads.withLock { $0.timeOfOthers(than: context.device.id, by: context.clock) }
  }
}

extension HeadsState {
  /// When the newest head of another device than this one was written that this clock believes, in milliseconds since 1970.
  func timeOfOthers(than own: DeviceID, by clock: WallClock) -> UInt64? {
    (Array(loaded.values) + takenOver.values).filter { $0.device != own }.map(\.head.time)
      .filter(clock.believes).max()?.milliseconds
  }
}
