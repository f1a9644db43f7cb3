import BlobStore
import VaultErrors
import VaultModel

/// How far this machine's clock has come while the vault was used on it: a clock that jumped ahead looks like a vault that
/// nobody has used for as long. Docs/Format.md, "This machine's state", `clock`.
extension StateFolder {
  private static let clockTitle = "kinvault clock 1"
  private static let clockPath: BlobPath = "clock"
  /// It is written no more often, in milliseconds.
  private static let clockInterval: UInt64 = 3_600_000

  /// The last use of the vault before a leap of the clock, in milliseconds since 1970; nil where nothing whole is noted: it is
  /// lost without harm.
  ///
  /// - Throws: Why what is noted cannot be read.
  package func clockSeen() throws(VaultError) -> UInt64? {
    let bytes: [UInt8]?
    do { bytes = try readIfThere(Self.clockPath, limit: 4 << 10) } catch {
      guard error.isDamage else { throw error }
      return nil
    }
    guard let bytes,
      let values = ChecksummedLines(decoding: bytes, title: Self.clockTitle)?.values(of: "seen"),
      let seen = UInt64(values[0])
    else { return nil }
    return min(seen, Limits.time)
  }

  /// The vault is used, and the clock says `now`. What comes after a leap is not noted before somebody says that the clock is
  /// right: else the first use after the leap would hide it.
  ///
  /// - Parameters:
  ///   - first: The last use, where none is noted; nil: then nothing is noted.
  ///   - told: When the vault was last used elsewhere, as far as that is known and the clock has come to it: where it is not far
  ///     before the clock, nobody has left the vault alone, and there is no leap.
  package func noteClock(
    _ now: UInt64, after first: UInt64? = nil, told: UInt64? = nil
  ) throws(VaultError) {
    let noted: UInt64?
    // What cannot be read is not written over, and keeps nobody from using the vault. Who asks whether there is a leap is told.
    do { noted = try clockSeen() } catch { return }
    guard let seen = noted ?? first else { return }
    let isLeap = ClockLeap(from: max(seen, told ?? 0), to: now) != nil
    if noted == nil {
      try storeClock(isLeap ? seen : now)
    } else if !isLeap, now > seen, now - seen >= Self.clockInterval {
      try storeClock(now)
    }
  }

  /// The clock says `now`, and that is right, or no leap.
  package func acceptClock(_ now: UInt64) throws(VaultError) {
    try storeClock(now)
  }

  private func storeClock(_ seen: UInt64) throws(VaultError) {
    let bytes = ChecksummedLines.encode(title: Self.clockTitle, ["seen \(seen)"])
    // Where that cannot be, it is only asked once more.
    try replaceIfWritable(Self.clockPath, bytes)
  }
}
