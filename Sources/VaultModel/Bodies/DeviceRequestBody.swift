/// The body of `people/<person>/requests/<device>`: a new machine asks to become a device of the person.
package struct DeviceRequestBody: Hashable, WireMessage {
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

  package static let what: StaticString = "device request"
  package static let blank = DeviceRequestBody(
    person: .zero, device: .zero, signingPublicKey: [], agreementPublicKey: [], consent: [],
    time: 0,
    sealed: .blank)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &person, "person")
    try fields.id(2, &device, "device")
    try fields.bytes(3, &signingPublicKey, "signing public key", exactly: KeySize.publicKey)
    try fields.bytes(
      4, &agreementPublicKey, "agreement public key", exactly: KeySize.agreementPublicKey)
    try fields.time(5, &time, "time")
    try fields.message(6, &sealed)
    try fields.bytes(7, &consent, "consent", exactly: KeySize.signature)
    fields.unknown(&unknown)
  }
}

/// What a new machine says of itself to the device that is to approve it.
package struct DeviceRequest: Hashable, WireMessage {
  package var deviceName: String
  package var deviceKind: String
  package var unknown: UnknownFields

  package init(deviceName: String, deviceKind: String, unknown: UnknownFields = .none) {
    self.deviceName = deviceName
    self.deviceKind = deviceKind
    self.unknown = unknown
  }

  package static let what: StaticString = "device request"
  package static let blank = DeviceRequest(deviceName: "", deviceKind: "")

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.text(1, &deviceName, "device name")
    try fields.text(2, &deviceKind, "device kind")
    fields.unknown(&unknown)
  }
}
