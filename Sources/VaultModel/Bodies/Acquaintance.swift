/// What a person knows of another one, and how they came to know that the keys are that one's.
package struct Acquaintance: Hashable, WireMessage {
  package var person: PersonID
  /// What they are called; may be empty.
  package var name: String
  package var verification: Verification
  /// Of the last change, in milliseconds since 1970.
  package var time: UInt64
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    name: String,
    verification: Verification,
    time: UInt64,
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.name = name
    self.verification = verification
    self.time = time
    self.unknown = unknown
  }

  package static let what: StaticString = "acquaintance"
  package static let blank = Acquaintance(
    person: .zero, name: "", verification: .trustedOnFirstUse, time: 0)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &person, "person")
    try fields.text(2, &name, "name")
    var number = verification.number
    try fields.number(3, &number, "verification")
    verification = Verification(number: number)
    try fields.time(4, &time, "time")
    fields.unknown(&unknown)
  }
}

/// How sure a person is that someone's keys are theirs.
package enum Verification: Hashable, Sendable {
  /// Nothing but the folder says so: whoever controlled it when the person first showed could have made them up.
  case trustedOnFirstUse
  /// They knew a secret that was handed over in person.
  case invitedInPerson
  /// Both read the same six words.
  case wordsCompared
  /// What a newer version calls something else; kept as it is.
  case other(UInt64)

  fileprivate init(number: UInt64) {
    switch number {
    case 0: self = .trustedOnFirstUse
    case 1: self = .invitedInPerson
    case 2: self = .wordsCompared
    default: self = .other(number)
    }
  }

  fileprivate var number: UInt64 {
    switch self {
    case .trustedOnFirstUse: 0
    case .invitedInPerson: 1
    case .wordsCompared: 2
    case .other(let number): number
    }
  }
}
