import Crypto
import Foundation

/// A person as everyone sees them: the identity, with the chain of root keys that ends in the one that signs it
/// (sections 5 and 17 of the format).
struct PublicPerson {
  let id: [UInt8]
  let identity: WireMessage
  /// The first one names the person, the last one counts.
  let rootKeys: [[UInt8]]
  let generation: UInt32
  let removedDevices: Set<[UInt8]>
  private let keys: [UInt32: (signing: [UInt8], agreement: [UInt8])]

  static func id(rootPublicKey: [UInt8]) -> [UInt8] {
    (Array("kinvault person".utf8) + [0] + rootPublicKey).sha256
  }

  init(file: [UInt8], id: [UInt8], primitives: Primitives) throws {
    let path = "people/\(id.hex)/identity"
    var rootKeys: [[UInt8]] = []
    identity = try primitives.verified(file, "identity", path: path) { body in
      rootKeys = try Self.rootKeys(of: body, path: path, primitives)
      return rootKeys[rootKeys.count - 1]
    }
    try Refused.unless(
      try identity.bytes(1) == id && id == Self.id(rootPublicKey: rootKeys[0])
        && identity.number(2) >= 1, "the identity")
    (self.id, self.rootKeys) = (id, rootKeys)
    generation = UInt32(truncatingIfNeeded: try identity.number(5))
    var keys = [generation: (try identity.bytes(6), try identity.bytes(7))]
    for past in try identity.messages(10) {
      keys[UInt32(truncatingIfNeeded: try past.number(1))] = (try past.bytes(2), try past.bytes(3))
    }
    self.keys = keys
    removedDevices = Set(try identity.messages(12).map { try $0.bytes(1) })
  }

  /// Each root key is signed by the one before it.
  private static func rootKeys(
    of body: WireMessage, path: String, _ primitives: Primitives
  ) throws -> [[UInt8]] {
    var keys = [try body.bytes(4)]
    for successor in try body.messages(11) {
      let new = try successor.bytes(1)
      let before = try Curve25519.Signing.PublicKey(rawRepresentation: keys[keys.count - 1])
      let message =
        Array("kinvault/1/successor".utf8) + [0] + primitives.vault + Array(path.utf8).sha256
        + UInt32(keys.count).bigEndianBytes + new
      try Refused.unless(
        before.isValidSignature(try successor.bytes(2), for: message), "a root key's successor")
      keys.append(new)
    }
    return keys
  }

  func signingPublicKey(generation: UInt64) throws -> [UInt8] {
    guard let keys = keys[UInt32(truncatingIfNeeded: generation)] else {
      throw Refused("generation \(generation)")
    }
    return keys.signing
  }

  func agreementPublicKey(generation: UInt64) throws -> [UInt8] {
    guard let keys = keys[UInt32(truncatingIfNeeded: generation)] else {
      throw Refused("generation \(generation)")
    }
    return keys.agreement
  }

  var generations: [UInt32] { keys.keys.sorted() }
}

/// A person whose words are in the fixture, with the keys that the words open.
struct Person {
  let known: PublicPerson
  /// The master keys of all generations.
  let masterKeys: [UInt32: [UInt8]]
  private let primitives: Primitives

  var id: [UInt8] { known.id }

  /// Opens the recovery slot with the words, and with its master key those of the generations before.
  init(_ known: PublicPerson, entropy: [UInt8], primitives: Primitives) throws {
    self.known = known
    self.primitives = primitives
    let slot = try known.identity.message(8)
    let seed = try argon2id(
      entropy, salt: slot.bytes(1), passes: slot.number(2), memoryKiB: slot.number(3))
    var newest = try unwrap(try slot.bytes(4), with: primitives.derive(seed, "recovery-kek"))
    var masterKeys = [known.generation: newest]
    let past = try known.identity.messages(10).sorted { try $0.number(1) > $1.number(1) }
    for generation in past {
      newest = try unwrap(
        try generation.bytes(4), with: primitives.derive(newest, "history"))
      masterKeys[UInt32(truncatingIfNeeded: try generation.number(1))] = newest
    }
    self.masterKeys = masterKeys
  }

  func masterKey(generation: UInt64) throws -> [UInt8] {
    guard let key = masterKeys[UInt32(truncatingIfNeeded: generation)] else {
      throw Refused("generation \(generation)")
    }
    return key
  }

  func signingKey(generation: UInt64) throws -> [UInt8] {
    primitives.derive(
      try masterKey(generation: generation), "identity-signing",
      context: UInt32(truncatingIfNeeded: generation).bigEndianBytes)
  }

  func agreementKey(generation: UInt64) throws -> [UInt8] {
    primitives.derive(
      try masterKey(generation: generation), "identity-agreement",
      context: UInt32(truncatingIfNeeded: generation).bigEndianBytes)
  }
}

extension FrozenVault {
  /// Everyone in the folder.
  func people() throws -> [[UInt8]: PublicPerson] {
    var people: [[UInt8]: PublicPerson] = [:]
    for name in try names(in: "people") {
      let id = try Array(hex: name)
      people[id] = try PublicPerson(
        file: try file("people/\(name)/identity"), id: id, primitives: primitives)
    }
    return people
  }

  func entropy(_ words: String = "words") throws -> [UInt8] {
    try RecoveryWords(
      String(decoding: try secret(words), as: UTF8.self), wordlist: Self.wordlist()
    ).entropy
  }

  /// The root public key of some words.
  func rootPublicKey(_ words: String = "words") throws -> [UInt8] {
    let seed = primitives.derive(try entropy(words), "root-signing")
    return Array(
      try Curve25519.Signing.PrivateKey(rawRepresentation: seed).publicKey.rawRepresentation)
  }

  /// Whose words these are: the person whose newest root key is theirs.
  func person(_ words: String = "words") throws -> Person {
    let root = try rootPublicKey(words)
    guard let known = try people().values.first(where: { $0.rootKeys.last == root }) else {
      throw Refused("nobody's words, or no more")
    }
    return try Person(known, entropy: try entropy(words), primitives: primitives)
  }

  // MARK: Devices

  /// The newest certificate of each device that counts, by device.
  func certificates(of person: PublicPerson) throws -> [[UInt8]: WireMessage] {
    var certificates: [[UInt8]: WireMessage] = [:]
    for generation in person.generations {
      let folder = "people/\(person.id.hex)/generations/\(generation)"
      for name in try names(in: folder) {
        let certificate = try certificate(
          of: person, generation: generation, path: "\(folder)/\(name)")
        certificates[try certificate.bytes(3)] = certificate
      }
    }
    return certificates.filter { !person.removedDevices.contains($0.key) }
  }

  private func certificate(
    of person: PublicPerson, generation: UInt32, path: String
  ) throws -> WireMessage {
    let body = try primitives.verified(try file(path), "certificate", path: path) { _ in
      try person.signingPublicKey(generation: UInt64(generation))
    }
    let id = try (Array("kinvault device".utf8) + [0] + body.bytes(4) + body.bytes(5)).sha256
    try Refused.unless(
      try body.bytes(1) == person.id && body.number(2) == UInt64(generation)
        && body.bytes(3) == id && path.hasSuffix("/\(id.hex)"), "the certificate")
    return body
  }

  /// What a device says of itself, sealed for its person.
  func profile(of certificate: WireMessage, person: Person) throws -> WireMessage {
    let path = "people/\(person.id.hex)/devices/\(try certificate.bytes(3).hex)"
    let body = try primitives.verified(try file(path), "device", path: path) { _ in
      try certificate.bytes(4)
    }
    try Refused.unless(
      try body.bytes(1) == person.id && body.bytes(2) == certificate.bytes(3), "the device")
    let master = try person.masterKey(generation: try body.number(5))
    return try primitives.opened(
      try body.message(6), key: primitives.derive(master, "profile"), label: "device", path: path,
      counter: try body.number(3))
  }
}
