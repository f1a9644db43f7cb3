import Foundation
import Testing

/// Two people, devices that came and went, words that were replaced, and access that was taken away, read from the folder as
/// Docs/Format.md tells it. `Scripts/freeze-shared-vault` says what happened.
@Suite struct FrozenSharedVaultTests {
  private let vault: FrozenVault
  private let anna: Person
  private let ben: Person

  init() throws {
    vault = try FrozenVault("2-shared")
    anna = try vault.person("words.anna")
    ben = try vault.person("words.ben")
  }

  /// Everything that a person may read, by member: the paths of records with their notes.
  private func readable(by person: Person) throws -> [String: [String: String]] {
    var members: [String: [String: String]] = [:]
    for member in try vault.names(in: "members") {
      guard let reader = try MemberReader(member, of: vault, as: person) else { continue }
      let description = try reader.description()
      members[description.name] = try reader.notes()
    }
    return members
  }

  @Test func eachReadsWhatIsSharedWithThem() throws {
    let liam = [
      "Before and after": "After.", "Penicillin": "A rash.",
      "By the laptop": "Added with eight words.",
    ]
    let maria = ["Анализ крови": "Гемоглобин 132 г/л."]
    let emma = [
      "COVID-19": "Left arm.", "From the phone": "Before it was lost.",
      "By whoever has it": "After it was removed.", "By Ben": "While he could.",
      "After Ben": "He does not read this.",
    ]
    let noah = ["Grows up": "Taller than his father."]
    #expect(
      try readable(by: anna) == ["Emma": emma, "Liam": liam, "Мария": maria, "Noah": noah])
    #expect(try readable(by: ben) == ["Liam": liam, "Мария": maria, "Noah": noah])
  }

  @Test func nothingIsLeftThatAnOldKeyOpens() throws {
    var collected = 0
    for member in try vault.names(in: "members") {
      let access = try Access(member, in: vault, people: vault.people())
      let current = try #require(try access.objects(of: anna, in: access.current)).keyID
      for folder in try vault.names(in: "members/\(member)/objects") {
        for name in try vault.names(in: "members/\(member)/objects/\(folder)") {
          let file = try vault.file("members/\(member)/objects/\(folder)/\(name)")
          #expect(Array(file[8..<16]) == current)
        }
      }
      // Ben had keys once, wherever he is shut out now.
      let earlier = access.epochs.epochs(of: ben.id).filter { $0 != access.current }
      #expect(!earlier.isEmpty)
      for epoch in earlier {
        // Wraps of an epoch that is over go. Whoever kept one opens nothing of now.
        if try !access.hasWrap(for: ben.id, of: epoch) {
          collected += 1
        } else {
          #expect(try access.objects(of: ben, in: epoch)?.keyID != current)
        }
      }
    }
    #expect(collected > 0)
  }

  @Test func rolesAreThoseThatWereGiven() throws {
    var roles: [String: [Access.Role?]] = [:]
    for member in try vault.names(in: "members") {
      let access = try Access(member, in: vault, people: vault.people())
      let name = try #require(try MemberReader(member, of: vault, as: anna)).description().name
      roles[name] = [access.role(of: anna.id), access.role(of: ben.id)]
    }
    #expect(
      roles == [
        "Emma": [.owner, nil], "Liam": [.owner, .owner], "Мария": [.owner, .viewer],
        // Whoever hands over stays an editor.
        "Noah": [.editor, .owner],
      ])
  }

  /// Noah's first place is Ben's by now, and his own comes after it.
  @Test func aPlaceThatWasHandedOverKeepsItsRank() throws {
    var owners: [String: [[[UInt8]]]] = [:]
    for member in try vault.names(in: "members") {
      let access = try Access(member, in: vault, people: vault.people())
      let name = try #require(try MemberReader(member, of: vault, as: anna)).description().name
      owners[name] = access.judge.places.map { $0.tenures.map(\.holder) }
    }
    let (a, b) = (anna.id, ben.id)
    #expect(owners["Noah"] == [[a, b], [b]])
    #expect(owners["Liam"] == [[a], [b]])
    #expect(owners["Emma"] == [[a]])
  }

  /// Anna removed her phone and Ben replaced his words, while neither heard of the other: each began an epoch of what both
  /// own.
  @Test func linksBesideEachOtherAreJudged() throws {
    var beside = 0
    for member in try vault.names(in: "members") {
      let access = try Access(member, in: vault, people: vault.people())
      #expect(access.links.count == access.judge.links.count)
      for one in access.links where one.body.has(7) {
        for other in access.links
        where other.body.has(7) && other.id != one.id && !one.past.contains(other.id)
          && !other.past.contains(one.id)
        {
          beside += 1
          #expect(one.person != other.person)
        }
      }
    }
    #expect(beside > 0)
  }

  @Test func whoWasTakenOutIsNamed() throws {
    var taken: [[UInt8]] = []
    for member in try vault.names(in: "members") {
      let access = try Access(member, in: vault, people: vault.people())
      taken += access.links.flatMap(\.changes).filter { $0.kind == .limit }.map(\.person)
    }
    #expect(taken == [ben.id])
  }

  // MARK: Generations

  @Test func theNewWordsSucceedTheFormerOnes() throws {
    let (former, new) = (
      try vault.rootPublicKey("words.anna-former"), try vault.rootPublicKey("words.anna")
    )
    #expect(anna.known.rootKeys == [former, new])
    #expect(anna.id == PublicPerson.id(rootPublicKey: former))
    #expect(throws: Refused.self) { try vault.person("words.anna-former") }
    // What the former words derive opens nothing of the new slot.
    #expect(throws: (any Error).self) {
      try Person(
        anna.known, entropy: try vault.entropy("words.anna-former"), primitives: vault.primitives)
    }
  }

  @Test func theNewestMasterKeyOpensAllBeforeIt() throws {
    #expect(anna.known.closings.count == 3 && anna.known.tips.count == 1)
    for generation in anna.known.closings.keys {
      #expect(
        try agreementPublicKey(of: anna.agreementKey(generation: generation))
          == anna.known.agreementPublicKey(generation: generation))
    }
  }

  @Test func aRemovedDeviceCountsNoMore() throws {
    let devices = try vault.certificates(of: anna.known)
    let names = try devices.values.map { try vault.profile(of: $0, person: anna).text(1) }
    #expect(Set(names) == ["desk", "laptop"])
    #expect(anna.known.certificates.count == 3 && anna.known.counting.count == 2)
  }

  @Test func aClosingThatSomeoneElseSignedIsRefused() throws {
    let folder = "people/\(anna.id.hex)/closings"
    for name in try vault.names(in: folder) {
      let file = try vault.file("\(folder)/\(name)")
      for position in stride(from: 0, to: file.count, by: 3) {
        var copy = file
        copy[position] ^= 1
        #expect(throws: (any Error).self) {
          try PublicPerson(
            id: anna.id, closings: [name: copy], certificates: [:], primitives: vault.primitives)
        }
      }
    }
  }

  // MARK: What was handed over outside of the vault

  @Test func theInvitationOpensTheIntroduction() throws {
    let invitation = try Invitation(vault.secretLine("invitation"))
    #expect(invitation.vault == vault.primitives.vault && invitation.inviter == anna.id)
    let path = "people/\(ben.id.hex)/introduction"
    let body = try vault.primitives.verified(try vault.file(path), "introduction", path: path) {
      try ben.known.signer(try $0.bytes(2), of: $1)
    }
    let id = vault.primitives.derive(invitation.secret, "invitation-id").prefix(8)
    #expect(try body.bytes(1) == ben.id && body.bytes(3) == Array(id))
    let key = vault.primitives.derive(
      invitation.secret, "introduction", context: invitation.inviter)
    let introduction = try vault.primitives.opened(
      try body.message(5), key: key, label: "introduction", path: path, counter: 0)
    #expect(try introduction.text(1) == "Ben")
  }

  @Test func theEightWordsOpenTheRequestAndTheApproval() throws {
    let key = try vault.approvalKey(vault.secretWords("approval"), person: anna.id)
    let device = try vault.onlyName(in: "people/\(anna.id.hex)/requests")
    let path = "people/\(anna.id.hex)/requests/\(device)"
    let body = try vault.primitives.verified(try vault.file(path), "request", path: path) {
      body, _ in try body.bytes(3)
    }
    #expect(
      try (Array("kinvault device".utf8) + [0] + body.bytes(3) + body.bytes(4)).sha256.hex == device
    )
    let request = try vault.primitives.opened(
      try body.message(6), key: key, label: "request", path: path, counter: 0)
    #expect(try request.text(1) == "laptop")
    let certificate = try #require(try vault.certificates(of: anna.known)[Array(hex: device)])
    let empty = try vault.primitives.opened(
      try certificate.message(8), key: key, label: "certificate", path: path, counter: 0)
    #expect(!empty.has(1))
  }

  @Test func bothComputeTheWordsThatTheyCompare() throws {
    // What one of them was shown stands before what the program says then.
    let shown = try Array(vault.secretWords("comparison").prefix(6))
    #expect(try vault.comparisonWords(anna.id, ben.id) == shown)
    #expect(try vault.comparisonWords(ben.id, anna.id) == shown)
  }

  @Test(arguments: ["desk", "tablet"])
  func thePasswordOpensTheMasterKey(machine: String) throws {
    let person = machine == "desk" ? anna : ben
    let slot = try DeviceSlot(vault: vault, state: machine)
    #expect(try slot.person == person.id)
    let certificate = try #require(try vault.certificates(of: person.known)[slot.deviceID])
    let generation = try person.known.generation
    #expect(
      try slot.masterKey(generation: generation, certificate: certificate, in: vault)
        == person.masterKey(generation: generation))
  }
}
