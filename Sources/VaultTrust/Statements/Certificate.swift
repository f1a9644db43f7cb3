import VaultCrypto
import VaultModel

/// A device of a person, by its own consent: `people/<person>/certificates/<id>`.
package struct Certificate: Hashable, Sendable {
  package var person: PersonID
  /// The closing that opened the generation in which it is given.
  package var generation: StatementID
  package var signingKey: VerifyingKey
  package var agreementKey: [UInt8]
  /// The device's signature: "I am a device of this person."
  package var consent: [UInt8]
  /// The certificate of the device that approved and signed this one; nil: the words did.
  package var approver: StatementID?
  package var time: UInt64
  /// What shows the new machine that its approver knew the words; no matter for the judgement.
  package var approval: [UInt8]

  package init(
    person: PersonID, generation: StatementID, signingKey: VerifyingKey,
    agreementKey: [UInt8] = [], consent: [UInt8] = [], approver: StatementID? = nil,
    time: UInt64 = 0, approval: [UInt8] = []
  ) {
    self.person = person
    self.generation = generation
    self.signingKey = signingKey
    self.agreementKey = agreementKey
    self.consent = consent
    self.approver = approver
    self.time = time
    self.approval = approval
  }

  package var device: DeviceID {
    DeviceID(signingPublicKey: signingKey.bytes, agreementPublicKey: agreementKey)
  }

  /// What the device signs to be one of this person's.
  package var consentBody: [UInt8] { person.bytes + device.bytes }
}

extension Certificate: WireMessage {
  package static let what: StaticString = "certificate"
  package static let byteLimit = StatementLimits.certificateBytes
  package static let blank = Certificate(person: .zero, generation: .zero, signingKey: .zero)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &person, "person")
    try fields.id(2, &generation, "generation")
    try fields.id(3, &signingKey, "signing public key")
    try fields.bytes(
      4, &agreementKey, "agreement public key", counts: 0...StatementLimits.agreementKeyBytes)
    try fields.bytes(5, &consent, "consent", counts: 0...SignedFile.signatureSize)
    try fields.idIfThere(6, &approver, "approver")
    try fields.time(7, &time, "time")
    try fields.bytes(8, &approval, "approval", counts: 0...StatementLimits.approvalBytes)
  }
}
