/// What a person knows of another one, and how they came to know that the keys are that one's.
package struct Acquaintance: Hashable, Sendable {
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

  init(_ message: Kinvault_V1_Acquaintance) throws(ModelError) {
    person = try message.person.id("person")
    name = message.name
    verification = Verification(message.verification)
    time = try message.time.time("time")
    unknown = message.unknown
  }

  var message: Kinvault_V1_Acquaintance {
    var message = Kinvault_V1_Acquaintance()
    message.person = person.data
    message.name = name
    message.verification = verification.message
    message.time = time
    message.unknown = unknown
    return message
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
  case other(Int)

  init(_ message: Kinvault_V1_Verification) {
    switch message {
    case .trustedOnFirstUse: self = .trustedOnFirstUse
    case .invitedInPerson: self = .invitedInPerson
    case .wordsCompared: self = .wordsCompared
    case .UNRECOGNIZED(let number): self = .other(number)
    }
  }

  var message: Kinvault_V1_Verification {
    switch self {
    case .trustedOnFirstUse: .trustedOnFirstUse
    case .invitedInPerson: .invitedInPerson
    case .wordsCompared: .wordsCompared
    case .other(let number): .UNRECOGNIZED(number)
    }
  }
}
