import BlobStore
import MachineState
import VaultErrors
import VaultModel

/// That a vault was unlocked on this machine, so that it is noted when its time is up: Docs/Format.md, "This machine's
/// state", `session`.
package struct SessionMark: Hashable, Sendable {
  /// When the key was last asked for, in milliseconds since 1970.
  package var used: UInt64
  /// How long it is kept from then, in milliseconds.
  package var timeout: UInt64

  private static let title = "kinvault session 1"
  private static let path: BlobPath = "session"

  static func load(state: StateFolder) throws(VaultError) -> SessionMark? {
    guard let bytes = try state.readIfThere(path, limit: 4 << 10) else { return nil }
    let lines = ChecksummedLines(decoding: bytes, title: title)
    guard let values = lines?.values(of: "used", "timeout"), let used = UInt64(values[0]),
      let timeout = UInt64(values[1])
    else { return nil }
    return SessionMark(used: min(used, Limits.time), timeout: min(timeout, Limits.time))
  }

  func store(state: StateFolder) throws(VaultError) {
    let bytes = ChecksummedLines.encode(
      title: Self.title, ["used \(used)", "timeout \(timeout)"])
    try storing(state.store.replace(Self.path, bytes, durably: false))
  }

  static func remove(state: StateFolder) throws(VaultError) {
    try storing(state.store.remove(path))
  }
}

extension StateFolder {
  /// The key is kept between commands from now on, for so long without use.
  package func noteSession(
    timeout: Duration, clock: WallClock = .system
  ) throws(VaultError) {
    let milliseconds = UInt64(clamping: timeout.components.seconds).multipliedReportingOverflow(
      by: 1000)
    try SessionMark(
      used: clock.milliseconds(), timeout: milliseconds.overflow ? Limits.time : milliseconds.0
    ).store(state: self)
  }

  /// The key was there, and its time begins anew. Says so on disk at most every ten seconds.
  package func noteSessionUse(clock: WallClock = .system) throws(VaultError) {
    guard var mark = try SessionMark.load(state: self) else { return }
    let now = clock.milliseconds()
    guard now < mark.used || now - mark.used >= 10_000 else { return }
    mark.used = now
    try mark.store(state: self)
  }

  /// The key is gone. Notes that in the audit log if there was one: by itself, when its time was up (or the machine was
  /// switched off), or as somebody asked for it.
  package func noteSessionEnd(
    byItself: Bool, clock: WallClock = .system
  ) throws(VaultError) {
    guard let mark = try SessionMark.load(state: self) else { return }
    try SessionMark.remove(state: self)
    let now = clock.milliseconds()
    // The last use is kept to ten seconds, and who forgets a key that was gone has not locked anything.
    guard byItself || mark.used + mark.timeout + 10_000 < now else {
      return try noteWithoutKeys(.lock, detail: "", clock: clock)
    }
    let end = min(now, mark.used + mark.timeout)
    try noteWithoutKeys(
      .lock, detail: "not used any more", clock: WallClock { end })
  }
}
