import BlobStore
import Notes
import Testing
import Threads
import VaultCrypto
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

@testable import Vault

/// What proves whose a revision is stays as long as the revision does, and nobody signs unawares what another has made:
/// Docs/Format.md, "Whose a revision is".
@Suite struct JoinProofTests {
  private let adults: Adults
  private let note: RecordID

  /// Anna and Ben, an editor, have changed a note of Anna's without hearing of each other, and it was joined.
  init() throws {
    (adults, note) = try Adults.withNote()
    try editApart()
  }

  private func editApart() throws {
    try adults.ben.edit(note, "PENICILLIN: severe; nuts")
    try adults.anna.edit(note, "PENICILLIN: severe; eggs")
    try adults.meet()
    _ = try #require(adults.anna.emma).joinConcurrent()
    try adults.meet()
  }

  private func entry(at adult: Adults.Adult) throws -> RecordEntry {
    let emma = try #require(adult.emma)
    return try #require(emma.entry(note))
  }

  private func authorship(at adult: Adults.Adult) throws -> Authorship {
    try #require(adult.emma).authorship(of: entry(at: adult).revision)
  }

  private func signed(by adult: Adults.Adult) -> Authorship {
    .signed(.init(device: adult.vault.device, person: adult.id, standing: .counts))
  }

  /// Whose the revisions are that are kept, the newest first.
  private func history(at adult: Adults.Adult) throws -> [Authorship] {
    let emma = try #require(adult.emma)
    return try emma.history(of: note).map { try emma.authorship(of: $0.digest) }
  }

  private func pass(days: UInt64) {
    for adult in adults.everyone { adult.clock.advance(days: days) }
  }

  /// Both collect, at once: they announce what is to go, see what the other one announces, and remove it.
  private func collectEverywhere(keepDays: Int) throws {
    for isLast in [false, true] {
      for adult in [adults.anna, adults.ben] {
        let report = try adult.vault.collect(
          keepDays: keepDays, acceptsClock: true, isDryRun: false)
        if isLast { #expect(report.objectCount > 0) }
      }
      if isLast { break }
      try adults.meet()
      for adult in [adults.anna, adults.ben] { try adult.write("What follows") }
      try adults.meet()
    }
  }

  // MARK: Joins

  @Test func aJoinKeepsWhatProvesIt() throws {
    let before = try entry(at: adults.anna)
    pass(days: 400)
    try collectEverywhere(keepDays: 90)
    for adult in [adults.anna, adults.ben] {
      // Collecting makes no revision: the same bytes and counters as before, on both.
      #expect(try entry(at: adult) == before)
      #expect(try authorship(at: adult) == .joined)
      let emma = try #require(adult.emma)
      let parts = try emma.revision(before.revision).previous
      let authors = try parts.map { try emma.authorship(of: $0) }
      #expect(Set(authors) == [signed(by: adults.anna), signed(by: adults.ben)])
      // What both went on from is not needed for that.
      #expect(try history(at: adult).count == 3)
      #expect(try adult.vault.check(readsData: true).hasDamage == false)
    }
  }

  /// A join of a join and a third revision is proved by all of them.
  @Test func aJoinOfAJoinKeepsWhatProvesBoth() throws {
    let old = try entry(at: adults.anna).revision
    let emma = try #require(adults.anna.emma)
    let bens = try #require(
      emma.revision(old).previous.first { try emma.revision($0).device == adults.ben.vault.device })
    let third = try forgeRevision(by: adults.ben, over: bens) {
      $0.document?.content = .inline(Array("PENICILLIN: severe; nuts and soy".utf8))
      $0.document?.size = 32
    }
    try adults.meet()
    _ = try emma.joinConcurrent()
    try adults.meet()
    let newest = try emma.revision(entry(at: adults.anna).revision)
    #expect(Set(newest.previous) == [old, third])
    pass(days: 400)
    try collectEverywhere(keepDays: 90)
    #expect(try authorship(at: adults.anna) == .joined)
    #expect(try emma.authorship(of: old) == .joined)
    #expect(try !history(at: adults.anna).contains(.brought))
  }

  /// Its parts are as old as it is then, and go with it.
  @Test func aJoinThatWasReplacedKeepsThemNoLonger() throws {
    pass(days: 400)
    try adults.anna.edit(note, "PENICILLIN: severe; nuts, eggs")
    try adults.meet()
    #expect(try history(at: adults.anna).count == 5)
    pass(days: 10)
    try collectEverywhere(keepDays: 90)
    // The join is kept, and proved.
    #expect(try history(at: adults.anna).count == 4)
    #expect(try !history(at: adults.anna).contains(.brought))
    pass(days: 400)
    try collectEverywhere(keepDays: 90)
    for adult in [adults.anna, adults.ben] {
      #expect(try history(at: adult) == [signed(by: adults.anna)])
    }
  }

  /// Who wants nothing to stay that is not current has that.
  @Test func nothingIsKeptWhereThePastIsToGo() throws {
    try collectEverywhere(keepDays: 0)
    #expect(try history(at: adults.anna) == [.brought])
  }

  /// What a deleted record held goes, whoever changed it last.
  @Test func aDeletedRecordKeepsNothing() throws {
    try adults.anna.edit(note, "PENICILLIN: mild")
    var deletion = RecordEdit(record: note)
    let standing = try entry(at: adults.ben)
    deletion.place = RecordPlace(
      parent: standing.parent, title: standing.title, isDeleted: true)
    _ = try #require(adults.ben.emma).commit([deletion])
    try adults.meet()
    let emma = try #require(adults.anna.emma)
    let tombstone = try entry(at: adults.anna)
    #expect(tombstone.isDeleted)
    #expect(try emma.revision(tombstone.revision).previous.count == 2)
    pass(days: 400)
    try collectEverywhere(keepDays: 90)
    #expect(try emma.history(of: note).count == 1)
  }

  /// A revision and one that it has replaced are joined by nobody: it would bring back what was removed in between.
  @Test func aJoinWithWhatWasReplacedIsNone() throws {
    try adults.anna.edit(note, "PENICILLIN: severe; nuts, eggs")
    try adults.meet()
    let emma = try #require(adults.anna.emma)
    let newest = try entry(at: adults.anna).revision
    let oldest = try #require(emma.history(of: note).last).digest
    let forged = try pages(emma.loadPage) { load in
      var merged = try Join.merge(
        NamedRevision(emma.revision(newest), named: newest),
        NamedRevision(emma.revision(oldest), named: oldest), load: load
      ).merged
      return merged.encode { _ in .zero }
    }
    let digest = try emma.objects.write(.record, forged, under: emma.register.keys.current)
    #expect(try emma.authorship(of: digest) == .brought)
  }

  /// What somebody makes up as a join of old revisions holds these no longer than it stays.
  @Test func aMadeUpJoinHoldsNothingOnceItIsReplaced() throws {
    let emma = try #require(adults.anna.emma)
    let oldest = try #require(emma.history(of: note).last).digest
    let current = try entry(at: adults.anna).revision
    _ = try forgeRevision(by: adults.ben, over: current) {
      $0.previous = [oldest, current].sorted()
      $0.signature = nil
    }
    try adults.meet()
    #expect(try authorship(at: adults.anna) == .brought)
    pass(days: 400)
    try adults.anna.edit(note, "PENICILLIN: severe; nuts, eggs")
    try adults.meet()
    pass(days: 400)
    try collectEverywhere(keepDays: 90)
    #expect(try history(at: adults.anna) == [signed(by: adults.anna)])
  }

  // MARK: Well-formed lies of an editor

  /// Makes a revision out of another one, as `change` says, and has the adult's signed head name it. Signed by them, unless
  /// it has no signature after the change.
  private func forgeRevision(
    by adult: Adults.Adult, over base: ContentDigest,
    _ change: (inout RecordRevision) throws -> Void
  ) throws -> ContentDigest {
    let member = try #require(adult.emma)
    let context = adult.vault.context
    let certificate = try context.ownCertificate().id
    return try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      var revision = try member.revision(base)
      revision.version[context.device.id] = writer.counter
      revision.time = revision.time.next(now: 0)
      revision.document?.time = revision.time
      revision.device = context.device.id
      revision.previous = [base]
      revision.signature = RecordRevision.Signature(certificate: certificate, bytes: [])
      try change(&revision)
      let isSigned = revision.signature != nil
      let bytes =
        isSigned
        ? revision.encodeSigned(by: certificate) { unsigned in
          context.device.signingKey.sign(
            context.binding.vault.signedMessage(ofRevision: unsigned, in: member.id))
        } storingPages: { _ in
          .zero
        } : revision.encode { _ in .zero }
      let digest = try member.objects.write(.record, bytes, under: member.register.keys.current)
      writer.written[note] = RecordEntry(
        try RecordRevision(decoding: bytes), named: digest, summary: FrontMatterSummary())
      _ = try writer.finish()
      heads = writer.heads
      return digest
    }
  }

  /// Ben has written versions in the name of Anna's device, at a counter that it will reach soon, so that they look like
  /// versions of hers that nobody else has seen. Thinning them out would have her sign the last one.
  @Test func thinningSignsNothingThatAnotherHasWritten() throws {
    let annas = adults.anna.vault.device
    let emma = try #require(adults.anna.emma)
    let soon = try #require(emma.heads.withLock { $0.last(of: annas)?.counter }) + 2
    var last = try entry(at: adults.anna).revision
    for _ in 0..<4 {
      last = try forgeRevision(by: adults.ben, over: last) {
        $0.device = annas
        $0.version[annas] = soon
        $0.document?.content = .inline(Array("none known".utf8))
        $0.document?.size = 10
      }
    }
    try adults.meet()
    // They wait until her device has come so far.
    #expect(try entry(at: adults.anna).revision != last)
    for title in ["Visit", "Invoice", "Letter"] { try adults.anna.write(title) }
    try adults.ben.write("Of Ben")
    try adults.meet()
    #expect(try entry(at: adults.anna).revision == last)
    pass(days: 20)
    _ = try emma.thin([note], to: .standard, seenElsewhere: 0)
    #expect(try entry(at: adults.anna).revision == last)
    #expect(try authorship(at: adults.anna) == signed(by: adults.ben))
  }
}
