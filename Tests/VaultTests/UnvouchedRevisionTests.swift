import BlobStore
import TestSupport
import Testing
import Threads
import VaultModel
import VaultObjects

@testable import Vault

/// Holding a member's keys is not the right to write: what a repair takes from the folder.
@Suite struct UnvouchedRevisionTests {
  /// A viewer has dropped a revision of their own making into the folder and broken the owner's head, so that the owner is
  /// advised to repair.
  @Test func aRepairTakesNothingThatAViewerHasPutThere() throws {
    let adults = try Adults()
    let note = try adults.anna.write("Allergies", "penicillin: severe")
    try adults.share(with: adults.ben, .viewer)
    let bens = try #require(adults.ben.emma)
    try bens.heads.withLock { heads in
      var edit = RecordEdit(record: note)
      edit.items[.record] = .note("none known, tested negative")
      var writer = CommitWriter(member: bens, heads: heads)
      try writer.add([edit])
      _ = try writer.finish()
    }
    let genuine = Set(
      try #require(adults.anna.emma).objects.listed().map(\.name).compactMap { name in
        try? adults.anna.emma?.objects.opened(name, kind: .record).digest
      })
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    let member = bens.id
    for device in [adults.anna.vault.device, adults.ben.vault.device] {
      try adults.anna.store.remove(BlobPath(VaultPath.head(member, device).string))
    }
    try adults.anna.stateStore.remove(BlobPath("heads/\(member.hex)"))
    try adults.anna.reopen()

    let report = try #require(try adults.anna.vault.repair().first)
    let forged = report.unvouched.filter { !genuine.contains($0.digest) }
    #expect(forged.map(\.record) == [note])
    #expect(forged.allSatisfy { $0.byteCount > 0 && $0.time > 0 })
    let ben = Authorship.Author(
      device: adults.ben.vault.device, person: adults.ben.id, standing: .counts)
    #expect(forged.allSatisfy { $0.refusal == .mayNotWrite(ben) })
    // What she has signed herself is enough to go on with.
    #expect(report.unvouched.count == forged.count)
    try adults.anna.reopen()
    #expect(try adults.anna.vault.repair().isEmpty)
    let emma = try #require(adults.anna.emma)
    #expect(try emma.bytes(of: "record.md", in: note) == Array("penicillin: severe".utf8))
    #expect(try emma.history(of: note).allSatisfy { $0.digest != forged[0].digest })
  }

  /// A revision that a verified segment names is taken, also where somebody else has the keys.
  @Test func whatAVerifiedHeadNamesIsTaken() throws {
    let adults = try Adults()
    let note = try adults.anna.write("Visit", "first")
    try adults.share(with: adults.ben, .editor)
    let emma = try #require(adults.anna.emma)
    var edit = RecordEdit(record: note)
    edit.items[.record] = .note("second")
    _ = try emma.commit([edit])
    let newest = try #require(emma.entry(note)).revision
    try adults.anna.store.remove(emma.objects.path(of: newest))
    try adults.anna.reopen()
    let report = try #require(try adults.anna.vault.repair().first)
    #expect(report.wentBack.count == 1)
    let bytes = try #require(adults.anna.emma).bytes(of: "record.md", in: note)
    #expect(bytes == Array("first".utf8))
  }
}
