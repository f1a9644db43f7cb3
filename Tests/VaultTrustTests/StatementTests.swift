import Fuzzing
import Testing
import VaultCrypto
import VaultModel
import VaultTrust

/// The bytes of statements: bodies as they stand, bounded numbers.
@Suite struct StatementTests {
  /// Both begin with the version and the label: a register's signature is to be none of a consent.
  @Test func noLabelIsForAStatementAndForAnotherFile() {
    for label in [FileLabel.request, .deviceRegister, .introduction, .audit] {
      #expect(SignedLabel(rawValue: label.rawValue) == nil, "\(label)")
    }
  }

  @Test func everyBodyComesBack() throws {
    let family = Family()
    for file in family.world.files.values {
      let body = try SignedFile(decoding: file.bytes).body
      let again: [UInt8]? =
        switch file.label {
        case .closing: try Closing(decoding: body).encoded()
        case .certificate: try Certificate(decoding: body).encoded()
        case .root: try MemberRoot(decoding: body).encoded()
        case .link: try Link(decoding: body).encoded()
        default: nil
        }
      #expect(again == body)
    }
    let full = Link(
      member: family.emma, person: family.ben.id, certificate: family.benDesk.certificate,
      place: family.bensPlace, follows: [family.benIn, family.start],
      changes: [
        .give(family.carl, .viewer, until: 5), .take(family.anna, to: .editor, until: 7),
        .handOver(family.carl.id), .offer(family.anna.id),
      ], epoch: .zero, wraps: [family.wrap(family.anna), family.wrap(family.ben, family.start)],
      time: 9, confirmed: [family.start])
    #expect(try Link(decoding: full.encoded()) == full)
    let agreement = Link(
      member: family.emma, person: family.ben.id, certificate: family.benDesk.certificate,
      place: nil, follows: [family.carlIn], changes: [.agree(family.ben.id)], time: 2)
    #expect(try Link(decoding: agreement.encoded()) == agreement)
    let head = HeadFile(
      member: family.emma, person: family.ben.id, certificate: family.benDesk.certificate,
      device: family.benDesk.id, counter: 4, previous: .zero, epoch: family.start,
      follows: [family.benIn, family.carlIn], sealed: [1, 2])
    #expect(try HeadFile(decoding: head.encoded()) == head)
    let closing = Closing(
      person: family.ben.id, follows: [family.start], rootKey: family.ben.words.publicKey,
      endorsements: [.init(rootKey: family.anna.words.publicKey, signature: [1])],
      agreementKey: [1], recovery: [2], stay: [family.benIn],
      counted: [family.carlIn, family.start],
      authored: [.zero, ContentDigest([UInt8](repeating: 1, count: 32))!],
      retracted: [family.start], past: [[7]], time: 3)
    #expect(try Closing(decoding: closing.encoded()) == closing)
  }

  /// A later program's fields are passed over; the statement is judged, and named, as it stands.
  @Test func unknownFieldsArePassedOver() throws {
    var family = Family()
    let link = Link(
      member: family.emma, person: family.anna.id, certificate: family.annaDesk.certificate,
      place: family.annasPlace, follows: [family.carlIn], changes: [.take(family.carl)])
    // Field 99, a number, and a change of a kind 7.
    let later = link.encoded() + [0x98, 0x06, 0x01] + [0x32, 0x02, 0x08, 0x07]
    #expect(try Link(decoding: later) == link)
    let plain = family.world.vault.statementID(.link, body: link.encoded())
    let id = family.world.add(.link, later, by: family.annaDesk.key)
    #expect(id != plain)
    #expect(family.world.trust().link(id, in: family.emma) == .counts)
    #expect(family.world.trust().role(family.carl, in: family.emma) == nil)
  }

  /// Fields stand in any order. The last one of a field that may stand once counts, and those before have to be right.
  @Test func ofFieldsInAnyOrderTheLastCountsAndEachIsRight() throws {
    let family = Family()
    let link = Link(
      member: family.emma, person: family.anna.id, certificate: family.annaDesk.certificate,
      place: family.annasPlace, follows: [family.carlIn], changes: [.take(family.carl)],
      epoch: .zero, wraps: [family.wrap(family.anna, family.start)], time: 5)
    let body = link.encoded()
    let member = 2 + MemberID.byteCount
    #expect(try Link(decoding: Array(body.dropFirst(member) + body.prefix(member))) == link)
    let other: [UInt8] = [0x0a, 32] + [UInt8](repeating: 7, count: 32)
    #expect(try Link(decoding: other + body) == link)
    // A member of one byte, an empty place, an empty change of a known kind, an empty epoch, a time after the last one.
    let wrong: [[UInt8]] = [
      [0x0a, 1, 7], [0x22, 0], [0x32, 2, 0x08, 1], [0x3a, 0],
      [0x48] + [UInt8](repeating: 0xff, count: 9) + [1],
    ]
    for field in wrong {
      #expect(throws: ModelError.self, "\(field)") { try Link(decoding: field + body) }
    }
    // Of a kind that nobody knows any number may stand.
    let unknown = Array(repeatElement([0x32, 2, 0x08, 7], count: 100).joined()) as [UInt8]
    #expect(try Link(decoding: unknown + body) == link)
  }

  @Test func listsOnlyGoUp() {
    let family = Family()
    var link = Link(
      member: family.emma, person: family.anna.id, certificate: family.annaDesk.certificate,
      place: family.annasPlace)
    for follows in [
      [family.start, family.start], [family.start, family.benIn].sorted().reversed(),
    ] {
      link.follows = follows
      #expect(throws: ModelError.self) { try Link(decoding: link.encoded()) }
    }
  }

  @Test func refusesChangesThatCannotStandInOneLink() {
    let family = Family()
    func refuses(_ place: Place?, _ changes: [Change], epoch: FileHash? = nil) {
      let link = Link(
        member: family.emma, person: family.ben.id, certificate: family.benDesk.certificate,
        place: place, changes: changes, epoch: epoch)
      #expect(throws: ModelError.self) { try Link(decoding: link.encoded()) }
    }
    let handOver = Change.handOver(family.carl.id)
    let agreement = Change.agree(family.ben.id)
    refuses(nil, [])
    refuses(nil, [.take(family.carl)])
    refuses(nil, [.take(family.ben), .take(family.ben)])
    refuses(nil, [.take(family.ben)], epoch: .zero)
    refuses(nil, [.take(family.ben, until: 1)])
    refuses(family.bensPlace, [.give(family.carl, .owner), .give(family.carl, .owner)])
    refuses(family.bensPlace, [.give(family.carl, .owner, until: 1)])
    refuses(family.bensPlace, [.take(family.carl, to: .owner)])
    refuses(family.bensPlace, [handOver, handOver])
    refuses(family.bensPlace, [.offer(family.carl.id), .offer(family.anna.id)])
    refuses(family.bensPlace, [agreement])
    // It would follow no offer, or be another person's.
    refuses(nil, [agreement])
    refuses(nil, [.agree(family.carl.id)])
  }

  @Test func refusesWhatIsAboveTheLimits() {
    let family = Family()
    func link(_ change: (inout Link) -> Void) -> [UInt8] {
      var link = Link(
        member: family.emma, person: family.ben.id, certificate: family.benDesk.certificate,
        place: family.bensPlace)
      change(&link)
      return link.encoded()
    }
    func ids(_ count: Int) -> [StatementID] {
      (0..<count).map { number in
        var bytes: [UInt8] = Array(repeating: 0, count: 32)
        (bytes[30], bytes[31]) = (UInt8(number >> 8), UInt8(number & 255))
        return StatementID(storage: Bytes32(exactly: bytes))
      }
    }
    #expect(throws: Never.self) { try Link(decoding: link { $0.follows = ids(1_024) }) }
    #expect(throws: ModelError.self) { try Link(decoding: link { $0.follows = ids(1_025) }) }
    #expect(throws: ModelError.self) { try Link(decoding: link { $0.confirmed = ids(4_097) }) }
    #expect(throws: ModelError.self) {
      try Link(
        decoding: link { $0.changes = Array(repeating: .give(family.carl, .viewer), count: 65) })
    }
    #expect(throws: ModelError.self) {
      try Link(
        decoding: link {
          $0.wraps = Array(repeating: family.wrap(family.carl), count: 1_025)
        })
    }
    let closing = Closing(
      person: family.ben.id, rootKey: family.ben.words.publicKey, stay: ids(1_025))
    #expect(throws: ModelError.self) { try Closing(decoding: closing.encoded()) }
  }

  /// Cut, flipped and random bytes: every one is refused or read, none traps.
  @Test func hostileBytesAreRefusedOrRead() throws {
    let family = Family()
    var random = SeededRandom(seed: 14)
    for file in family.world.files.values {
      let body = try SignedFile(decoding: file.bytes).body
      for _ in 0..<60 {
        var bytes = body
        for _ in 0...random.number(below: 3) {
          switch random.number(below: 3) {
          case 0: bytes = Array(bytes.prefix(random.number(below: bytes.count + 1)))
          case 1 where !bytes.isEmpty:
            bytes[random.number(below: bytes.count)] ^= 1 << UInt8(random.number(below: 8))
          default: bytes += (0..<4).map { _ in UInt8(random.number(below: 256)) }
          }
        }
        _ = try? Closing(decoding: bytes)
        _ = try? Certificate(decoding: bytes)
        _ = try? MemberRoot(decoding: bytes)
        _ = try? HeadFile(decoding: bytes)
        if let link = try? Link(decoding: bytes) { #expect(link.follows.count <= 1_024) }
      }
      for index in file.bytes.indices {
        var bytes = file.bytes
        bytes[index] ^= 1
        let world = Statements(
          vault: family.world.vault, files: [StatementFile(file.label, bytes)],
          check: TestKey.check)
        #expect(world.sound.isEmpty)
      }
    }
  }

  /// A statement of one kind, vault or key is none of another.
  @Test func signaturesServeOnePurposeOnly() {
    let family = Family()
    let files = Array(family.world.files.values)
    let elsewhere = Statements(vault: .zero, files: files, check: TestKey.check)
    #expect(elsewhere.sound.isEmpty)
    let others = files.filter { $0.label != .root }
    let expected = Statements(vault: family.world.vault, files: others, check: TestKey.check)
    for file in files where file.label == .root {
      let other = Statements(
        vault: family.world.vault, files: others + [StatementFile(.link, file.bytes)],
        check: TestKey.check)
      #expect(other.links == expected.links)
      #expect(other.broken.count == expected.broken.count + 1)
    }
  }

  /// Nobody is made a device of a person without agreeing to it.
  @Test func certificateNeedsTheDevicesConsent() {
    var family = Family()
    var certificate = Certificate(
      person: family.anna.id, generation: family.openings[family.anna] ?? .zero,
      signingKey: family.benDesk.key.publicKey)
    // Ben's device has agreed to be Ben's.
    certificate.consent = family.benDesk.key.sign(
      family.world.vault.signedMessage(
        .device, family.ben.id.bytes + certificate.device.bytes))
    let id = family.world.add(.certificate, certificate.encoded(), by: family.anna.words)
    let trust = family.world.trust()
    #expect(trust.statements.broken.values.contains(.consent))
    #expect(trust.device(id) == .unknown)
    #expect(trust.device(family.benDesk.certificate) == .counts)
  }

  /// What a stranger signs says nothing of which devices are Anna's, though the device agrees: neither as a device that
  /// approves another one, nor as words in a generation of their own.
  @Test func noOtherPersonsKeyGivesACertificate() {
    var family = Family()
    let eve = TestPerson("Eve")
    let hers = family.world.closing(of: eve)
    let desk = family.world.device("desk", of: eve, in: hers)
    let forged = [
      family.world.device(
        "approved one", of: family.anna, in: family.openings[family.anna] ?? .zero,
        approvedBy: desk),
      family.world.device("other one", of: family.anna, in: hers, words: eve.words),
    ]
    let trust = family.world.trust()
    #expect(trust.device(desk.certificate) == .counts)
    for device in forged { #expect(trust.device(device.certificate) == .unknown) }
    #expect(trust.statements.broken.count == forged.count)
  }
}
