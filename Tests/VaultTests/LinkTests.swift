import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

@testable import Vault
@testable import VaultPeople

/// What owners do at once, and what whoever has real keys writes to get in.
struct LinkTests {
  /// What was a grant that an owner overlooked: it is given the key because its giver is an owner, and for no other reason.
  @Test func whoWasSharedWithWhileAnotherOwnerChangedTheKeyIsGivenIt() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.anna.write("Visit")
    try adults.meet()
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    try adults.ben.vault.share(#require(adults.ben.emma), with: adults.carla.id, role: .editor)
    try adults.meet()
    // Carla has the key of before only, which opens nothing that is there by now.
    #expect(adults.carla.emma == nil)
    let annas = try #require(adults.anna.emma)
    #expect(!annas.register.links.holders(of: annas.epoch).contains(adults.carla.id))
    #expect(try adults.anna.vault.tendEpochs().get().map(\.givenAgain) == [[adults.carla.id]])
    #expect(try adults.anna.vault.tendEpochs().get() == [])
    try adults.meet()
    #expect(adults.carla.emma?.epoch == annas.epoch)
    try adults.carla.write("Vaccine")
    try adults.meet()
    for adult in adults.everyone {
      #expect(try adult.titles == ["Visit", "Vaccine"])
      try adult.reopen()
      #expect(adult.vault.problems == [])
    }
  }

  /// A copier brings the head of somebody before the link that lets them write. What it names is nobody's garbage meanwhile.
  @Test func whatAHeadNamesThatCameBeforeItsLinkIsNotCollected() throws {
    let adults = try Adults()
    let (anna, ben, carla) = (adults.anna, adults.ben, adults.carla)
    try adults.share(with: carla, .editor)
    try anna.vault.share(#require(anna.emma), with: ben.id, role: .editor)
    try adults.carry(from: anna, to: ben)
    try ben.write("Ben's")
    func bring(_ isWanted: (String) -> Bool) throws {
      for (path, bytes) in ben.store.blobs
      where carla.store.blobs[path] == nil && isWanted(path.string) {
        try carla.store.replace(path, bytes, durably: true)
      }
    }
    try bring { !$0.contains("/links/") }
    for isFresh in [false, true] {
      if isFresh { try carla.reopen() }
      _ = try #require(carla.emma).refresh()
      let report = try carla.vault.collect(keepDays: 0, acceptsClock: true, isDryRun: false)
      #expect(report.objectCount == 0 && report.skippedMembers == ["Emma"])
      #expect(try carla.titles == [])
    }
    try bring { _ in true }
    try carla.reopen()
    #expect(try carla.titles == ["Ben's"])
    #expect(try carla.vault.check(readsData: true).problems.filter { $0.severity > .note } == [])
  }

  @Test(arguments: [(Role.viewer, Role.editor), (.editor, .viewer), (.owner, .editor)])
  func ofWhatTwoOwnersGiveAtOnceTheStrongerCounts(annas: Role, bens: Role) throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.anna.vault.share(#require(adults.anna.emma), with: adults.carla.id, role: annas)
    try adults.ben.vault.share(#require(adults.ben.emma), with: adults.carla.id, role: bens)
    try adults.meet()
    #expect(adults.carla.emma?.role == max(annas, bens))
    for adult in adults.everyone {
      try adult.reopen()
      #expect(adult.vault.problems == [])
      let accesses = try #require(adult.emma).accesses().filter { $0.person == adults.carla.id }
      #expect(accesses.map(\.role) == [max(annas, bens)])
    }
  }

  @Test func aLaterEndThatAnotherOwnerGaveIsNotTakenWithTheEarlierOne() throws {
    let adults = try Adults()
    let (day, start): (UInt64, UInt64) = (86_400_000, 1_700_000_100_000)
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .viewer, until: start + 10 * day)
    adults.anna.clock.advance(days: 11)
    // Anna's device carries out the end while Ben, whose clock is behind, prolongs it.
    #expect(try adults.anna.vault.tendEpochs().get().map(\.expired) == [[adults.carla.id]])
    try adults.ben.vault.share(
      #require(adults.ben.emma), with: adults.carla.id, role: .viewer, until: start + 60 * day)
    try adults.meet()
    let emma = try #require(adults.anna.emma)
    #expect(emma.register.links.access.includes(adults.carla.id))
    #expect(try adults.anna.vault.tendEpochs().get().map(\.givenAgain) == [[adults.carla.id]])
    try adults.meet()
    #expect(adults.carla.emma?.role == .viewer)
  }

  /// An owner who is out gives ownership to somebody made up, from before and after, and an innocent link follows that.
  @Test func whatAFormerOwnerGivesIsCarriedOnByNobody() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    let (emma, vault) = (try #require(adults.ben.emma), adults.ben.vault)
    let history = emma.register.links.history
    let seat = try #require(history.seats(of: adults.ben.id).first)
    let before = try vault.link(of: emma, as: seat, [.give(adults.carla.id, .owner, until: 0)])
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [adults.ben.id])
    let annas = try #require(adults.anna.emma)
    var after = before
    after.follows = annas.register.links.history.tips
    for link in [before, after] {
      for adult in adults.everyone { try vault.forge(link, into: adult.store) }
    }
    try adults.meet()
    for adult in [adults.anna, adults.carla] {
      try adult.reopen()
      #expect(try adult.vault.tendEpochs().get() == [])
    }
    #expect(adults.carla.emma == nil)
    let links = try #require(adults.anna.emma).register.links
    #expect(links.access.entitlements.keys.map { $0 } == [adults.anna.id])
    // What Anna writes next follows neither, and changes nothing for Carla.
    try adults.share(with: adults.ben, .viewer)
    #expect(try !#require(adults.anna.emma).register.links.access.includes(adults.carla.id))
  }

  /// A wrap is what its link names, and holds the key that the epoch's link commits to.
  @Test func aWrapThatIsChangedOpensNothingAndIsTold() throws {
    let adults = try Adults()
    try adults.anna.vault.share(
      #require(adults.anna.emma), with: adults.ben.id, role: .editor)
    let emma = try #require(adults.anna.emma)
    let wrap = try #require(emma.register.links.history.wraps(for: adults.ben.id).first)
    let path = VaultPath.epochWrap(emma.id, wrap.wrap.file)
    var bytes = try #require(adults.anna.store.blobs[BlobPath(path.string)])
    bytes[40] ^= 1
    try adults.ben.store.replace(BlobPath(path.string), bytes, durably: true)
    try adults.meet()
    try adults.ben.reopen()
    #expect(adults.ben.emma == nil)
    #expect(adults.ben.vault.problems.contains { $0.reason.contains("name") })
  }

  /// An owner who is out signs links without end: what this machine keeps of them has a limit, and what counts is kept.
  @Test func whatAFormerOwnerWritesIsRememberedUpToALimit() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    let (emma, vault) = (try #require(adults.ben.emma), adults.ben.vault)
    let seat = try #require(emma.register.links.history.seats(of: adults.ben.id).first)
    var link = try vault.link(of: emma, as: seat, [.give(adults.carla.id, .owner, until: 0)])
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [adults.ben.id])
    for time in UInt64(0)..<20 {
      link.time = time
      try vault.forge(link, into: adults.anna.store)
    }
    _ = try #require(adults.anna.emma).refresh()
    try adults.anna.reopen()
    let links = try #require(adults.anna.emma).register.links
    let counting = links.history.counting
    #expect(links.history.lasting.count == counting.count + 20)
    var memory = LinkMemory()
    memory.note(links, wraps: [:], formerLimit: 1_000)
    let kept = memory.verified
    #expect(kept.isSuperset(of: counting.subtracting([emma.id.root])))
    let former = memory.files.filter { path, _ in
      if case .link(_, let id) = path { !counting.contains(id) } else { false }
    }
    let byteCount = former.values.reduce(0) { $0 + $1.count }
    #expect(byteCount > 500 && byteCount <= 1_000)
    // Nor does it grow when it is looked at again.
    let before = memory
    memory.note(links, wraps: [:], formerLimit: 1_000)
    #expect(memory == before)
  }

  /// What counts may be as much as it is: the state is read whatever its size, or the vault would be shut for good.
  @Test func whatIsRememberedIsReadWhateverItsSize() throws {
    let member = MemberID.random()
    var remembered = RememberedFiles()
    for number in UInt8(0)..<70 {
      let id = StatementID(storage: Bytes32(exactly: [UInt8](repeating: number, count: 32)))
      remembered.files[.link(member, id)] = [UInt8](repeating: number, count: 1 << 20)
    }
    let again = try RememberedFiles(decoding: remembered.encoded(), what: "memory")
    #expect(again == remembered)
  }

  @Test func whatThisMachineRemembersOfLinksIsPutBack() throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, .editor)
    let paths = adults.anna.store.blobs.keys.filter { $0.string.contains("/links/") }
    try #require(paths.count == 2)
    for path in paths { try adults.anna.store.remove(path) }
    try adults.anna.reopen()
    #expect(
      adults.anna.vault.problems.map(\.kind) == [.rollback, .rollback])
    for path in paths { #expect(adults.anna.store.blobs[path] != nil) }
    #expect(try #require(adults.anna.emma).accesses().count == 2)
    try adults.anna.reopen()
    #expect(adults.anna.vault.problems == [])
  }
}
