/// What goes through the fields of a `WireMessage`: a `FieldDecoder` puts what it reads into each value, a
/// `FieldEncoder` writes what stands in it.
///
/// `name` is what errors call the field. A field of which a message has several keeps the last one, and those before have
/// to be right as well. Only a decoder looks at counts, limits, orders and checks.
package protocol FieldVisitor {
  /// A `uint32`, `uint64` or enumeration; 0 where it is absent.
  ///
  /// - Parameter check: Gives the error to refuse a number with.
  mutating func number(
    _ field: Int, _ value: inout UInt64, _ name: StaticString, check: (UInt64) -> ModelError?
  ) throws(ModelError)

  /// A field of bytes; none where it is absent.
  mutating func bytes(
    _ field: Int, _ value: inout [UInt8], _ name: StaticString, counts: ClosedRange<Int>
  ) throws(ModelError)

  /// As many fields of bytes as there are, `limit` at most.
  mutating func bytes(
    _ field: Int, _ value: inout [[UInt8]], _ name: StaticString, limit: Int,
    counts: ClosedRange<Int>
  ) throws(ModelError)

  /// Text; empty where it is absent.
  ///
  /// - Parameter limit: Of its UTF-8, in bytes.
  mutating func text(
    _ field: Int, _ value: inout String, _ name: StaticString, limit: Int
  ) throws(ModelError)

  /// An id that has to be there.
  mutating func id<ID: FixedBytes>(
    _ field: Int, _ value: inout ID, _ name: StaticString
  ) throws(ModelError)

  /// An id; nil where it is absent or empty.
  mutating func id<ID: FixedBytes>(
    _ field: Int, _ value: inout ID?, _ name: StaticString
  ) throws(ModelError)

  /// As many ids as there are, `limit` at most.
  ///
  /// - Parameter isAscending: Whether each has to be greater than the one before it.
  mutating func ids<ID: FixedBytes>(
    _ field: Int, _ value: inout [ID], _ name: StaticString, limit: Int, isAscending: Bool
  ) throws(ModelError)

  /// A message, written even if it is empty; one that is absent is read as an empty one.
  mutating func message<Message: WireMessage>(
    _ field: Int, _ value: inout Message
  ) throws(ModelError)

  /// As many messages as there are, `limit` at most, of those of which `isKnown` holds; others are passed over.
  mutating func messages<Message: WireMessage>(
    _ field: Int, _ value: inout [Message], _ name: StaticString, limit: Int,
    where isKnown: (Message) -> Bool
  ) throws(ModelError)

  /// All fields that were not visited before, as they stood.
  mutating func unknown(_ value: inout UnknownFields)
}

extension FieldVisitor {
  /// Any number.
  mutating func number(
    _ field: Int, _ value: inout UInt64, _ name: StaticString
  ) throws(ModelError) {
    try number(field, &value, name) { _ in nil }
  }

  /// A number of 32 bits.
  mutating func number(
    _ field: Int, _ value: inout UInt32, _ name: StaticString
  ) throws(ModelError) {
    var wide = UInt64(value)
    try number(field, &wide, name) { number in
      number <= UInt64(UInt32.max)
        ? nil : .malformed(what: "\(name)", reason: "it is above 32 bits")
    }
    value = UInt32(truncatingIfNeeded: wide)
  }

  /// A number to which one may be added.
  package mutating func count(
    _ field: Int, _ value: inout UInt64, _ name: StaticString
  ) throws(ModelError) {
    try number(field, &value, name) { number in
      number <= Limits.number ? nil : .malformed(what: "\(name)", reason: "it is too large")
    }
  }

  /// A number where counting starts at one.
  package mutating func ordinal(
    _ field: Int, _ value: inout UInt64, _ name: StaticString
  ) throws(ModelError) {
    try number(field, &value, name) { number in
      if number == 0 { return .malformed(what: "\(name)", reason: "it is zero or missing") }
      return number <= Limits.number ? nil : .malformed(what: "\(name)", reason: "it is too large")
    }
  }

  /// Milliseconds since 1970, until the end of the year 9999.
  package mutating func time(
    _ field: Int, _ value: inout UInt64, _ name: StaticString
  ) throws(ModelError) {
    try number(field, &value, name) { time in
      time <= Limits.time
        ? nil : .malformed(what: "\(name)", reason: "it is later than the year 9999")
    }
  }

  /// A hybrid time as a number.
  mutating func time(
    _ field: Int, _ value: inout HybridTime, _ name: StaticString
  ) throws(ModelError) {
    var number = value.rawValue
    try self.number(field, &number, name) { number in
      HybridTime(rawValue: number) <= .last
        ? nil : .malformed(what: "\(name)", reason: "it is later than the year 9999")
    }
    value = HybridTime(rawValue: number)
  }

  /// A field of exactly `count` bytes.
  mutating func bytes(
    _ field: Int, _ value: inout [UInt8], _ name: StaticString, exactly count: Int
  ) throws(ModelError) {
    try bytes(field, &value, name, counts: count...count)
  }

  /// Text of any length.
  mutating func text(
    _ field: Int, _ value: inout String, _ name: StaticString
  ) throws(ModelError) {
    try text(field, &value, name, limit: .max)
  }

  /// As many ids as there are.
  mutating func ids<ID: FixedBytes>(
    _ field: Int, _ value: inout [ID], _ name: StaticString
  ) throws(ModelError) {
    try ids(field, &value, name, limit: .max, isAscending: false)
  }

  /// An id; nil where it is absent. An empty one is none.
  package mutating func idIfThere<ID: FixedBytes>(
    _ field: Int, _ value: inout ID?, _ name: StaticString
  ) throws(ModelError) {
    var all = value.map { [$0] } ?? []
    try ids(field, &all, name)
    value = all.last
  }

  /// As many messages as there are, `limit` at most.
  package mutating func messages<Message: WireMessage>(
    _ field: Int, _ value: inout [Message], _ name: StaticString, limit: Int = .max
  ) throws(ModelError) {
    try messages(field, &value, name, limit: limit) { _ in true }
  }

  /// Bytes that may be absent, and are `count` where they are not.
  mutating func bytes(
    _ field: Int, _ value: inout [UInt8]?, _ name: StaticString, exactly count: Int
  ) throws(ModelError) {
    var stored = value ?? []
    try bytes(field, &stored, name, counts: 0...count)
    guard stored.isEmpty || stored.count == count else {
      throw .malformed(what: "\(name)", reason: "it has \(stored.count) bytes, not \(count)")
    }
    value = stored.isEmpty ? nil : stored
  }

  /// A file's name; nil where it is absent.
  mutating func fileName(
    _ field: Int, _ value: inout FileName?, _ name: StaticString
  ) throws(ModelError) {
    var stored = value?.bytes ?? []
    try bytes(field, &stored, name, counts: 0...Limits.nameBytes)
    guard !stored.isEmpty else { return value = nil }
    guard let read = FileName(stored) else {
      throw .malformed(what: "\(name)", reason: "it is not a file name")
    }
    value = read
  }

  /// A path in the vault's folder.
  mutating func path(
    _ field: Int, _ value: inout VaultPath, _ name: StaticString
  ) throws(ModelError) {
    var stored = value.string
    try text(field, &stored, name)
    guard let path = VaultPath(parsing: stored) else {
      throw .malformed(what: "\(name)", reason: "it is no path of the vault")
    }
    value = path
  }
}
