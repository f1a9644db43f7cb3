import Crypto
import Foundation

/// Reads `Fixtures/vaults/1` with nothing but its words, from the folder up to each member's keys.
struct FrozenVault {
  static let fixtures = repository.appending(path: "Fixtures/vaults")

  let primitives: Primitives
  private let folder = Self.fixtures.appending(path: "1")

  init() throws {
    struct Description: Decodable { let format, suite, vault: String, version: Int }
    let json = try Data(contentsOf: folder.appending(path: "vault.json"))
    let description = try JSONDecoder().decode(Description.self, from: json)
    try Refused.unless(
      description.format == "kinvault" && description.version == 1
        && description.suite == "AES256GCM-HMACSHA256-X25519-ED25519-ARGON2ID", "vault.json")
    primitives = Primitives(vault: try Array(hex: description.vault))
  }

  // MARK: The folder

  private static let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  func file(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: path)))
  }

  func names(in path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path).sorted()
  }

  /// The only name in the folder at `path`.
  func onlyName(in path: String) throws -> String {
    let names = try names(in: path)
    try Refused.unless(names.count == 1, "\(names.count) files in \(path)")
    return names[0]
  }

  // MARK: The person

  /// The person whose words are in the fixture, with the keys that the words open.
  struct Person {
    let id: [UInt8]
    let generation: UInt32
    let masterKey, signingKey, agreementKey: [UInt8]
    let signingPublicKey, agreementPublicKey: [UInt8]
  }

  func entropy() throws -> [UInt8] {
    let text = try String(
      contentsOf: Self.fixtures.appending(path: "1.secrets/words"), encoding: .utf8)
    let source = try String(
      contentsOf: Self.repository.appending(path: "Sources/VaultCrypto/Wordlist+English.swift"),
      encoding: .utf8)
    return try RecoveryWords(text, wordlist: RecoveryWords.wordlist(inSource: source)).entropy
  }

  /// The root public key of the words: it names the person.
  func rootPublicKey() throws -> [UInt8] {
    let seed = primitives.derive(try entropy(), "root-signing")
    return Array(
      try Curve25519.Signing.PrivateKey(rawRepresentation: seed).publicKey.rawRepresentation)
  }

  static func personID(rootPublicKey: [UInt8]) -> [UInt8] {
    (Array("kinvault person".utf8) + [0] + rootPublicKey).sha256
  }

  /// The identity of the person, signed by the root key.
  func identity() throws -> WireMessage {
    let root = try rootPublicKey()
    let id = Self.personID(rootPublicKey: root)
    let path = "people/\(id.hex)/identity"
    let body = try primitives.verified(try file(path), "identity", path: path) { _ in root }
    try Refused.unless(
      try body.bytes(1) == id && body.bytes(4) == root && body.number(2) >= 1, "the identity")
    return body
  }

  /// Opens the recovery slot with the words.
  func person() throws -> Person {
    let identity = try identity()
    let slot = try identity.message(8)
    let seed = try argon2id(
      try entropy(), salt: slot.bytes(1), passes: slot.number(2), memoryKiB: slot.number(3))
    let masterKey = try unwrap(
      try slot.bytes(4), with: primitives.derive(seed, "recovery-kek"))
    let generation = UInt32(truncatingIfNeeded: try identity.number(5))
    let context = generation.bigEndianBytes
    return Person(
      id: try identity.bytes(1), generation: generation, masterKey: masterKey,
      signingKey: primitives.derive(masterKey, "identity-signing", context: context),
      agreementKey: primitives.derive(masterKey, "identity-agreement", context: context),
      signingPublicKey: try identity.bytes(6), agreementPublicKey: try identity.bytes(7))
  }

  // MARK: The device

  /// The certificate of the person's only device, signed by their identity.
  func certificate(of person: Person) throws -> WireMessage {
    let folder = "people/\(person.id.hex)/generations/\(person.generation)"
    let path = "\(folder)/\(try onlyName(in: folder))"
    let body = try primitives.verified(try file(path), "certificate", path: path) { _ in
      person.signingPublicKey
    }
    let id = try (Array("kinvault device".utf8) + [0] + body.bytes(4) + body.bytes(5)).sha256
    try Refused.unless(
      try body.bytes(1) == person.id && body.number(2) == UInt64(person.generation)
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
    return try primitives.opened(
      try body.message(6), key: primitives.derive(person.masterKey, "profile"), label: "device",
      path: path, counter: try body.number(3))
  }

  // MARK: A member

  /// The member root's body: the member is named after its file.
  func root(ofMember member: String, creator: Person) throws -> WireMessage {
    let file = try file("members/\(member)/root")
    try Refused.unless(file.sha256.hex == member, "the member's name")
    let body = try primitives.verified(file, "root", path: "members/root") { _ in
      creator.signingPublicKey
    }
    try Refused.unless(
      try body.bytes(1) == creator.id && body.number(2) == UInt64(creator.generation), "the root")
    return body
  }

  /// The key of the member's first epoch, out of the grant that its creator gave themself.
  func memberKey(ofMember member: String, person: Person) throws -> [UInt8] {
    let path = "members/\(member)/grants/1-\(person.id.hex)/\(person.id.hex)"
    let body = try primitives.verified(try file(path), "grant", path: path) { _ in
      person.signingPublicKey
    }
    let memberID = try Array(hex: member)
    let generation = UInt64(person.generation)
    try Refused.unless(
      try body.bytes(1) == memberID && body.number(2) == 1 && body.bytes(3) == person.id
        && body.bytes(4) == person.id && body.number(5) == generation
        && body.bytes(6) == person.id && body.number(7) == generation && body.number(8) == 1,
      "the grant")
    let key = try primitives.wrapKey(
      person.agreementKey, person.agreementPublicKey, "grant-wrap", salt: memberID,
      context: UInt32(1).bigEndianBytes + person.id + person.id + person.id)
    return try unwrap(try body.bytes(9), with: key)
  }

  /// The head of the only device, opened.
  func head(ofMember member: String, certificate: WireMessage, objects: ObjectReader) throws
    -> WireMessage
  {
    let device = try certificate.bytes(3)
    let path = "members/\(member)/heads/\(device.hex)"
    let body = try primitives.verified(try file(path), "head", path: path) { _ in
      try certificate.bytes(4)
    }
    try Refused.unless(
      try body.bytes(1).hex == member && body.bytes(2) == device
        && body.bytes(5) == certificate.bytes(1) && body.number(6) == certificate.number(2)
        && body.bytes(7) == objects.keyID, "the head")
    return try primitives.opened(
      try body.message(8), key: objects.registerKey, label: "head", path: path,
      counter: try body.number(3))
  }
}
