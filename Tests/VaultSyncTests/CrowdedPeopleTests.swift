import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Somebody who has the remote and no key has put more folders into `people` there than are listed.
@Suite struct CrowdedPeopleTests {
  private let usb = MemoryStore()
  private let family: Family
  private let ben: SyncingAdult

  init() throws {
    family = try Family(count: 3)
    ben = try SyncingAdult.editor(of: family, at: usb)
  }

  private var crowded: ListingStore { .crowding(of: usb) }

  private func closings(of person: PersonID, in store: MemoryStore) -> Set<BlobPath> {
    Set(store.blobs.keys.filter { $0.parent?.string == "people/\(person.hex)/closings" })
  }

  /// One of the three devices is removed, and Ben has new keys.
  private func changeKeys() throws {
    try family[0].vault.beginGeneration(
      removing: [family[2].vault.device], words: Family.words.words)
    try family[0].sync(usb)
    try ben.vault.beginGeneration(
      removing: [], words: RecoveryWords(parsing: ben.words.joined(separator: " ")))
    try ben.sync(usb)
  }

  @Test func itKeepsNoNewsOfPeopleAwayWhoAreKnown() throws {
    try changeKeys()
    let (own, other) = (family[1].vault.person, ben.vault.person)
    for person in [own, other] {
      #expect(closings(of: person, in: family[1].store) != closings(of: person, in: usb))
    }
    let told = try family[1].sync(crowded).problems.filter { $0.kind == .endlessListing }
    #expect(told == [.crowdedPeople])
    #expect(told.allSatisfy { $0.text.contains("kinvault people list --all") })
    for person in [own, other] {
      #expect(closings(of: person, in: family[1].store) == closings(of: person, in: usb))
    }
    #expect(
      family[1].vault.context.keys.generation == family[0].vault.context.keys.generation)
    do {
      try family[2].sync(crowded)
      Issue.record("the removed device syncs")
    } catch SyncError.vault(.thisDeviceRemoved) {}
  }

  /// Neither does it where the folder of one of them is as full.
  @Test func theFolderOfOneKeepsNoNewsOfTheOthersAway() throws {
    try changeKeys()
    let (own, other) = (family[1].vault.person, ben.vault.person)
    let folder = BlobPath("people/\(other.hex)")
    let report = try family[1].sync(ListingStore.crowding(["people", folder], of: usb))
    let told = report.problems.filter { $0.kind == .endlessListing }
    #expect(Set(told.map(\.path)) == ["people", folder.string])
    #expect(closings(of: own, in: family[1].store) == closings(of: own, in: usb))
    #expect(!report.problems.contains { $0.kind == .wentBack })
  }

  /// What is gone of people who were looked for by name is put there again, and told.
  @Test func itHidesNoLoss() throws {
    let lost = [family[0].vault.person, ben.vault.person].flatMap { closings(of: $0, in: usb) }
    #expect(lost.count >= 2)
    for path in lost { try usb.remove(path) }
    let told = try family[0].sync(crowded).problems.filter { $0.kind == .wentBack }
    #expect(Set(told.map(\.path)) == Set(lost.map(\.string)))
    #expect(lost.allSatisfy { usb.blobs[$0] != nil })
  }

  /// A stranger, who is carried here, is not looked for, and so not called lost.
  @Test func whoIsNotLookedForIsNotCalledLost() throws {
    let stranger = try MadeUp(vault: family[0].vault.id, store: usb).person()
    try family[0].sync(usb)
    #expect(!closings(of: stranger.id, in: family[0].store).isEmpty)
    let report = try family[0].sync(crowded) { $0.isDryRun = true }
    #expect(report.problems.map(\.kind) == [.endlessListing], "\(report.problems)")
    #expect(report.moves.allSatisfy { $0.direction == .pull || $0.path.owner == .other })
  }
}
