import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Whoever can write to a remote, without any key that somebody knows, puts files into the folders of people and members who
/// are known. They hold, and count for nothing: so many of them are taken, and no more.
@Suite struct LooseFileTests {
  private let anna: SyncingAdult
  private let usb = MemoryStore()
  private var made: MadeUp { MadeUp(vault: anna.vault.id, store: usb) }

  private static let room = CargoWeight(fileCount: 20, byteCount: 64 << 20)

  init() throws {
    let family = try Family(count: 1)
    try family[0].write("Visit", "all well")
    var anna = SyncingAdult(family[0])
    anna.strangersLimit = Self.room
    for _ in 0..<2 { try anna.sync(usb) }
    self.anna = anna
  }

  enum Kind: CaseIterable { case request, wrap, link, device }

  /// Puts files of a kind there: more than there is room for.
  private func plant(_ kind: Kind) throws -> [BlobPath] {
    let (made, person) = (made, anna.vault.person)
    let emma = try #require(anna.emma).id
    var paths: [VaultPath] = []
    switch kind {
    case .request: for _ in 0..<30 { paths.append(try made.request(to: person)) }
    case .wrap: for _ in 0..<30 { paths.append(try made.wrap(in: emma)) }
    case .link:
      let mallory = try made.person()
      try anna.sync(usb)
      for _ in 0..<30 { paths.append(try made.link(in: emma, by: mallory)) }
    case .device: for _ in 0..<15 { paths += try made.falseDevice(of: person).paths }
    }
    return paths.map { BlobPath($0.string) }
  }

  private func countHere(_ paths: [BlobPath]) -> Int {
    paths.count { anna.store.blobs[$0] != nil }
  }

  @Test(arguments: Kind.allCases)
  func noMoreIsTakenThanTheQuota(_ kind: Kind) throws {
    let paths = try plant(kind)
    let report = try anna.sync(usb, looksEverywhere: true)
    #expect(report.problems.map(\.kind) == [.strangers])
    #expect(report.isComplete)
    let taken = countHere(paths)
    #expect(taken > 0 && taken <= Self.room.fileCount)
    for _ in 0..<3 { #expect(try anna.sync(usb, looksEverywhere: true).problems == []) }
    #expect(countHere(paths) == taken)
  }

  @Test(arguments: Kind.allCases)
  func whatIsLeftIsNotReadAgain(_ kind: Kind) throws {
    _ = try plant(kind)
    for _ in 0..<3 { try anna.sync(usb) }
    try anna.sync(usb, looksEverywhere: true)
    for _ in 0..<2 { try anna.sync(usb) }
    let again = try anna.sync(usb)
    #expect(again.problems == [] && again.pulled.isEmpty && again.pushed.isEmpty)
    #expect(again.traffic.readCount == 1)
  }

  /// Most syncs look for nothing but heads in the folder of a member.
  @Test(arguments: Kind.allCases)
  func whatIsLeftIsToldOnce(_ kind: Kind) throws {
    _ = try plant(kind)
    for _ in 0..<2 { try anna.sync(usb, looksEverywhere: true) }
    for looksEverywhere in [false, false, true, false, true] {
      #expect(try anna.sync(usb, looksEverywhere: looksEverywhere).problems == [])
    }
  }

  @Test(arguments: Kind.allCases)
  func allTakesThemAllTheSame(_ kind: Kind) throws {
    let paths = try plant(kind)
    let report = try anna.sync(usb, looksEverywhere: true)
    #expect(try #require(report.problems.first).text.contains("kinvault sync usb --all"))
    #expect(countHere(paths) < paths.count)
    try anna.sync(usb, looksEverywhere: true, takesStrangers: true)
    #expect(countHere(paths) == paths.count)
  }

  /// They have one room together with the people whom somebody has made up.
  @Test func whatIsHereOfStrangersCounts() throws {
    for _ in 0..<8 { _ = try made.person() }
    try anna.sync(usb)
    let paths = try plant(.request)
    try anna.sync(usb)
    #expect(countHere(paths) == 4)
    let late = try made.person()
    try anna.sync(usb)
    #expect(anna.store.weight(of: "people/\(late.id.hex)").fileCount == 0)
  }

  /// A copier has brought the wraps of new keys, and not yet the link that names them.
  @Test func whatCountsOnlyLaterComesThen() throws {
    let disk = MemoryStore()
    let (owner, other) = try SyncingAdult.annaAndBen(at: disk, as: .editor)
    for adult in [owner, other] { try adult.sync(disk) }
    var ben = other
    ben.strangersLimit = CargoWeight()
    let before = Set(disk.blobs.keys)
    try owner.vault.beginEpoch(of: #require(owner.emma), without: [])
    try owner.write("Second")
    try owner.sync(disk)
    let new = disk.blobs.filter { !before.contains($0.key) }
    let links = new.filter { $0.key.string.contains("/links/") }
    let wraps = new.keys.filter { $0.string.contains("/wraps/") }
    try #require(!links.isEmpty && !wraps.isEmpty)
    for link in links.keys { try disk.remove(link) }
    let report = try ben.sync(disk)
    #expect(report.problems.contains { $0.kind == .strangers })
    #expect(!wraps.contains { ben.store.blobs[$0] != nil })
    for (link, bytes) in links { try disk.put(link, bytes) }
    for _ in 0..<2 { try ben.sync(disk) }
    #expect(wraps.allSatisfy { ben.store.blobs[$0] != nil })
    #expect(try ben.titles.contains("Second"))
  }

  /// What somebody wrote who has no place any more, and somebody else knew when they wrote what counts: without it that would
  /// wait for ever.
  @Test func whatACountingLinkFollowsComes() throws {
    let disk = MemoryStore()
    let (owner, other) = try SyncingAdult.annaAndBen(at: disk, as: .editor)
    let made = MadeUp(vault: owner.vault.id, store: disk)
    let mallory = try made.person()
    for adult in [owner, other] { try adult.sync(disk) }
    var ben = other
    ben.strangersLimit = CargoWeight()
    let emma = try #require(owner.emma)
    let before = try made.link(in: emma.id, by: mallory, follows: [])
    guard case .link(_, let followed) = before else {
      Issue.record("no link")
      return
    }
    let owners = Place(link: emma.id.root, person: owner.vault.person)
    let link = try owner.signedLink(
      of: emma.id, as: owners, follows: emma.register.links.history.tips + [followed],
      .give(ben.vault.person, .viewer, until: 0))
    try disk.put(link.path, link.bytes)
    try ben.sync(disk, looksEverywhere: true)
    #expect(ben.store.blobs[link.path] != nil)
    #expect(ben.store.blobs[BlobPath(before.string)] != nil)
  }

  /// However many others ask, and though a sync of another process has left its request before.
  @Test func whoKnowsTheWordsThatAreShownIsTaken() throws {
    _ = try plant(.request)
    for _ in 0..<2 { try anna.sync(usb) }
    let folder = MemoryStore()
    for (path, bytes) in usb.blobs where path.string.hasPrefix("people/") {
      try folder.put(path, bytes)
    }
    let words = ApprovalWords.random(for: anna.vault.person)
    let pending = try PendingDevice.begin(
      VaultCopy(
        id: anna.vault.id, store: folder, state: StateFolder(store: MemoryStore()), clock: .system),
      words: words, device: Family.newDevice, password: SecretBytes(copying: Array("pw".utf8)))
    let (path, bytes) = pending.requests[0]
    try usb.put(BlobPath(path.string), bytes)
    for _ in 0..<2 { try anna.sync(usb) }
    #expect(anna.store.blobs[BlobPath(path.string)] == nil)
    let key = try anna.vault.approvalKey(of: words)
    try anna.sync(usb)
    #expect(try anna.vault.requests(with: key).map(\.id) == pending.ids)
  }

  /// That a device agreed to be theirs once stands in its certificate for everyone to see. Whoever certifies it anew without their
  /// words makes it nothing else than what it is: removed.
  @Test func aRemovedDeviceStaysRemovedWhoeverCertifiesIt() throws {
    let family = try Family(count: 2)
    try family.meet(at: MemoryStore())
    let (vault, lost) = (family[0].vault, family[1].vault.context)
    let certificate = try lost.ownCertificate().certificate
    try vault.beginGeneration(removing: [lost.device.id], words: Family.words.words)
    let made = MadeUp(vault: vault.id, store: family[0].store)
    try made.falseDevice(of: vault.person, like: certificate)
    try made.falseDevice(of: vault.person)
    try vault.context.reloadPeople()
    let own = try vault.context.ownPerson()
    #expect(own.waiting.isEmpty && Set(own.former.keys) == [lost.device.id])
    #expect(own.removal(of: lost.device.id) != nil)
    #expect(vault.context.people.isFormer(lost.device.id))
  }

  /// A device that somebody else has certified for a person has no log of theirs.
  @Test func noLogOfAFalseDeviceIsTaken() throws {
    let person = anna.vault.person
    let (paths, device, key) = try made.falseDevice(of: person)
    for _ in 0..<2 { try anna.sync(usb) }
    #expect(countHere(paths.map { BlobPath($0.string) }) == paths.count)
    let segment = BlobPath(try made.segment(of: person, by: device, key).string)
    try anna.sync(usb, looksEverywhere: true)
    #expect(anna.store.blobs[segment] == nil)
  }
}
