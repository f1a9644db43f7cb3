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

extension Certificate {
  package init(decoding body: [UInt8]) throws(ModelError) {
    self = try WireReader.read(body, what: "certificate", limit: StatementLimits.certificateBytes) {
      reader throws(ModelError) in try Certificate(from: &reader)
    }
  }

  private init(from reader: inout WireReader) throws(ModelError) {
    var person: PersonID?
    var generation: StatementID?
    var signingKey: VerifyingKey?
    var certificate = Certificate(person: .zero, generation: .zero, signingKey: .zero)
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): person = try reader.id("person")
      case .bytes(2): generation = try reader.id("generation")
      case .bytes(3): signingKey = try reader.id("signing public key")
      case .bytes(4):
        certificate.agreementKey = try reader.byteArray(
          limit: StatementLimits.agreementKeyBytes, "agreement public key")
      case .bytes(5):
        certificate.consent = try reader.byteArray(limit: SignedFile.signatureSize, "consent")
      case .bytes(6): certificate.approver = try reader.id("approver")
      case .varint(7): certificate.time = try reader.time()
      case .bytes(8):
        certificate.approval = try reader.byteArray(
          limit: StatementLimits.approvalBytes, "approval")
      default: _ = try reader.skip(tag)
      }
    }
    certificate.person = try reader.required(person, "person")
    certificate.generation = try reader.required(generation, "generation")
    certificate.signingKey = try reader.required(signingKey, "signing public key")
    self = certificate
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.id(1, person)
    writer.id(2, generation)
    writer.id(3, signingKey)
    writer.bytes(4, agreementKey)
    writer.bytes(5, consent)
    writer.id(6, approver)
    writer.varint(7, time)
    writer.bytes(8, approval)
    return writer.bytes
  }
}
