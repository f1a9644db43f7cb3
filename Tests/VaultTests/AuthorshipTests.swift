import BlobStore
import Notes
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

@testable import Vault

/// Whose a revision is: Docs/Format.md, "Whose a revision is".
@Suite struct AuthorshipTests {
  private let adults: Adults
  private let note: RecordID

  /// Anna and Ben, an editor, with a note that Anna wrote.
  init() throws {
    (adults, note) = try Adults.withNote()
  }

  private func authorship(at adult: Adults.Adult) throws -> Authorship {
    let emma = try #require(adult.emma)
    return try emma.authorship(of: #require(emma.entry(note)).revision)
  }

  private func signed(by adult: Adults.Adult) -> Authorship {
    .signed(.init(device: adult.vault.device, person: adult.id, standing: .counts))
  }

  /// Makes a revision out of the newest one at Ben's, as `change` says, and has Ben's signed head name it.
  private func forge(
    _ change: (inout RecordRevision, Member) throws -> [UInt8]
  ) throws {
    let member = try #require(adults.ben.emma)
    let counter = try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      let base = try #require(member.entry(note))
      var revision = try member.revision(base.revision)
      revision.version[adults.ben.vault.device] = writer.counter
      revision.time = writer.time
      revision.document?.content = .inline(Array("none known".utf8))
      revision.document?.size = 10
      revision.previous = [base.revision]
      let bytes = try change(&revision, member)
      let digest = try member.objects.write(
        .record, bytes, under: member.register.keys.current)
      writer.written[note] = RecordEntry(
        try RecordRevision(decoding: bytes), named: digest, summary: FrontMatterSummary())
      _ = try writer.finish()
      heads = writer.heads
      return writer.counter
    }
    #expect(counter > 0)
    try adults.meet()
    let emma = try #require(adults.anna.emma)
    // It counts: Ben may write, and his head names it.
    #expect(try emma.bytes(of: "record.md", in: note) == Array("none known".utf8))
  }

  // MARK: As it should be

  @Test func whoWroteItIsNamedOnEveryDevice() throws {
    #expect(try authorship(at: adults.anna) == signed(by: adults.anna))
    #expect(try authorship(at: adults.ben) == signed(by: adults.anna))
    try adults.ben.edit(note, "PENICILLIN: severe; nuts")
    try adults.meet()
    #expect(try authorship(at: adults.anna) == signed(by: adults.ben))
    let emma = try #require(adults.anna.emma)
    let all = try emma.history(of: note).map { try emma.authorship(of: $0.digest) }
    #expect(all == [signed(by: adults.ben), signed(by: adults.anna)])
  }

  @Test func aJoinSaysSoAndItsPartsAreSigned() throws {
    try adults.ben.edit(note, "PENICILLIN: severe; nuts")
    try adults.anna.edit(note, "PENICILLIN: severe; eggs")
    try adults.meet()
    _ = try #require(adults.anna.emma).joinConcurrent()
    try adults.meet()
    for adult in [adults.anna, adults.ben] {
      let emma = try #require(adult.emma)
      #expect(try authorship(at: adult) == .joined)
      let parts = try emma.revision(#require(emma.entry(note)).revision).previous
      let authors = Set(try parts.map { try emma.authorship(of: $0) })
      #expect(authors == [signed(by: adults.anna), signed(by: adults.ben)])
    }
  }

  @Test func aNewEpochChangesNoAuthor() throws {
    try adults.ben.edit(note, "PENICILLIN: severe; nuts")
    try adults.meet()
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    let emma = try #require(adults.anna.emma)
    let all = try emma.history(of: note).map { try emma.authorship(of: $0.digest) }
    #expect(all == [signed(by: adults.ben), signed(by: adults.anna)])
  }

  // MARK: Well-formed lies of an editor

  @Test func anothersNameAloneIsNoSignature() throws {
    try forge { revision, _ in
      revision.device = adults.anna.vault.device
      revision.signature = nil
      return revision.encode { _ in .zero }
    }
    #expect(try authorship(at: adults.anna) == .brought)
    #expect(try authorship(at: adults.ben) == .brought)
  }

  /// Anna's signature of what she wrote, under something else.
  @Test func aSignatureOfSomethingElseIsNone() throws {
    try forge { revision, _ in
      revision.device = adults.anna.vault.device
      return revision.encode { _ in .zero }
    }
    #expect(try authorship(at: adults.anna) == .brought)
  }

  /// Who signs is shown, not whom the revision names.
  @Test func whoeverSignsIsNamed() throws {
    let ben = adults.ben.vault.context
    let certificate = try ben.ownCertificate().id
    try forge { revision, member in
      revision.device = adults.anna.vault.device
      return revision.encodeSigned(by: certificate) { unsigned in
        ben.device.signingKey.sign(
          ben.binding.vault.signedMessage(ofRevision: unsigned, in: member.id))
      } storingPages: { _ in
        .zero
      }
    }
    #expect(try authorship(at: adults.anna) == signed(by: adults.ben))
  }

  /// Ben's key under Anna's certificate.
  @Test func anothersCertificateIsNoSignature() throws {
    let ben = adults.ben.vault.context
    let annas = try adults.anna.vault.context.ownCertificate().id
    try forge { revision, member in
      revision.encodeSigned(by: annas) { unsigned in
        ben.device.signingKey.sign(
          ben.binding.vault.signedMessage(ofRevision: unsigned, in: member.id))
      } storingPages: { _ in
        .zero
      }
    }
    #expect(try authorship(at: adults.anna) == .brought)
  }

  /// What Anna signed of one record, as a revision of another one; and of one member in another.
  @Test func aSignatureIsOfOneRecordOfOneMember() throws {
    let emma = try #require(adults.anna.emma)
    let entry = try #require(emma.entry(note))
    let bytes = try emma.objects.content(entry.revision, kind: .record)
    let unsigned = try #require(RecordRevision.signedPart(of: bytes))
    let anna = adults.anna.vault.context
    let vault = anna.binding.vault
    let signature = try #require(try emma.revision(entry.revision).signature)
    let key = anna.device.signingKey.publicKey
    func isRight(_ message: [UInt8]) -> Bool {
      verifySignature(of: message, signature: signature.bytes, publicKey: key)
    }
    #expect(isRight(vault.signedMessage(ofRevision: unsigned, in: emma.id)))
    let other = MemberID(root: vault.statementID(.root, body: []))
    #expect(!isRight(vault.signedMessage(ofRevision: unsigned, in: other)))
    #expect(!isRight(vault.signedMessage(ofRevision: unsigned + [0], in: emma.id)))
    #expect(!isRight(vault.signedMessage(.head, emma.id.bytes + Digest.sha256(unsigned).bytes)))
  }

  /// An unsigned join with made-up parents: Ben makes up two versions in the name of Anna's device, and the join that any
  /// device makes of them. It says that it was joined, and of whom nobody knows.
  @Test func anUnsignedJoinWithMadeUpParentsIsNobodys() throws {
    // So that Anna's device has reached the counter that he says.
    try adults.anna.write("Something else")
    try adults.meet()
    let anna = adults.anna.vault.device
    var parents: [ContentDigest] = []
    try forge { join, member in
      let base = try member.revision(join.previous[0])
      let parts = try [true, false].map { isBens in
        var part = base
        part.device = anna
        part.signature = nil
        part.previous = join.previous
        part.time = join.time
        part.document?.content = .inline(Array("none known".utf8))
        part.document?.size = 10
        part.document?.time = join.time
        part.version = base.version
        if isBens {
          part.version = join.version
        } else {
          part.version[anna] = base.version[anna] + 1
        }
        let bytes = part.encode { _ in .zero }
        let digest = try member.objects.write(
          .record, bytes, under: member.register.keys.current)
        return NamedRevision(try RecordRevision(decoding: bytes), named: digest)
      }
      parents = parts.map(\.digest)
      var merged = try Join.merge(
        parts[0], parts[1], load: { throw VaultError.missing(path: $0.hex) }
      ).merged
      return merged.encode { _ in .zero }
    }
    for adult in [adults.anna, adults.ben] {
      let emma = try #require(adult.emma)
      #expect(try authorship(at: adult) == .joined)
      #expect(try parents.map { try emma.authorship(of: $0) } == [.brought, .brought])
      #expect(try emma.authorsJoined(in: #require(emma.entry(note)).revision) == [.brought])
    }
    // Where her heads are lost, a repair takes nothing of it.
    let (emma, bens) = (try #require(adults.anna.emma), try #require(adults.ben.emma))
    for device in [adults.anna.vault.device, adults.ben.vault.device] {
      try adults.anna.store.remove(BlobPath(VaultPath.head(emma.id, device).string))
    }
    try adults.anna.stateStore.remove(BlobPath("heads/\(emma.id.hex)"))
    let forged = Set(parents + [try #require(bens.entry(note)).revision])
    try adults.anna.reopen()
    let report = try #require(try adults.anna.vault.repair().first)
    let left = report.unvouched.filter { forged.contains($0.digest) }
    #expect(Set(left.map(\.digest)) == forged)
    #expect(left.allSatisfy { [.notSigned, .unprovedJoin].contains($0.refusal) })
    let repaired = try #require(adults.anna.emma)
    #expect(try repaired.bytes(of: "record.md", in: note) == Array("PENICILLIN: severe".utf8))
  }

  /// The parts of a join may be joins: whoever asks is told of all that was signed.
  @Test func whoeverIsInAJoinOfJoinsIsNamed() throws {
    try adults.share(with: adults.carla, .editor)
    for (adult, text) in [(adults.anna, "eggs"), (adults.ben, "nuts"), (adults.carla, "milk")] {
      try adult.edit(note, "PENICILLIN: severe; \(text)")
    }
    try adults.meet()
    _ = try #require(adults.anna.emma).joinConcurrent()
    let emma = try #require(adults.anna.emma)
    let joined = try #require(emma.entry(note)).revision
    #expect(try emma.authorship(of: joined) == .joined)
    #expect(
      try emma.authorsJoined(in: joined)
        == [signed(by: adults.anna), signed(by: adults.ben), signed(by: adults.carla)])
  }

  /// A join that nobody's devices would make: it names two revisions and holds something else.
  @Test func aMadeUpJoinIsNone() throws {
    try adults.anna.edit(note, "PENICILLIN: severe; eggs")
    try adults.meet()
    try forge { revision, member in
      let older = try member.history(of: note).map(\.digest)
      revision.previous = Array(older.prefix(2)).sorted()
      revision.signature = nil
      return revision.encode { _ in .zero }
    }
    #expect(try authorship(at: adults.anna) == .brought)
  }

  /// A revision with one of the two fields is none, whoever's head names it.
  @Test func halfASignatureIsDamage() throws {
    let emma = try #require(adults.anna.emma)
    var revision = try emma.revision(#require(emma.entry(note)).revision)
    let whole = revision.encode { _ in .zero }
    let unsigned = try #require(RecordRevision.signedPart(of: whole))
    #expect(throws: ModelError.self) { try RecordRevision(decoding: unsigned) }
    #expect(try RecordRevision(decoding: whole).signature == revision.signature)
  }
}
