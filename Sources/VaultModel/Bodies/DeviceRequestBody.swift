/// The body of `people/<person>/requests/<device>`: a new machine asks to become a device of the person.
package struct DeviceRequestBody: Hashable, Sendable {
  package var person: PersonID
  package var device: DeviceID
  /// Ed25519, of the device.
  package var signingPublicKey: [UInt8]
  /// X-Wing, of the device.
  package var agreementPublicKey: [UInt8]
  /// The device's signature: "I am a device of this person."
  package var consent: [UInt8]
  /// Milliseconds since 1970.
  package var time: UInt64
  /// A `DeviceRequest`, under the key that the eight words give.
  package var sealed: Sealed
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    device: DeviceID,
    signingPublicKey: [UInt8],
    agreementPublicKey: [UInt8],
    consent: [UInt8],
    time: UInt64,
    sealed: Sealed,
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.device = device
    self.signingPublicKey = signingPublicKey
    self.agreementPublicKey = agreementPublicKey
    self.consent = consent
    self.time = time
    self.sealed = sealed
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "device request"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_DeviceRequestBody) throws(ModelError) {
    person = try message.person.id("person")
    device = try message.device.id("device")
    signingPublicKey = try message.signingPublicKey.bytes(KeySize.publicKey, "signing public key")
    agreementPublicKey = try message.agreementPublicKey.bytes(
      KeySize.agreementPublicKey, "agreement public key")
    consent = try message.consent.bytes(KeySize.signature, "consent")
    time = try message.time.time("time")
    sealed = try Sealed(message.sealed)
    unknown = message.unknown
  }

  var message: Kinvault_V1_DeviceRequestBody {
    var message = Kinvault_V1_DeviceRequestBody()
    message.person = person.data
    message.device = device.data
    message.signingPublicKey = signingPublicKey.data
    message.agreementPublicKey = agreementPublicKey.data
    message.consent = consent.data
    message.time = time
    message.sealed = sealed.message
    message.unknown = unknown
    return message
  }
}

/// What a new machine says of itself to the device that is to approve it.
package struct DeviceRequest: Hashable, Sendable {
  package var deviceName: String
  package var deviceKind: String
  package var unknown: UnknownFields

  package init(deviceName: String, deviceKind: String, unknown: UnknownFields = .none) {
    self.deviceName = deviceName
    self.deviceKind = deviceKind
    self.unknown = unknown
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    let message: Kinvault_V1_DeviceRequest = try .decode(bytes, what: "device request")
    deviceName = message.deviceName
    deviceKind = message.deviceKind
    unknown = message.unknown
  }

  package func encoded() -> [UInt8] {
    var message = Kinvault_V1_DeviceRequest()
    message.deviceName = deviceName
    message.deviceKind = deviceKind
    message.unknown = unknown
    return message.canonicalBytes
  }
}
