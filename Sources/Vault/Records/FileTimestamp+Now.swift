import Glibc
import VaultModel

extension FileTimestamp {
  /// What the clock says.
  package static var now: FileTimestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTimestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(clamping: time.tv_nsec))
  }
}
