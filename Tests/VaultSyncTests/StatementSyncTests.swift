import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Statements that a remote has cut short, of which there are two, and those by which people leave.
@Suite struct StatementSyncTests {
  private let usb = MemoryStore()
  private let anna: SyncingAdult
  private let ben: SyncingAdult
  private let carla: SyncingAdult

  /// Ben is an owner of Emma besides Anna, Carla has joined, and everyone has synced.
  init() throws {
    anna = SyncingAdult(try Family(count: 1)[0])
    try anna.write("Visit")
    try anna.sync(usb)
    var joined: [SyncingAdult] = []
    for name in ["Ben", "Carla"] {
      let adult = try SyncingAdult(joining: anna.vault.invite(), as: name)
      try adult.sync(usb)
      joined.append(adult)
    }
    (ben, carla) = (joined[0], joined[1])
    try anna.sync(usb)
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .owner)
    try meet()
  }

  private func meet(sourceLocation: SourceLocation = #_sourceLocation) throws {
    for _ in 0..<2 {
      for adult in [anna, ben, carla] {
        #expect(try adult.sync(usb).problems == [], sourceLocation: sourceLocation)
      }
    }
  }

  /// The link that gave a person access.
  private func gift(to person: PersonID) throws -> VaultPath {
    let emma = try #require(anna.emma)
    let history = emma.register.links.history
    let links = emma.register.links.files.keys.filter { path in
      guard case .link(_, let id) = path, let link = history.link(id) else { return false }
      return link.changes.contains { $0.person == person }
    }
    return try #require(links.first)
  }

  @Test(arguments: [(Role.viewer, Role.editor), (.editor, .viewer), (.viewer, .viewer)])
  func twoOwnersWhoShareWithOnePersonAtOnceComeToTheSame(annas: Role, bens: Role) throws {
    try anna.vault.share(#require(anna.emma), with: carla.vault.person, role: annas)
    try ben.vault.share(#require(ben.emma), with: carla.vault.person, role: bens)
    try meet()
    for adult in [anna, ben, carla] {
      let roles = try #require(adult.emma).accesses().filter { $0.person == carla.vault.person }
      #expect(roles.map(\.role) == [max(annas, bens)])
    }
    #expect(carla.emma?.role == max(annas, bens))
    // Nothing more is owed.
    try anna.sync(usb)
    #expect(try anna.sync(usb).pushed.isEmpty)
  }

  @Test func aStrongerRoleReachesEveryoneWithWhatIsWrittenByIt() throws {
    try anna.vault.share(#require(anna.emma), with: carla.vault.person, role: .viewer)
    try meet()
    try anna.vault.share(#require(anna.emma), with: carla.vault.person, role: .editor)
    try anna.sync(usb)
    try carla.sync(usb)
    try carla.write("Vaccine")
    try carla.sync(usb)
    // Ben learns of both at once.
    #expect(try ben.sync(usb).problems == [])
    #expect(try ben.titles == ["Visit", "Vaccine"])
    // A remote that shows the old one again is put right.
    try meet()
  }

  @Test(arguments: ["link", "wrap", "certificate", "closing", "introduction"], [0, 9, 60])
  func aStatementThatWasCutOnTheRemoteIsReplacedByTheWholeOne(of kind: String, by missing: Int)
    throws
  {
    let certificate = try #require(
      anna.store.blobs.keys.first {
        if case .certificate(ben.vault.person, _) = VaultPath(parsing: $0.string) {
          true
        } else {
          false
        }
      })
    let path: BlobPath =
      switch kind {
      case "link": BlobPath(try gift(to: ben.vault.person).string)
      case "wrap":
        try #require(
          anna.store.blobs.keys.first {
            $0.string.contains("/wraps/") && $0.string.hasPrefix("members/")
          })
      case "certificate": certificate
      case "closing":
        BlobPath(
          VaultPath.closing(ben.vault.person, ben.vault.context.keys.generation).string)
      default: BlobPath(VaultPath.introduction(ben.vault.person).string)
      }
    let whole = try #require(anna.store.blobs[path])
    let cut = missing == 0 ? [] : Array(whole.dropLast(missing))
    try usb.replace(path, cut, durably: true)
    let check = try RemoteCheck(vault: anna.vault, remote: usb).run(readsData: false)
    #expect(check.problems.contains { $0.path == path.string && $0.kind == .damagedThere })
    // Told once by a sync that looks everywhere, as one does each day, and mended.
    try anna.write("Vaccine")
    let report = try anna.sync(usb, looksEverywhere: true)
    #expect(report.problems.map(\.path).contains(path.string))
    #expect(Digest.sha256(try #require(usb.blobs[path])) == Digest.sha256(whole))
    try meet()
    let again = try RemoteCheck(vault: anna.vault, remote: usb).run(readsData: false)
    #expect(again.problems == [])
    #expect(try ben.titles == ["Visit", "Vaccine"])
  }

  @Test func aLeavingIsCarriedOutByAnOwnersNextSync() throws {
    try anna.vault.share(#require(anna.emma), with: carla.vault.person, role: .editor)
    try meet()
    try carla.write("Last")
    try carla.vault.leave(#require(carla.emma))
    #expect(carla.emma == nil)
    #expect(try carla.sync(usb).problems == [])
    let report = try ben.sync(usb)
    #expect(report.revocations.map(\.left) == [[carla.vault.person]])
    try meet()
    #expect(try anna.titles == ["Visit", "Last"])
    #expect(carla.emma == nil)
    #expect(try #require(anna.emma).accesses().map(\.person).contains(carla.vault.person) == false)
    // Nothing more is owed.
    #expect(try anna.sync(usb).revocations == [])
  }

  @Test func handingOverReachesEveryone() throws {
    try anna.vault.share(#require(anna.emma), with: carla.vault.person, role: .viewer)
    try meet()
    try anna.vault.offerPlace(in: #require(anna.emma), to: carla.vault.person)
    try meet()
    try carla.vault.agree(to: #require(carla.vault.offeredPlaces().first))
    try carla.sync(usb)
    // The next sync of the giver's device does the rest.
    #expect(try anna.sync(usb).handOvers.map(\.kind) == [.handedOver])
    #expect(anna.emma?.role == .editor)
    try meet()
    for adult in [anna, ben, carla] {
      let roles = try #require(adult.emma).accesses().map { [$0.person: $0.role] }
      #expect(roles.contains([anna.vault.person: .editor]))
      #expect(roles.contains([carla.vault.person: .owner]))
    }
    #expect(try anna.titles == ["Visit"])
    // Who came after Anna can be taken out by Carla, who cannot be taken out by them, nor by Anna.
    #expect(throws: VaultError.self) {
      try ben.vault.beginEpoch(of: #require(ben.emma), without: [carla.vault.person])
    }
    #expect(throws: VaultError.self) {
      try anna.vault.beginEpoch(of: #require(anna.emma), without: [carla.vault.person])
    }
    try carla.vault.beginEpoch(of: #require(carla.emma), without: [ben.vault.person])
    try meet()
    #expect(ben.emma?.role == nil)
    for adult in [anna, carla] { #expect(try adult.sync(usb).handOvers.isEmpty) }
  }

  /// What blocked before: somebody whose words have to join two closings keeps nobody from taking out another.
  @Test func aRevocationGoesOnBesideSomebodyWhoseKeysAreDivided() throws {
    try anna.vault.share(#require(anna.emma), with: carla.vault.person, role: .editor)
    try meet()
    try divide(ben)
    try anna.sync(usb)
    #expect(anna.vault.context.people[ben.vault.person]?.generation == nil)
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [carla.vault.person])
    let emma = try #require(anna.emma)
    #expect(emma.register.links.holders(of: emma.epoch) == [anna.vault.person])
    #expect(emma.register.links.access.includes(ben.vault.person))
    // And nothing is owed until his words have joined them.
    #expect(try anna.vault.tendEpochs().get() == [])
  }

  /// Two closings of one person that do not know of each other, in Anna's folder.
  private func divide(_ adult: SyncingAdult) throws {
    let own = try adult.vault.context.ownPerson()
    let tips = own.history.tips
    let words = try RecoveryWords(parsing: adult.words.joined(separator: " "))
    for _ in 0..<2 {
      let writer = ClosingWriter(
        SignedFiles(store: anna.store, binding: Binding(vault: adult.vault.id)), in: anna.store,
        clock: .system, person: own, device: adult.vault.context.device, memory: PeopleMemory())
      _ = try writer.run(
        ClosingWriter.Content(), signedWith: words, endorsedBy: words
      ) { (path, bytes) throws(VaultError) in
        try adult.vault.context.signedFiles.store(bytes, at: path, in: anna.store)
      }
    }
    try anna.vault.context.reloadPeople()
    try #require(tips.count == 1)
  }
}
