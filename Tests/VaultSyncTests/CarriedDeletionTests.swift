import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// Two folders that a program copies file by file in both directions, removals too: what one machine removes without asking
/// must be nothing that the other one may name.
@Suite struct CarriedDeletionTests {
  enum Pair: CaseIterable {
    case onePerson, twoPeople
  }

  /// A program that copies what was changed on one side alone to the other one, or removes it there. What each machine
  /// writes again and again it has from that one.
  private struct Copier {
    let here: SyncingAdult
    let there: SyncingAdult
    /// What both had when it ran last.
    var last: [BlobPath: [UInt8]] = [:]

    mutating func run() throws {
      let (ours, theirs) = (here.store.blobs, there.store.blobs)
      for path in Set(ours.keys).union(theirs.keys) where !path.string.hasPrefix("staging/") {
        if ours[path] == theirs[path] { continue }
        if theirs[path] == last[path] {
          try bring(path, ours[path], to: there)
        } else if ours[path] == last[path] {
          try bring(path, theirs[path], to: here)
        } else if let device = VaultPath(parsing: path.string)?.registerDevice {
          let isOurs = device == here.vault.device
          try bring(path, isOurs ? ours[path] : theirs[path], to: isOurs ? there : here)
        }
      }
      let now = there.store.blobs
      last = here.store.blobs.filter { now[$0.key] == $0.value }
    }

    private func bring(_ path: BlobPath, _ bytes: [UInt8]?, to adult: SyncingAdult) throws {
      if let bytes {
        try adult.store.replace(path, bytes, durably: true)
      } else {
        try adult.store.remove(path)
      }
    }
  }

  private func adults(
    _ pair: Pair, at usb: MemoryStore
  ) throws -> (SyncingAdult, SyncingAdult) {
    switch pair {
    case .onePerson:
      let family = try Family()
      try family.meet(at: usb)
      return (SyncingAdult(family[0]), SyncingAdult(family[1]))
    case .twoPeople:
      let (anna, ben) = try SyncingAdult.annaAndBen(at: usb, as: .editor)
      return (anna, ben)
    }
  }

  /// Both have written, and know of no remote.
  private func met(
    _ pair: Pair
  ) throws -> (here: SyncingAdult, there: SyncingAdult, record: RecordID) {
    // They come to know each other there, and forget it.
    let usb = MemoryStore()
    let (here, there) = try adults(pair, at: usb)
    let base = RecordEdit.newRecord("Base", note: "v")
    try commit(base, on: here)
    try here.sync(usb)
    try there.sync(usb)
    try there.write("Other")
    try there.sync(usb)
    try here.sync(usb)
    return (here, there, base.record)
  }

  private func commit(_ edit: RecordEdit, on adult: SyncingAdult) throws {
    let emma = try #require(adult.emma)
    if let failure = try emma.commit([edit]).failures.values.first { throw failure }
  }

  /// Puts a scan into the record, or into a new one.
  private func save(_ seed: UInt64, in record: RecordID?, on adult: SyncingAdult) throws {
    let scan = try #require(FileName("scan"))
    var edit = RecordEdit.newRecord("Scan \(seed)", note: "v")
    if let record { edit = RecordEdit(record: record) }
    let emma = try #require(adult.emma)
    edit.items[scan] = try .photo("scan", byteCount: 100_000, seed: seed, in: emma)
    try commit(edit, on: adult)
  }

  private func look(_ adult: SyncingAdult) throws {
    let emma = try #require(adult.emma)
    _ = try emma.refresh()
    _ = try emma.joinConcurrent()
  }

  /// Saves one scan, which is carried there, and another one in its place, and thins.
  private func saveTwice(
    _ record: RecordID, _ here: SyncingAdult, _ there: SyncingAdult, _ copier: inout Copier
  ) throws {
    try copier.run()
    try save(1, in: record, on: here)
    try copier.run()
    try look(there)
    try save(2, in: record, on: here)
    let emma = try #require(here.emma)
    try here.vault.thin(emma)
    // The version with the first scan has gone from the history.
    #expect(try emma.history(of: record).count == 2)
  }

  private func expectAgreement(
    _ here: SyncingAdult, _ there: SyncingAdult, _ copier: inout Copier
  ) throws {
    for _ in 0..<3 {
      try copier.run()
      for adult in [here, there] { try look(adult) }
    }
    for adult in [here, there] {
      let problems = try adult.vault.check(readsData: true).problems
      #expect(problems.filter { $0.severity > .note } == [])
    }
    let shown = try Family.Device.contents(of: here.vault)
    #expect(try Family.Device.contents(of: there.vault) == shown)
  }

  /// The other one attaches the same content before the removal comes there.
  @Test(arguments: Pair.allCases)
  func whatTheOtherOneAttachesMeanwhileStays(_ pair: Pair) throws {
    let (here, there, record) = try met(pair)
    var copier = Copier(here: here, there: there)
    try saveTwice(record, here, there, &copier)
    try save(1, in: nil, on: there)
    try expectAgreement(here, there, &copier)
    // Both scans are in records of their own, and no machine has kept a copy of one.
    let shown = try Family.Device.contents(of: here.vault)
    #expect(shown.keys.filter { $0.hasSuffix("/scan") }.count == 2)
  }

  /// The other one goes on from the version that is thinned out here.
  @Test(arguments: Pair.allCases)
  func whatTheOtherOneGoesOnFromStays(_ pair: Pair) throws {
    let (here, there, record) = try met(pair)
    var copier = Copier(here: here, there: there)
    try saveTwice(record, here, there, &copier)
    var edit = RecordEdit(record: record)
    edit.items[.record] = .note("by the other one")
    try commit(edit, on: there)
    try expectAgreement(here, there, &copier)
    #expect(try Family.Device.contents(of: here.vault).values.contains("by the other one"))
  }
}
