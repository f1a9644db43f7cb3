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
    let generation = try person.known.generation
    #expect(
      try agreementPublicKey(of: person.agreementKey(generation: generation))
        == person.known.agreementPublicKey(generation: generation))
  }

  @Test func theWordsVouchForTheDevice() throws {
    let profile = try vault.profile(of: certificate(), person: person)
    #expect(try !profile.text(1).isEmpty)
  }

  @Test func passwordOpensTheSameMasterKey() throws {
    let slot = try DeviceSlot(vault: vault)
    let generation = try person.known.generation
    #expect(
      try slot.masterKey(generation: generation, certificate: certificate(), in: vault)
        == person.masterKey(generation: generation))
  }

  @Test func membersHaveTheNamesOfTheirRoots() throws {
    let members = try vault.names(in: "members")
    #expect(members.count == 2)
    for member in members {
      let root = try Access.root(member, in: vault, people: vault.people())
      #expect(try root.bytes(3).count == 32)
    }
  }

  @Test func everyFileReadsAsItWasWritten() throws {
    struct Expectation: Decodable {
      let format: Int
      let members: [MemberDescription]
    }
    let json = try Data(contentsOf: FrozenVault.fixtures.appending(path: "2.expected.json"))
    let expected = try JSONDecoder().decode(Expectation.self, from: json)
    let found = try vault.names(in: "members").map {
      try #require(try MemberReader($0, of: vault, as: person)).description()
    }

    #expect(expected.format == 2)
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
    let device = try PublicPerson.device(of: certificate)
    let key = vault.primitives.derive(
      try person.masterKey(generation: person.known.generation), "audit")
    let numbers = try vault.names(in: "audit/\(device.hex)").compactMap(UInt64.init).sorted()
    #expect(!numbers.isEmpty)
    var previous: [UInt8] = []
    for number in numbers {
      let path = "audit/\(device.hex)/\(number)"
      let file = try vault.file(path)
      let body = try vault.primitives.verified(file, "audit", path: path) { _, _ in
        try certificate.bytes(3)
      }
      #expect(try body.bytes(1) == person.id && body.bytes(2) == device)
      #expect(try body.number(3) == number)
      #expect(try body.bytes(4) == previous)
      let events = try vault.primitives.opened(
        try body.message(6), key: key, label: "audit", path: path, counter: number
      ).messages(1)
      #expect(try events.allSatisfy { try !$0.text(2).isEmpty })
      #expect(!events.isEmpty)
      previous = file.sha256
    }
  }

  @Test func objectWithAFlippedByteIsRefused() throws {
    let reader = try reader(try vault.names(in: "members")[0])
    let entry = try #require(try reader.entries().values.first)
    let digest = try entry.bytes(6)
    let file = try vault.file(reader.path(of: digest))
    _ = try reader.objects.content(of: file, digest: digest, kind: .record)
    for position in file.indices {
      var copy = file
      copy[position] ^= 1
      #expect(throws: (any Error).self) {
        try reader.objects.content(of: copy, digest: digest, kind: .record)
      }
    }
    #expect(throws: (any Error).self) {
      try reader.objects.content(of: file.dropLast(), digest: digest, kind: .record)
    }
  }

  @Test func signedFileWithAFlippedByteIsRefused() throws {
    let folder = "people/\(person.id.hex)/closings"
    let file = try vault.file("\(folder)/\(try vault.onlyName(in: folder))")
    let root = try vault.rootPublicKey()
    for position in file.indices {
      var copy = file
      copy[position] ^= 1
      #expect(throws: (any Error).self) {
        try vault.primitives.statement(copy, "closing") { _ in root }
      }
    }
  }

  @Test(arguments: [(0, 480), (480, 480), (481, 496), (10_240, 10_240), (1_048_576, 1_048_576)])
  func paddingIsThatOfTheTable(length: Int, padded: Int) {
    #expect(ObjectReader.padded(length) == padded)
  }
}
