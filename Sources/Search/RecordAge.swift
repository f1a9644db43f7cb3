import Vault
import VaultModel

/// By what a record is newer than another: its date, or where it has none the one that its title begins with, or the day of
/// its last change.
package struct RecordAge: Comparable, Sendable {
  /// The first ten digits and hyphens of its date, or of the day of its last change.
  private let day: UInt64
  private let time: UInt64
  private let record: RecordID

  package init(_ entry: RecordEntry) {
    let date = entry.ownDate
    day = Self.key(
      (date.isEmpty ? CivilTime(milliseconds: entry.time.milliseconds).date : date).utf8)
    (time, record) = (entry.time.milliseconds, entry.record)
  }

  package static func < (first: RecordAge, second: RecordAge) -> Bool {
    (first.day, first.time, first.record) < (second.day, second.time, second.record)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// `2025-01` comes after all of 2024 and before `2025-01-01`.
  private static func key(_ date: some Sequence<UInt8>) -> UInt64 {
    var key: UInt64 = 0
    var count = 0
    for byte in date.prefix(10) {
      key = key << 4 | (isDigit(byte) ? UInt64(byte - 0x2F) : 0)
      count += 1
    }
    return key << UInt64(4 * (10 - count))
  }
}
