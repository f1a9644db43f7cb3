/// The body of `people/<person>/generations/<n>/<device>`: a device belongs to a generation of a
/// person's keys, and can unwrap its master key.
package struct DeviceCertificateBody: Hashable, Sendable {
  package var person: PersonID
  /// From 1.
  package var generation: UInt32
  package var device: DeviceID
  /// Ed25519, of the device.
  package var signingPublicKey: [UInt8]
  /// X25519, of the device.
  package var agreementPublicKey: [UInt8]
  /// X25519, used for this one wrap.
  package var ephemeralPublicKey: [UInt8]
  /// For the device.
  package var wrappedMasterKey: [UInt8]
  /// Milliseconds since 1970.
  package var time: UInt64
  /// Of a device that was approved by words: sealed with the key that they give. Nil of every other.
  package var approval: Sealed?
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    generation: UInt32,
    device: DeviceID,
    signingPublicKey: [UInt8],
    agreementPublicKey: [UInt8],
    ephemeralPublicKey: [UInt8],
    wrappedMasterKey: [UInt8],
    time: UInt64,
    approval: Sealed? = nil,
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.generation = generation
    self.device = device
    self.signingPublicKey = signingPublicKey
    self.agreementPublicKey = agreementPublicKey
    self.ephemeralPublicKey = ephemeralPublicKey
    self.wrappedMasterKey = wrappedMasterKey
    self.time = time
    self.approval = approval
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "device certificate"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_DeviceCertificateBody) throws(ModelError) {
    person = try message.person.id("person")
    generation = try message.generation.fromOne("generation")
    device = try message.device.id("device")
    signingPublicKey = try message.signingPublicKey.bytes(KeySize.publicKey, "signing public key")
    agreementPublicKey = try message.agreementPublicKey.bytes(
      KeySize.publicKey, "agreement public key")
    ephemeralPublicKey = try message.ephemeralPublicKey.bytes(
      KeySize.publicKey, "ephemeral public key")
    wrappedMasterKey = try message.wrappedMasterKey.bytes(KeySize.wrappedKey, "wrapped master key")
    time = try message.time.time("time")
    approval = message.hasApproval ? try Sealed(message.approval) : nil
    unknown = message.unknown
  }

  var message: Kinvault_V1_DeviceCertificateBody {
    var message = Kinvault_V1_DeviceCertificateBody()
    message.person = person.data
    message.generation = generation
    message.device = device.data
    message.signingPublicKey = signingPublicKey.data
    message.agreementPublicKey = agreementPublicKey.data
    message.ephemeralPublicKey = ephemeralPublicKey.data
    message.wrappedMasterKey = wrappedMasterKey.data
    message.time = time
    if let approval { message.approval = approval.message }
    message.unknown = unknown
    return message
  }
}
