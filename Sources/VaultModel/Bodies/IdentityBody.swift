/// The body of `people/<person>/identity`: the current generation of a person's keys.
package struct IdentityBody: Hashable, Sendable {
  package var person: PersonID
  /// From 1; only grows.
  package var counter: UInt64
  /// The SHA-256 of the file that this one replaced; nil in the first.
  package var previous: FileHash?
  /// Ed25519, the first one; the person is its hash.
  package var rootPublicKey: [UInt8]
  /// The current one, from 1.
  package var generation: UInt32
  /// Ed25519, of this generation.
  package var signingPublicKey: [UInt8]
  /// X25519, of this generation.
  package var agreementPublicKey: [UInt8]
  package var recovery: RecoverySlot
  /// Milliseconds since 1970.
  package var time: UInt64
  package var past: [PastGeneration]
  /// The root keys that took the place of the one before, oldest first.
  package var successors: [RootSuccessor]
  package var removed: [RemovedDevice]
  package var unknown: UnknownFields

  package init(
    person: PersonID,
    counter: UInt64,
    previous: FileHash? = nil,
    rootPublicKey: [UInt8],
    generation: UInt32,
    signingPublicKey: [UInt8],
    agreementPublicKey: [UInt8],
    recovery: RecoverySlot,
    time: UInt64,
    past: [PastGeneration] = [],
    successors: [RootSuccessor] = [],
    removed: [RemovedDevice] = [],
    unknown: UnknownFields = .none
  ) {
    self.person = person
    self.counter = counter
    self.previous = previous
    self.rootPublicKey = rootPublicKey
    self.generation = generation
    self.signingPublicKey = signingPublicKey
    self.agreementPublicKey = agreementPublicKey
    self.recovery = recovery
    self.time = time
    self.past = past
    self.successors = successors
    self.removed = removed
    self.unknown = unknown
  }

  /// Every root key that the person has had, oldest first. That they follow one another is not checked by this.
  package var rootKeys: [[UInt8]] { [rootPublicKey] + successors.map(\.rootPublicKey) }

  /// The root key that signs the identity.
  package var newestRootKey: [UInt8] { successors.last?.rootPublicKey ?? rootPublicKey }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    try self.init(.decode(bytes, what: "identity"))
  }

  package func encoded() -> [UInt8] { message.canonicalBytes }

  init(_ message: Kinvault_V1_IdentityBody) throws(ModelError) {
    person = try message.person.id("person")
    counter = try message.counter.fromOne("counter")
    previous = try message.previous.optionalID("previous")
    rootPublicKey = try message.rootPublicKey.bytes(KeySize.publicKey, "root public key")
    generation = try message.generation.fromOne("generation")
    signingPublicKey = try message.signingPublicKey.bytes(KeySize.publicKey, "signing public key")
    agreementPublicKey = try message.agreementPublicKey.bytes(
      KeySize.publicKey, "agreement public key")
    recovery = try RecoverySlot(message.recovery)
    time = try message.time.time("time")
    past = try message.past.map { (past) throws(ModelError) in try PastGeneration(past) }
    successors = try message.successors.map { (key) throws(ModelError) in try RootSuccessor(key) }
    removed = try message.removed.map { (device) throws(ModelError) in try RemovedDevice(device) }
    unknown = message.unknown
  }

  var message: Kinvault_V1_IdentityBody {
    var message = Kinvault_V1_IdentityBody()
    message.person = person.data
    message.counter = counter
    message.previous = previous?.data ?? [].data
    message.rootPublicKey = rootPublicKey.data
    message.generation = generation
    message.signingPublicKey = signingPublicKey.data
    message.agreementPublicKey = agreementPublicKey.data
    message.recovery = recovery.message
    message.time = time
    message.past = past.map(\.message)
    message.successors = successors.map(\.message)
    message.removed = removed.map(\.message)
    message.unknown = unknown
    return message
  }
}

/// The public keys of a generation before the current one, and its master key for those who have the next.
package struct PastGeneration: Hashable, Sendable {
  /// From 1.
  package var generation: UInt32
  /// Ed25519.
  package var signingPublicKey: [UInt8]
  /// X25519.
  package var agreementPublicKey: [UInt8]
  /// Under the history key of the generation after it.
  package var wrappedMasterKey: [UInt8]
  package var unknown: UnknownFields

  package init(
    generation: UInt32,
    signingPublicKey: [UInt8],
    agreementPublicKey: [UInt8],
    wrappedMasterKey: [UInt8],
    unknown: UnknownFields = .none
  ) {
    self.generation = generation
    self.signingPublicKey = signingPublicKey
    self.agreementPublicKey = agreementPublicKey
    self.wrappedMasterKey = wrappedMasterKey
    self.unknown = unknown
  }

  init(_ message: Kinvault_V1_PastGeneration) throws(ModelError) {
    generation = try message.generation.fromOne("generation")
    signingPublicKey = try message.signingPublicKey.bytes(KeySize.publicKey, "signing public key")
    agreementPublicKey = try message.agreementPublicKey.bytes(
      KeySize.publicKey, "agreement public key")
    wrappedMasterKey = try message.wrappedMasterKey.bytes(KeySize.wrappedKey, "wrapped master key")
    unknown = message.unknown
  }

  var message: Kinvault_V1_PastGeneration {
    var message = Kinvault_V1_PastGeneration()
    message.generation = generation
    message.signingPublicKey = signingPublicKey.data
    message.agreementPublicKey = agreementPublicKey.data
    message.wrappedMasterKey = wrappedMasterKey.data
    message.unknown = unknown
    return message
  }
}
