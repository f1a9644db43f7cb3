import Crypto
import Foundation
import Testing

/// The format as Docs/Format.md tells it, read by a second implementation that shares no code with
/// the first.
@Suite struct FrozenVaultTests {
  private let vault: FrozenVault
  private let person: Person

  init() throws {
    vault = try FrozenVault()
    person = try vault.person()
  }

  private func reader(_ member: String) throws -> MemberReader {
    try #require(try MemberReader(member, of: vault, as: person))
  }

  /// That of the person's only device.
  private func certificate() throws -> WireMessage {
    let certificates = try vault.certificates(of: person.known)
    #expect(certificates.count == 1)
    return try #require(certificates.values.first)
  }

  @Test func wordsNameThePerson() throws {
    let id = PublicPerson.id(rootPublicKey: try vault.rootPublicKey())
    #expect(try vault.onlyName(in: "people") == id.hex)
  }

  @Test func wordsOpenTheRecoverySlot() throws {
    let signing = try Curve25519.Signing.PrivateKey(
      rawRepresentation: person.signingKey(generation: 1))
    #expect(
      try Array(signing.publicKey.rawRepresentation) == person.known.signingPublicKey(generation: 1)
    )
    let agreement = try Curve25519.KeyAgreement.PrivateKey(
      rawRepresentation: person.agreementKey(generation: 1))
    #expect(
      try Array(agreement.publicKey.rawRepresentation)
        == person.known.agreementPublicKey(generation: 1))
  }

  @Test func identityVouchesForTheDevice() throws {
    let profile = try vault.profile(of: certificate(), person: person)
    #expect(try !profile.text(1).isEmpty)
  }

  @Test func passwordOpensTheSameMasterKey() throws {
    let slot = try DeviceSlot(vault: vault)
    #expect(try slot.masterKey(certificate: certificate()) == person.masterKey(generation: 1))
  }

  @Test func membersHaveTheNamesOfTheirRoots() throws {
    let members = try vault.names(in: "members")
    #expect(members.count == 2)
    for member in members {
      let root = try Access.root(member, in: vault, people: vault.people())
      #expect(try root.bytes(3).count == 32)
    }
  }

  @Test(arguments: ["1", "1-small-blocks"]) func everyFileReadsAsItWasWritten(
    name: String
  ) throws {
    let vault = try FrozenVault(name)
    let person = try vault.person()
    struct Expectation: Decodable {
      let format: Int
      let members: [MemberDescription]
    }
    let json = try Data(contentsOf: FrozenVault.fixtures.appending(path: "\(name).expected.json"))
    let expected = try JSONDecoder().decode(Expectation.self, from: json)
    let found = try vault.names(in: "members").map {
      try #require(try MemberReader($0, of: vault, as: person)).description()
    }

    #expect(expected.format == 1)
    #expect(Set(found.map(\.name)) == Set(expected.members.map(\.name)))
    for member in expected.members {
      let records = try member.recordsByPath
      let foundRecords = try #require(found.first { $0.name == member.name }).recordsByPath
      #expect(Set(foundRecords.keys) == Set(records.keys))
      for (path, record) in records { #expect(foundRecords[path] == record) }
    }
  }

  @Test func auditSegmentsFormOneChain() throws {
    let certificate = try certificate()
    let device = try certificate.bytes(3)
    let key = vault.primitives.derive(try person.masterKey(generation: 1), "audit")
    let numbers = try vault.names(in: "audit/\(device.hex)").compactMap(UInt64.init).sorted()
    #expect(!numbers.isEmpty)
    var next: UInt64 = 1
    var previous: [UInt8] = []
    for number in numbers {
      let path = "audit/\(device.hex)/\(number)"
      let file = try vault.file(path)
      let body = try vault.primitives.verified(file, "audit", path: path) { _ in
        try certificate.bytes(4)
      }
      #expect(try body.bytes(1) == person.id && body.bytes(2) == device)
      #expect(try body.number(3) == number && number == next)
      #expect(try body.bytes(4) == previous)
      let events = try vault.primitives.opened(
        try body.message(6), key: key, label: "audit", path: path, counter: number
      ).messages(1)
      #expect(try events.allSatisfy { try !$0.text(2).isEmpty })
      next += UInt64(events.count)
      previous = file.sha256
    }
  }

  @Test func objectWithAFlippedByteIsRefused() throws {
    let reader = try reader(try vault.names(in: "members")[0])
    let entry = try #require(try reader.entries().values.first)
    let name = try entry.bytes(6)
    let file = try vault.file(reader.path(of: name))
    _ = try reader.objects.content(of: file, name: name, kind: .record)
    for position in file.indices {
      var copy = file
      copy[position] ^= 1
      #expect(throws: (any Error).self) {
        try reader.objects.content(of: copy, name: name, kind: .record)
      }
    }
    #expect(throws: (any Error).self) {
      try reader.objects.content(of: file.dropLast(), name: name, kind: .record)
    }
  }

  @Test func signedFileWithAFlippedByteIsRefused() throws {
    let path = "people/\(person.id.hex)/identity"
    let file = try vault.file(path)
    let root = try vault.rootPublicKey()
    for position in file.indices {
      var copy = file
      copy[position] ^= 1
      #expect(throws: (any Error).self) {
        try vault.primitives.verified(copy, "identity", path: path) { _ in root }
      }
    }
  }

  @Test(arguments: [(0, 480), (480, 480), (481, 496), (10_240, 10_240), (1_048_576, 1_048_576)])
  func paddingIsThatOfTheTable(length: Int, padded: Int) {
    #expect(ObjectReader.padded(length) == padded)
  }
}
