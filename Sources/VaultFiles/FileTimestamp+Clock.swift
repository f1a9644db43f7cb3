import Glibc
import VaultModel

extension FileTimestamp {
  /// What the clock says.
  static func now() -> FileTimestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTimestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(time.tv_nsec))
  }
}
