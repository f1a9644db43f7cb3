import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// A machine's folder is replaced by an older copy while a process has the vault open, and what comes of a repair after that.
@Suite struct OlderFolderTests {
  private let family: Family
  private let usb = MemoryStore()
  private let record: RecordID
  private let older: [BlobPath: [UInt8]]
  private var desk: Family.Device { family[0] }
  private var laptop: Family.Device { family[1] }

  init() throws {
    family = try Family(count: 2)
    record = try family[0].write("Note", "before")
    try family.meet(at: usb)
    older = family[0].store.blobs
  }

  /// Everything in the desk's folder goes, and the copy of before comes.
  private func putOlderBack(
    _ older: [BlobPath: [UInt8]]? = nil, keeping kept: BlobPath? = nil
  ) throws {
    try putBack(older ?? self.older, on: desk, keeping: kept)
  }

  private func putBack(
    _ older: [BlobPath: [UInt8]], on device: Family.Device, keeping kept: BlobPath? = nil
  ) throws {
    for path in device.store.blobs.keys where path != kept { try device.store.remove(path) }
    for (path, bytes) in older where !path.string.hasPrefix("staging") && path != kept {
      try device.store.replace(path, bytes, durably: true)
    }
  }

  private func isRolledBack(_ error: any Error) -> Bool {
    guard case .rolledBack? = error as? VaultError else { return false }
    return true
  }

  private func expectNote(_ note: String) throws {
    try family.expectAgreement()
    for device in family.devices {
      #expect(try device.contents().values.contains(note))
      for member in device.vault.members { #expect(try member.keptConflicts().isEmpty) }
      try device.reopen()
      #expect(try device.contents().values.contains(note))
    }
  }

  /// What its newest head names is gone with the newer folder, so the head is not put back.
  @Test func underAnOpenVaultItStaysCalledOlder() throws {
    try desk.edit(record, "synced")
    try family.meet(at: usb)
    try desk.write("Not synced", "of the desk")
    let emma = try desk.emma
    try putOlderBack()
    for _ in 0..<2 {
      #expect {
        _ = try emma.refresh()
      } throws: {
        isRolledBack($0)
      }
      #expect {
        try emma.requireOwnHead()
      } throws: {
        isRolledBack($0)
      }
      #expect {
        try desk.edit(record, "into the older one")
      } throws: {
        isRolledBack($0)
      }
    }
    #expect {
      try desk.reopen()
    } throws: {
      isRolledBack($0)
    }
    try desk.reopen(OpenOptions(acceptRollback: true))
    try family.meet(at: usb)
    try expectNote("synced")
  }

  /// What has the vault open goes on syncing, and `status` shows what it found.
  @Test func aSyncOfAnOlderFolderIsToldInWords() throws {
    let path = VaultPath.head(try desk.emma.id, desk.vault.device).string
    let problem = SyncProblem(.rolledBack(path: path, found: 3, seen: 7), here: path)
    #expect(problem.kind == .damagedHere && problem.path == path)
    #expect(problem.text.contains("it is at state 3, and was at 7"))
    #expect(problem.text.contains("kinvault mount --accept-rollback"))
    #expect(!problem.text.contains(path) && !problem.text.contains(desk.vault.device.hex))
  }

  @Test func anOwnHeadThatIsGoneIsToldUnlessAllIsThere() throws {
    let emma = try desk.emma
    let head = BlobPath(VaultPath.head(emma.id, desk.vault.device).string)
    let whole = try #require(desk.store.blobs[head])
    try desk.store.remove(head)
    try emma.requireOwnHead()
    #expect(desk.store.blobs[head] == whole)
    for path in desk.store.blobs.keys { try desk.store.remove(path) }
    #expect(throws: VaultError.self) { try emma.requireOwnHead() }
    #expect(desk.store.blobs[head] == nil)
  }

  /// The laptop's folder is one of before it had written anything: nothing in it says that this is missing, but its state.
  @Test func aFolderOfBeforeTheFirstWriteIsMendedByASync() throws {
    let before = laptop.store.blobs
    let id = try laptop.emma.id
    let head = BlobPath(VaultPath.head(id, laptop.vault.device).string)
    try #require(before[head] == nil)
    try laptop.edit(record, "of the laptop")
    try laptop.sync(usb)
    try putBack(before, on: laptop)
    try laptop.reopen()
    try #require(laptop.vault.member(id)?.damageReason != nil)
    let planned = try laptop.sync(usb) { $0.isDryRun = true }
    #expect(!planned.pulled.isEmpty && planned.problems.allSatisfy { $0.severity == .note })
    #expect(laptop.store.blobs[head] == nil)
    let synced = try laptop.sync(usb)
    #expect(synced.problems.contains { $0.kind == .ownIsNewer })
    #expect(synced.problems.allSatisfy { $0.severity == .note })
    #expect(laptop.store.blobs[head] == usb.blobs[head])
    #expect(laptop.vault.member(id)?.damageReason == nil)
    try laptop.edit(record, "once more")
    try family.meet(at: usb)
    try expectNote("once more")
  }

  /// What the remote has is older than what this machine has written, so the loss stays told.
  @Test func aLostHeadIsNotReplacedByAnOlderOne() throws {
    let before = laptop.store.blobs
    let id = try laptop.emma.id
    let head = BlobPath(VaultPath.head(id, laptop.vault.device).string)
    try laptop.edit(record, "synced")
    try laptop.sync(usb)
    try laptop.edit(record, "not synced")
    try putBack(before, on: laptop)
    try laptop.reopen()
    let synced = try laptop.sync(usb)
    #expect(synced.problems.contains { $0.kind == .damagedHere })
    #expect(laptop.store.blobs[head] == nil)
    #expect(laptop.vault.member(id)?.damageReason != nil)
  }

  /// Who still has what a repair could not read.
  enum Whole: CaseIterable, Sendable {
    /// The remote that the repair is told of.
    case remoteOfTheRepair
    /// A remote that is met later.
    case remote
    /// Another machine, which is met at a remote that is new.
    case laptop
  }

  /// The newest head stands in the older folder, so that its lists are not here: a repair makes them of what is. One of them
  /// nobody else has.
  @Test(arguments: Whole.allCases)
  func aRepairReplacesNothingThatItHasNotRead(whole: Whole) throws {
    let id = try desk.emma.id
    try desk.edit(record, "synced")
    try desk.sync(usb)
    if whole == .laptop { try laptop.sync(usb) }
    try desk.write("Not synced", "of the desk")
    try putOlderBack(keeping: BlobPath(VaultPath.head(id, desk.vault.device).string))
    try desk.reopen()
    try #require(desk.vault.member(id)?.damageReason != nil)
    if whole == .remoteOfTheRepair {
      // As `check --repair --remote` does.
      for isLast in [false, true] {
        let mended = try RemoteMending(vault: desk.vault, remote: usb).run(readsData: false).mended
        #expect(mended.isEmpty == isLast)
        try desk.reopen()
      }
    }
    _ = try desk.vault.repair()
    try desk.reopen()
    let isBack = try desk.contents().values.contains("synced")
    #expect(isBack == (whole == .remoteOfTheRepair))
    let (remote, name) = whole == .laptop ? (MemoryStore(), "other") : (usb, "usb")
    for _ in 0..<3 {
      for device in family.devices { try device.sync(remote, as: name) }
    }
    try expectNote("synced")
  }

  /// The newest head stands in the older folder, which is repaired.
  private func repairOlder(_ older: [BlobPath: [UInt8]]? = nil) throws {
    let head = try VaultPath.head(desk.emma.id, desk.vault.device)
    try putOlderBack(older, keeping: BlobPath(head.string))
    try desk.reopen()
    _ = try desk.vault.repair()
    try desk.reopen()
  }

  /// Another device has read the older head and taken it over for new keys: no other machine has written that.
  @Test func anOlderHeadThatWasTakenOverIsNoCopys() throws {
    try desk.edit(record, "synced")
    for device in family.devices { try device.sync(usb) }
    try repairOlder()
    let device = desk.vault.device
    try laptop.vault.beginEpoch(of: laptop.emma, without: [])
    try laptop.sync(usb)
    for _ in 0..<3 {
      for device in family.devices { try device.sync(usb) }
    }
    #expect(desk.vault.device == device)
    try expectNote("synced")
  }

  /// What the remote's older head would delete waits for consent, and so does all else that it names.
  @Test func anOlderHeadThatWaitsForConsentStays() throws {
    let notes = try (0..<25).map { try desk.write("Note \($0)", "to be deleted") }
    try desk.sync(usb)
    let before = desk.store.blobs
    for note in notes { try desk.delete(note) }
    try desk.edit(record, "synced")
    try desk.sync(usb)
    try repairOlder(before)
    let head = try BlobPath(VaultPath.head(desk.emma.id, desk.vault.device).string)
    let there = usb.blobs[head]
    for _ in 0..<2 {
      #expect(try desk.sync(usb).massChanges.count == 1)
      #expect(usb.blobs[head] == there)
    }
    try desk.sync(usb) { $0.acceptsMassChange = true }
    #expect(usb.blobs[head] != there)
    try laptop.sync(usb) { $0.acceptsMassChange = true }
    try expectNote("synced")
    #expect(try !desk.contents().values.contains("to be deleted"))
  }

  /// What the remote's older head names cannot be read there just now: the head stays until it can be.
  @Test func anOlderHeadThatCannotBeReadJustNowStays() throws {
    try desk.edit(record, "synced")
    // The second one remembers the mark of the head that the first one has put there.
    for _ in 0..<2 { try desk.sync(usb) }
    let emma = try desk.emma
    let head = BlobPath(VaultPath.head(emma.id, desk.vault.device).string)
    let revision = try #require(emma.entry(record)).revision
    let entry = BlobPath(emma.objects.vaultPath(of: revision).string)
    // What tells of the record, and the record.
    let segments = usb.blobs.keys.filter {
      $0.string.contains("/objects/") && older[$0] == nil && $0 != entry
    }
    try #require(!segments.isEmpty && usb.blobs[entry] != nil)
    let there = usb.blobs[head]
    try repairOlder()
    let failing = UnreadableStore(usb)
    let refusals: [Set<BlobPath>] = [[head], Set(segments), [entry]]
    for refused in refusals {
      failing.refuse(refused)
      for _ in 0..<2 {
        #expect(try desk.sync(failing).untakenHeadCount > 0)
        #expect(usb.blobs[head] == there)
      }
    }
    failing.refuse([])
    try desk.sync(failing)
    #expect(usb.blobs[head] != there)
    try family.meet(at: usb)
    try expectNote("synced")
  }

  /// Of one of two records that only the remote's older head names something is gone there: the other one comes back.
  @Test func whatIsWholeOfAnOlderHeadComesBackAlone() throws {
    try desk.edit(record, "synced")
    let other = try desk.write("Other", "gone there")
    try desk.sync(usb)
    let emma = try desk.emma
    let lost = try #require(emma.entry(other)).revision
    try usb.remove(BlobPath(emma.objects.vaultPath(of: lost).string))
    try repairOlder()
    #expect(try desk.sync(usb).untakenHeadCount > 0)
    try family.meet(at: usb)
    try expectNote("synced")
  }
}
