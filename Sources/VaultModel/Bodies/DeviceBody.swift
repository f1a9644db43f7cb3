/// The body of `people/<person>/devices/<device>`.
package struct DeviceBody: Hashable, WireMessage {
  package var person: PersonID
  package var device: DeviceID
  /// From 1; only grows.
  package var counter: UInt64
  /// The SHA-256 of the file that this one replaced; nil in the first.
  package var previous: FileHash?
  /// The closing that opened the generation of the master key whose profile key seals `sealed`.
  package var generation: StatementID
  /// A `DeviceProfile`.
  package var sealed: Sealed
  /// Where the device's audit log ends; nil before it has one. Not sealed: others check its end as well.
  package var logEnd: LogEnd?
  /// The counter of the newest register, this one or one before it, that says something else than the one before it but
  /// where the log ends; 0 where that is not said.
  package var unchangedSince: UInt64
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    device: DeviceID,
    counter: UInt64,
    previous: FileHash? = nil,
    generation: StatementID,
    sealed: Sealed,
    logEnd: LogEnd? = nil,
    unchangedSince: UInt64 = 0,
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.device = device
    self.counter = counter
    self.previous = previous
    self.generation = generation
    self.sealed = sealed
    self.logEnd = logEnd
    self.unchangedSince = unchangedSince
    self.unknown = unknown
  }

  package static let what: StaticString = "device register"
  package static let blank = DeviceBody(
    person: .zero, device: .zero, counter: 0, generation: .zero, sealed: .blank)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &person, "person")
    try fields.id(2, &device, "device")
    try fields.ordinal(3, &counter, "counter")
    try fields.id(4, &previous, "previous")
    try fields.id(5, &generation, "generation")
    try fields.message(6, &sealed)
    var (next, newest) = (logEnd?.next ?? 0, logEnd?.newest)
    try fields.number(7, &next, "end of the log") { number in
      number <= Limits.number
        ? nil : .malformed(what: "the end of the log", reason: "it is too large")
    }
    try fields.id(8, &newest, "newest segment")
    logEnd = newest.flatMap { next == 0 ? nil : LogEnd(next: next, newest: $0) }
    try fields.number(9, &unchangedSince, "last change")
    fields.unknown(&unknown)
  }
}

/// Where a device's audit log ended when its register was written: whoever cuts off more than what came since shows.
package struct LogEnd: Hashable, Sendable {
  /// The number that the next segment is named by.
  package var next: UInt64
  /// The SHA-256 of the newest segment's file.
  package var newest: FileHash

  package init(next: UInt64, newest: FileHash) { (self.next, self.newest) = (next, newest) }
}
