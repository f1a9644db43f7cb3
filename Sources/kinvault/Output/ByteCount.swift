/// Numbers of bytes as people read them.
enum ByteCount {
  /// `812 B`, `3.4 MB`: in powers of ten, as disks are sold.
  static func text(_ count: UInt64) -> String {
    if count < 1000 { return "\(count) B" }
    var value = Double(count)
    var unit = 0
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    while value >= 999.5, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    return value < 9.95
      ? "\(tenths(value)) \(units[unit])" : "\(Int(value.rounded())) \(units[unit])"
  }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

/// `1 file`, `2 files`.
func counted(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
  count == 1 ? "1 \(one)" : "\(count) \(many ?? one + "s")"
}

/// Number and noun of records, for people: a folder is a record like any other, whether somebody has given it a type or not.
func countedRecords(_ count: some BinaryInteger) -> String {
  counted(count, "record or folder", "records and folders")
}
