import Threads
import VaultModel

/// Keeps what is in memory of files that nobody has verified within bounds: a remote may show any number of them.
final class UnverifiedBytes: Sendable {
  /// More than the signed files of any family weigh that are news at one time.
  static let limit = 64 << 20
  private let left: Guarded<Int>

  init(limit: Int = UnverifiedBytes.limit) { left = Guarded(limit) }

  /// Reads one more signed file, which has at most `Limits.signedFileBytes`, if there is room for that.
  ///
  /// - Parameter read: nil counts for nothing.
  /// - Returns: False, and nothing was read, if there is none.
  func take(
    _ read: () throws(SyncError) -> [UInt8]?, then keep: ([UInt8]) -> Void
  ) throws(SyncError) -> Bool {
    let room = Limits.signedFileBytes
    let hasRoom = left.withLock { left in
      guard left >= room else { return false }
      left -= room
      return true
    }
    guard hasRoom else { return false }
    var used = 0
    defer { left.withLock { $0 += room - used } }
    if let bytes = try read() {
      used = bytes.count
      keep(bytes)
    }
    return true
  }

  /// So many bytes of what was read are not kept any more.
  func giveBack(_ byteCount: Int) { left.withLock { $0 += byteCount } }
}
