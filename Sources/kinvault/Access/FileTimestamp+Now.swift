import Glibc
import VaultModel

extension FileTimestamp {
  static var now: FileTimestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTimestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(clamping: time.tv_nsec))
  }

  /// Since 1970.
  var milliseconds: UInt64 {
    UInt64(clamping: seconds) * 1000 + UInt64(nanoseconds / 1_000_000)
  }
}
