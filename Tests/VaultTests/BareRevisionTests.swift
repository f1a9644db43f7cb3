import BlobStore
import Notes
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

@testable import Vault

/// Revisions in the folder that no head names: a repair takes those that somebody signed who may write, and no others.
@Suite struct BareRevisionTests {
  private let adults: Adults
  private let note: RecordID

  /// Anna, with Ben and Carla as editors, and a note that Anna wrote.
  init() throws {
    (adults, note) = try Adults.withNote(carlaEdits: true)
  }

  private func removeBen() throws {
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [adults.ben.id])
  }

  /// What was put under Anna's head is gone, so that the check advises a repair. She has no head of anybody's left.
  private func loseHeads() throws {
    let member = try #require(adults.anna.emma).id
    for adult in adults.everyone {
      let path = BlobPath(VaultPath.head(member, adult.vault.device).string)
      if try adults.anna.store.size(of: path) != nil { try adults.anna.store.remove(path) }
    }
    try adults.anna.stateStore.remove(BlobPath("heads/\(member.hex)"))
    try adults.anna.reopen()
  }

  private func repair() throws -> RepairReport {
    try #require(try adults.anna.vault.repair().first)
  }

  private func text() throws -> String {
    let bytes = try #require(adults.anna.emma).bytes(of: "record.md", in: note)
    return String(decoding: try #require(bytes), as: UTF8.self)
  }

  private func author(_ adult: Adults.Adult) -> Authorship.Author {
    .init(device: adult.vault.device, person: adult.id, standing: .counts)
  }

  /// A revision over the one that a member's entry names, newer than it, with another text. Which device signs it, if any,
  /// says `signer`; `change` what else is so.
  private func revision(
    in member: Member, signedBy signer: Adults.Adult?, _ text: String,
    _ change: (inout RecordRevision) -> Void = { _ in }
  ) throws -> [UInt8] {
    let base = try #require(member.entry(note)).revision
    var revision = try member.revision(base)
    revision.version[member.context.device.id] = 1000
    revision.time = HybridTime(milliseconds: revision.time.milliseconds + 3_600_000, counter: 0)
    revision.document?.content = .inline(Array(text.utf8))
    revision.document?.size = UInt64(text.utf8.count)
    revision.document?.time = revision.time
    revision.previous = [base]
    revision.signature = nil
    change(&revision)
    guard let signer else { return revision.encode { _ in .zero } }
    let context = signer.vault.context
    return revision.encodeSigned(by: try context.ownCertificate().id) { unsigned in
      context.device.signingKey.sign(
        context.binding.vault.signedMessage(ofRevision: unsigned, in: member.id))
    } storingPages: { _ in
      .zero
    }
  }

  /// Puts a revision into Anna's folder, under the keys that a member has.
  @discardableResult
  private func drop(_ bytes: [UInt8], with member: Member) throws -> ContentDigest {
    let digest = try member.objects.write(.record, bytes, under: member.register.keys.current)
    let path = member.objects.path(of: digest)
    try adults.anna.store.replace(
      path, member.context.store.read(path, limit: 1 << 20), durably: true)
    return digest
  }

  private func refusals(_ report: RepairReport) -> [ContentDigest: UnvouchedRevision.Refusal] {
    Dictionary(uniqueKeysWithValues: report.unvouched.map { ($0.digest, $0.refusal) })
  }

  // MARK: Who may write

  /// All heads are lost: what is signed by those who may write is enough to go on with.
  @Test func whatIsSignedByWhoMayWriteIsTaken() throws {
    try adults.ben.edit(note, "PENICILLIN: severe; nuts")
    try adults.meet()
    try loseHeads()
    let report = try repair()
    #expect(report.unvouched.isEmpty)
    #expect(try text() == "PENICILLIN: severe; nuts")
    try adults.anna.reopen()
    #expect(try adults.anna.vault.check(readsData: true).hasDamage == false)
  }

  /// What both changed is joined, and the join is proved by what it was made from.
  @Test func aJoinOfSuchIsTaken() throws {
    try adults.ben.edit(note, "PENICILLIN: severe; nuts")
    try adults.anna.edit(note, "PENICILLIN: severe; eggs")
    try adults.meet()
    let emma = try #require(adults.anna.emma)
    let join = try #require(emma.entry(note)).revision
    #expect(try emma.authorship(of: join) == .joined)
    try loseHeads()
    #expect(try repair().unvouched.isEmpty)
    #expect(try #require(adults.anna.emma?.entry(note)).revision == join)
  }

  /// Ben may write, but what he says of the counters of Anna's device is not to be gone on from: above the greatest there is
  /// none.
  @Test func aCounterOfAnothersMakingIsNotGoneOnFrom() throws {
    let bens = try #require(adults.ben.emma)
    let annas = adults.anna.vault.device
    let dropped = try drop(
      revision(in: bens, signedBy: adults.ben, "PENICILLIN: severe; nuts") {
        $0.version[annas] = Limits.number
      }, with: bens)
    try loseHeads()
    #expect(try repair().unvouched.isEmpty)
    let emma = try #require(adults.anna.emma)
    #expect(emma.entry(note)?.revision == dropped)
    try adults.anna.write("Visit")
    let counter = try #require(emma.heads.withLock { $0.last(of: annas)?.counter })
    #expect(counter < 1000)
    try adults.anna.reopen()
    #expect(try adults.anna.vault.check(readsData: true).hasDamage == false)
    #expect(try adults.anna.titles.contains("Visit"))
  }

  /// Where nothing here says any more how far her device has come, she changes such a one as anything else, more than once and in
  /// one commit as well.
  @Test func whatIsTakenSoIsChangedAsAnythingElse() throws {
    let bens = try #require(adults.ben.emma)
    let annas = adults.anna.vault.device
    try drop(
      revision(in: bens, signedBy: adults.ben, "none known") {
        $0.version[annas] = Limits.number
      }, with: bens)
    try loseHeads()
    _ = try repair()
    #expect(try text() == "none known")
    for changed in ["PENICILLIN", "PENICILLIN: severe, says Anna"] {
      try adults.anna.edit(note, changed)
      #expect(try text() == changed)
    }
    try adults.anna.reopen()
    #expect(try text() == "PENICILLIN: severe, says Anna")
    let entry = try #require(adults.anna.emma?.entry(note))
    #expect(entry.version[annas] < 1000)
  }

  /// Where her head is here, it says how far her device has come: what goes on from more than that is left, as long as she does
  /// not ask for it, whether a head names it or not.
  @Test(arguments: [false, true])
  func whatGoesOnFromWhatNeverWasIsLeft(isNamed: Bool) throws {
    let bens = try #require(adults.ben.emma)
    let (annas, device) = (adults.anna.vault.device, adults.ben.vault.device)
    let next = bens.heads.withLock { CommitWriter(member: bens, heads: $0).counter }
    let ahead = try revision(in: bens, signedBy: adults.ben, "none known") {
      $0.version[annas] = Limits.number
      $0.version[device] = next
    }
    let digest = try drop(ahead, with: bens)
    if isNamed {
      try bens.heads.withLock { heads in
        var writer = CommitWriter(member: bens, heads: heads)
        writer.written[note] = RecordEntry(
          try RecordRevision(decoding: ahead), named: digest, summary: FrontMatterSummary())
        _ = try writer.finish()
        heads = writer.heads
      }
      try adults.meet()
    }
    let visit = try adults.anna.write("Visit")
    let emma = try #require(adults.anna.emma)
    try adults.anna.store.remove(emma.objects.path(of: #require(emma.entry(visit)).revision))
    try adults.anna.reopen()
    let report = try repair()
    #expect(refusals(report)[digest] == .unreached(author(adults.ben), annas))
    #expect(try text() == "PENICILLIN: severe")
    var shown: [ContentDigest] = []
    _ = try adults.anna.vault.repair(
      taking: [digest.hex],
      approve: { wanted in
        shown = wanted.map(\.digest)
        return true
      })
    #expect(shown == [digest])
    #expect(try text() == "none known")
  }

  /// What this device has signed it had read: it is taken also where an older head of the other device is all that is left.
  @Test func whatThisDeviceSignedOverMoreThanAHeadSaysIsTaken() throws {
    try adults.ben.write("By Ben")
    try adults.meet()
    let emma = try #require(adults.anna.emma)
    let signed = try revision(in: emma, signedBy: adults.anna, "PENICILLIN: severe; nuts") {
      $0.version[adults.ben.vault.device] = 999
    }
    try drop(signed, with: emma)
    let visit = try adults.anna.write("Visit")
    try adults.anna.store.remove(emma.objects.path(of: #require(emma.entry(visit)).revision))
    try adults.anna.reopen()
    #expect(try repair().unvouched.isEmpty)
    #expect(try text() == "PENICILLIN: severe; nuts")
  }

  // MARK: Who may not

  /// Finding 7 of the review, by an editor who was taken out since.
  @Test func aRemovedEditorsIsLeft() throws {
    let bens = try #require(adults.ben.emma)
    try removeBen()
    let forged = try drop(revision(in: bens, signedBy: adults.ben, "none known"), with: bens)
    let unsigned = try drop(
      revision(in: bens, signedBy: nil, "none known, says Anna") {
        $0.device = adults.anna.vault.device
      }, with: bens)
    try loseHeads()
    let report = try repair()
    #expect(refusals(report)[forged] == .mayNotWrite(author(adults.ben)))
    #expect(refusals(report)[unsigned] == .notSigned)
    #expect(try text() == "PENICILLIN: severe")
    // Her word alone takes it, once she has seen whose it is and why it was left.
    var shown: [UnvouchedRevision] = []
    _ = try adults.anna.vault.repair(
      taking: [forged.hex],
      approve: { wanted in
        shown = wanted
        return false
      })
    #expect(shown.map(\.refusal) == [.mayNotWrite(author(adults.ben))])
    #expect(try text() == "PENICILLIN: severe")
    _ = try adults.anna.vault.repair(taking: [forged.hex])
    #expect(try text() == "none known")
  }

  @Test func aViewersIsLeft() throws {
    let bens = try #require(adults.ben.emma)
    let emma = try #require(adults.anna.emma)
    try adults.anna.vault.beginEpoch(of: emma, without: [adults.ben.id])
    try adults.share(with: adults.ben, .viewer)
    let now = try #require(adults.ben.emma)
    for member in [bens, now] {
      let forged = try drop(revision(in: member, signedBy: adults.ben, "none known"), with: member)
      try loseHeads()
      #expect(refusals(try repair())[forged] == .mayNotWrite(author(adults.ben)))
      #expect(try text() == "PENICILLIN: severe")
    }
  }

  /// A revision of an honest editor's, with something else in it.
  @Test func aChangedOneIsNotSigned() throws {
    let bens = try #require(adults.ben.emma)
    var bytes = try revision(in: bens, signedBy: adults.carla, "none known")
    let position = try #require(
      bytes.indices.first { bytes[$0...].starts(with: Array("none".utf8)) })
    bytes[position] = UInt8(ascii: "N")
    let forged = try drop(bytes, with: bens)
    try loseHeads()
    #expect(refusals(try repair())[forged] == .notSigned)
    #expect(try text() == "PENICILLIN: severe")
  }

  /// It names two revisions that are right, and is not what joining them gives; or one of them is not taken.
  @Test func aMadeUpJoinIsLeft() throws {
    try adults.ben.edit(note, "PENICILLIN: severe; nuts")
    try adults.anna.edit(note, "PENICILLIN: severe; eggs")
    try adults.meet()
    let bens = try #require(adults.ben.emma)
    let parts = try bens.revision(#require(bens.entry(note)).revision).previous
    try removeBen()
    let forged = try drop(
      revision(in: bens, signedBy: nil, "none known") { $0.previous = parts }, with: bens)
    let own = try drop(
      revision(in: bens, signedBy: adults.ben, "none known") {
        $0.version = VersionVector(device: adults.ben.vault.device, counter: 2000)
      }, with: bens)
    let theirs = try #require(adults.anna.emma?.entry(note)).revision
    let join = try pages(bens.loadPage) { load in
      var merged = try Join.merge(
        NamedRevision(bens.revision(theirs), named: theirs),
        NamedRevision(bens.revision(own), named: own), load: load
      ).merged
      return merged.encode { _ in .zero }
    }
    let joined = try drop(join, with: bens)
    try loseHeads()
    let report = try repair()
    #expect(refusals(report)[forged] == .unprovedJoin)
    #expect(refusals(report)[own] == .mayNotWrite(author(adults.ben)))
    #expect(refusals(report)[joined] == .unprovedJoin)
    #expect(try !text().contains("none known"))
  }

  /// While he could write, Ben has named a revision as replaced that he had not put there yet. Carla's head leads to it.
  @Test func whatWasNamedAheadIsNotTaken() throws {
    let bens = try #require(adults.ben.emma)
    let later = try revision(in: bens, signedBy: adults.ben, "none known")
    let digest = later.withUnsafeBytes { HashedContent(.record, $0).digest }
    let device = adults.ben.vault.device
    let next = bens.heads.withLock { CommitWriter(member: bens, heads: $0).counter }
    let named = try revision(in: bens, signedBy: adults.ben, "PENICILLIN: severe; soy") {
      $0.version[device] = next
      $0.time = $0.time.next(now: 0)
      $0.previous = [digest]
    }
    try bens.heads.withLock { heads in
      var writer = CommitWriter(member: bens, heads: heads)
      let written = try bens.objects.write(.record, named, under: bens.register.keys.current)
      writer.written[note] = RecordEntry(
        try RecordRevision(decoding: named), named: written, summary: FrontMatterSummary())
      _ = try writer.finish()
      heads = writer.heads
    }
    try adults.meet()
    #expect(try text() == "PENICILLIN: severe; soy")
    let old = try #require(adults.ben.emma)
    try removeBen()
    try adults.meet()
    try adults.carla.write("Visit")
    try adults.meet()
    try drop(later, with: old)
    let member = try #require(adults.anna.emma).id
    try adults.anna.store.remove(
      BlobPath(VaultPath.head(member, adults.anna.vault.device).string))
    try adults.anna.stateStore.remove(BlobPath("heads/\(member.hex)"))
    try adults.anna.reopen()
    let report = try repair()
    #expect(refusals(report)[digest] == .mayNotWrite(author(adults.ben)))
    #expect(try text() == "PENICILLIN: severe; soy")
  }
}
