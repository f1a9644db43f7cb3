import Crypto
import Foundation

/// A person whose words are in the fixture, with the keys that the words open.
struct Person {
  let known: PublicPerson
  /// The master keys of all generations, by the closing that opened each.
  let masterKeys: [[UInt8]: [UInt8]]
  private let primitives: Primitives

  var id: [UInt8] { known.id }

  /// Opens the recovery slot with the words, and with its master key those of the generations before.
  init(_ known: PublicPerson, entropy: [UInt8], primitives: Primitives) throws {
    self.known = known
    self.primitives = primitives
    let newest = try known.generation
    guard let closing = known.closings[newest] else { throw Refused("no open generation") }
    let slot = try closing.message(6)
    let seed = try argon2id(
      entropy, salt: slot.bytes(1), passes: slot.number(2), memoryKiB: slot.number(3))
    var keys = [
      newest: try unwrap(try slot.bytes(4), with: primitives.derive(seed, "recovery-kek"))
    ]
    var open = [newest]
    while let generation = open.popLast() {
      guard let key = keys[generation], let closing = known.closings[generation] else { continue }
      for (followed, wrapped) in zip(try closing.all(2), try closing.all(10))
      where keys[followed] == nil {
        keys[followed] = try unwrap(wrapped, with: primitives.derive(key, "history"))
        open.append(followed)
      }
    }
    masterKeys = keys
  }

  func masterKey(generation: [UInt8]) throws -> [UInt8] {
    guard let key = masterKeys[generation] else { throw Refused("generation \(generation.hex)") }
    return key
  }

  func agreementKey(generation: [UInt8]) throws -> [UInt8] {
    primitives.derive(try masterKey(generation: generation), "identity-agreement")
  }
}

extension FrozenVault {
  /// Everyone in the folder.
  func people() throws -> [[UInt8]: PublicPerson] {
    var people: [[UInt8]: PublicPerson] = [:]
    for name in try names(in: "people") {
      let id = try Array(hex: name)
      people[id] = try PublicPerson(
        id: id, closings: try statements("people/\(name)/closings"),
        certificates: try statements("people/\(name)/certificates"), primitives: primitives)
    }
    return people
  }

  private func statements(_ folder: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try names(in: folder) { files[name] = try file("\(folder)/\(name)") }
    return files
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

  /// Whose words these are: the person whose last root key is theirs.
  func person(_ words: String = "words") throws -> Person {
    let root = try rootPublicKey(words)
    guard let known = try people().values.first(where: { $0.lastKey == root }) else {
      throw Refused("nobody's words, or no more")
    }
    return try Person(known, entropy: try entropy(words), primitives: primitives)
  }

  // MARK: Devices

  /// A certificate of each device that counts, by device.
  func certificates(of person: PublicPerson) throws -> [[UInt8]: WireMessage] {
    var certificates: [[UInt8]: WireMessage] = [:]
    for (id, certificate) in person.certificates where person.counting.contains(id) {
      certificates[try PublicPerson.device(of: certificate)] = certificate
    }
    return certificates
  }

  /// What a device says of itself, sealed for its person.
  func profile(of certificate: WireMessage, person: Person) throws -> WireMessage {
    let device = try PublicPerson.device(of: certificate)
    let path = "people/\(person.id.hex)/devices/\(device.hex)"
    let body = try primitives.verified(try file(path), "device-register", path: path) { _, _ in
      try certificate.bytes(3)
    }
    try Refused.unless(
      try body.bytes(1) == person.id && body.bytes(2) == device, "the device")
    let master = try person.masterKey(generation: try body.bytes(5))
    return try primitives.opened(
      try body.message(6), key: primitives.derive(master, "profile"), label: "device-register",
      path: path,
      counter: try body.number(3))
  }
}
