/// A file's time as the kernel gives it: seconds since 1970 and nanoseconds below one second.
package struct FileTimestamp: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var seconds: Int64
  /// 0 to 999,999,999.
  package var nanoseconds: UInt32

  package static let zero = FileTimestamp(seconds: 0, nanoseconds: 0)

  package init(seconds: Int64, nanoseconds: UInt32) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// Whole milliseconds since 1970 began; 0 before that. A file may have any time: what is after the year 9999 is its last
  /// second.
  package var milliseconds: UInt64 {
    let second = min(UInt64(max(0, seconds)), Limits.time / 1_000)
    return second * 1_000 + UInt64(nanoseconds / 1_000_000)
  }

  /// The time this many milliseconds after 1970 began.
  package init(milliseconds: UInt64) {
    seconds = Int64(milliseconds / 1_000)
    nanoseconds = UInt32(milliseconds % 1_000) * 1_000_000
  }

  package static func < (lhs: FileTimestamp, rhs: FileTimestamp) -> Bool {
    (lhs.seconds, lhs.nanoseconds) < (rhs.seconds, rhs.nanoseconds)
  }
}

extension FileTimestamp {
  static func decode(_ reader: WireReader) throws(ModelError) -> FileTimestamp {
    var reader = reader
    var time = FileTimestamp.zero
    while let tag = try reader.next() {
      switch tag {
      case .varint(1): time.seconds = try reader.zigzag()
      case .varint(2): time.nanoseconds = try reader.uint32()
      default: _ = try reader.skip(tag)
      }
    }
    guard time.nanoseconds < 1_000_000_000 else {
      throw reader.malformed("a time has a billion nanoseconds or more")
    }
    return time
  }

  func encode(_ field: Int, to writer: inout WireWriter) {
    guard self != .zero else { return }
    writer.message(field) {
      $0.zigzag(1, seconds)
      $0.varint(2, UInt64(nanoseconds))
    }
  }
}
