import VaultModel

extension WireReader {
  /// A time in milliseconds since 1970, within the year 9999.
  mutating func time() throws(ModelError) -> UInt64 {
    try number(limit: Limits.time, "a time is later than the year 9999")
  }

  mutating func number(
    limit: UInt64 = Limits.number, _ reason: String = "a number is too large"
  ) throws(ModelError) -> UInt64 {
    let value = try varint()
    guard value <= limit else { throw malformed(reason) }
    return value
  }

  /// One more id of a list that only goes up.
  mutating func appendAscending<ID: FixedBytes>(
    to list: inout [ID], limit: Int, _ field: StaticString
  ) throws(ModelError) {
    try Limits.check(list.count + 1, limit, field)
    let next: ID = try id(field)
    if let last = list.last, last >= next { throw malformed("\(field) is not in order") }
    list.append(next)
  }

  mutating func byteArray(limit: Int, _ field: StaticString) throws(ModelError) -> [UInt8] {
    let bytes = try bytesInPlace()
    try Limits.check(bytes.count, limit, field)
    return [UInt8](bytes)
  }

  /// `value`, or an error that names the field which is missing.
  func required<Value>(_ value: Value?, _ field: StaticString) throws(ModelError) -> Value {
    guard let value else { throw malformed("\(field) is missing") }
    return value
  }
}
