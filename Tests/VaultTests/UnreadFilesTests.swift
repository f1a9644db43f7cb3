import BlobStore
import Glibc
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

@testable import Vault

/// Some files cannot be read for a while, and are there all the same.
private final class RefusingStore: InspectingStore {
  let inner: any LocalStore
  private let folder = Guarded<String?>(nil)
  private let reason = Guarded(UnreadFilesTests.Reason.tooManyFiles)
  private let refused = Guarded(0)

  init(_ inner: any LocalStore) { self.inner = inner }

  /// How many reads failed.
  var refusedCount: Int { refused.withLock { $0 } }

  /// Files below this folder cannot be read; nil: all can.
  func refuse(below path: String?, for reason: UnreadFilesTests.Reason = .tooManyFiles) {
    folder.withLock { $0 = path }
    self.reason.withLock { $0 = reason }
  }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    guard [.read, .readRange, .openForReading].contains(call.kind),
      let refusedFolder = folder.withLock({ $0 }), call.path.string.hasPrefix(refusedFolder)
    else { return }
    refused.withLock { $0 += 1 }
    throw BlobStoreError(errno: reason.withLock { $0.number }, path: call.path.string)
  }
}

@Suite struct UnreadFilesTests {
  /// Why they cannot be read.
  enum Reason: CaseIterable, Sendable {
    case tooManyFiles, denied

    var number: Int32 { self == .denied ? EACCES : EMFILE }
  }

  private let adults: Adults
  /// Anna's mount.
  private let store: RefusingStore
  private let mount: Vault

  init() throws {
    adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    try adults.share(with: adults.carla, .viewer)
    store = RefusingStore(adults.anna.store)
    mount = try adults.anna.open(on: store)
  }

  private var emma: Member { get throws { try #require(mount.members.first) } }

  /// Brings what Ben has, and has the mount look while what lies below a folder cannot be read, and then once more.
  private func look(whileUnreadable folder: String, for reason: Reason) throws {
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    store.refuse(below: folder, for: reason)
    _ = try? mount.refreshMembers()
    _ = try? emma.refresh()
    try #require(store.refusedCount > 0)
    store.refuse(below: nil)
    adults.anna.clock.advance(seconds: 1)
    _ = try mount.refreshMembers()
    _ = try emma.refresh()
  }

  /// The mount looks once a second.
  private func look(times: Int) throws {
    for _ in 0..<times {
      adults.anna.clock.advance(seconds: 1)
      _ = try? mount.refreshMembers()
      _ = try? emma.refresh()
    }
  }

  /// Brings what Ben has, of which the mount cannot read what lies below a folder for minutes. It is tried about once a minute in
  /// the end, and not with each look, together with all that it belongs to.
  private func expectFewTries(below folder: String) throws {
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    store.refuse(below: folder)
    try look(times: 120)
    let before = store.refusedCount
    try #require(before > 0)
    try look(times: 60)
    // With each try it may be several files, and each of them more than once.
    #expect(store.refusedCount - before < 10)
  }

  private func replaceWords(of adult: Adults.Adult) throws -> [StatementID] {
    let words = try RecoveryWords(parsing: adult.words.joined(separator: " "))
    let new = RecoveryWords.random()
    try adult.vault.replaceWords(words, with: new)
    return try #require(adult.vault.context.people[adult.id]).history.tips
  }

  /// Ben takes Carla's access away.
  @Test(arguments: Reason.allCases)
  func aLinkThatCouldNotBeReadIsReadLater(for reason: Reason) throws {
    let member = try #require(adults.ben.emma)
    try adults.ben.vault.beginEpoch(of: member, without: [adults.carla.id])
    try look(whileUnreadable: "members/\(member.id.hex)/links", for: reason)
    #expect(try !emma.register.links.access.includes(adults.carla.id))
    #expect(try emma.epoch == member.epoch)
  }

  @Test(arguments: Reason.allCases)
  func aRevisionThatCouldNotBeReadIsReadLater(for reason: Reason) throws {
    try adults.ben.write("Vaccine card")
    try look(whileUnreadable: "members/\(emma.id.hex)/objects", for: reason)
    let titles = try emma.children(of: .root).map(\.title.string)
    #expect(titles.contains("Vaccine card"), "\(titles)")
  }

  @Test(arguments: Reason.allCases)
  func aHeadThatCouldNotBeReadIsReadLater(for reason: Reason) throws {
    try adults.ben.write("Vaccine card")
    try look(whileUnreadable: "members/\(emma.id.hex)/heads", for: reason)
    let titles = try emma.children(of: .root).map(\.title.string)
    #expect(titles.contains("Vaccine card"), "\(titles)")
  }

  /// Ben's words are replaced, which says as well which of his devices stay.
  @Test(arguments: Reason.allCases)
  func aClosingThatCouldNotBeReadIsReadLater(for reason: Reason) throws {
    let ben = adults.ben
    let tips = try replaceWords(of: ben)
    try look(whileUnreadable: "people/\(ben.id.hex)/closings", for: reason)
    #expect(mount.context.people[ben.id]?.history.tips == tips)
  }

  @Test func aClosingThatStaysUnreadIsSeldomTried() throws {
    let (ben, carla) = (adults.ben, adults.carla)
    let tips = try replaceWords(of: ben)
    try expectFewTries(below: "people/\(ben.id.hex)/closings")
    // What else is new is read at once.
    let others = try replaceWords(of: carla)
    try Replicas.carry(from: carla.store, to: adults.anna.store)
    try look(times: 1)
    #expect(mount.context.people[carla.id]?.history.tips == others)
    store.refuse(below: nil)
    try look(times: 61)
    #expect(mount.context.people[ben.id]?.history.tips == tips)
  }

  @Test func aLinkThatStaysUnreadIsSeldomTried() throws {
    let member = try #require(adults.ben.emma)
    try adults.ben.vault.beginEpoch(of: member, without: [adults.carla.id])
    try expectFewTries(below: "members/\(member.id.hex)/links")
    store.refuse(below: nil)
    try look(times: 61)
    #expect(try !emma.register.links.access.includes(adults.carla.id))
    #expect(try emma.epoch == member.epoch)
  }

  @Test func aHeadThatStaysUnreadIsSeldomTried() throws {
    try adults.ben.write("Vaccine card")
    try expectFewTries(below: "members/\(emma.id.hex)/heads")
    store.refuse(below: nil)
    try look(times: 61)
    let titles = try emma.children(of: .root).map(\.title.string)
    #expect(titles.contains("Vaccine card"), "\(titles)")
  }

  @Test func namesThatStayUnreadAreSeldomTried() throws {
    let stateStore = RefusingStore(adults.anna.stateStore)
    let process = try adults.anna.open(on: adults.anna.store, state: stateStore)
    stateStore.refuse(below: "shown")
    for _ in 0..<180 {
      adults.anna.clock.advance(seconds: 1)
      _ = try process.refreshMembers()
    }
    #expect((1..<40).contains(stateStore.refusedCount))
  }

  /// It may say that somebody is out.
  @Test(arguments: Reason.allCases)
  func nobodyIsGivenKeysWhileALinkCannotBeRead(for reason: Reason) throws {
    let member = try #require(adults.ben.emma)
    try adults.ben.vault.beginEpoch(of: member, without: [adults.carla.id])
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    store.refuse(below: "members/\(member.id.hex)/links", for: reason)
    #expect {
      try mount.share(emma, with: adults.carla.id, role: .editor)
    } throws: {
      ($0 as? VaultError)?.isOfTheMachine ?? false
    }
    store.refuse(below: nil)
    try mount.share(emma, with: adults.carla.id, role: .editor)
    #expect(try emma.register.links.access.includes(adults.carla.id))
  }

  /// Ben has taken her access away.
  @Test func nobodyIsSaidToHaveAccessWhileALinkCannotBeRead() throws {
    let member = try #require(adults.ben.emma)
    try adults.ben.vault.beginEpoch(of: member, without: [adults.carla.id])
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    store.refuse(below: "members/\(member.id.hex)/links")
    #expect {
      try mount.share(emma, with: adults.carla.id, role: .viewer)
    } throws: {
      if case VaultError.io(_, EMFILE) = $0 { true } else { false }
    }
  }

  /// What others wrote and this machine cannot read hides nothing but itself.
  @Test func whatCannotBeReadKeepsNobodyFromSaving() throws {
    try adults.ben.write("Vaccine card")
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    store.refuse(below: "members/\(try emma.id.hex)/objects")
    _ = try? emma.refresh()
    try #require(store.refusedCount > 0)
    let commit = try emma.commit([.newRecord("Mine", note: "saved")])
    #expect(commit.failures.isEmpty)
    store.refuse(below: nil)
    // What could not be read twice is looked at again after a minute.
    adults.anna.clock.advance(days: 1)
    _ = try emma.refresh()
    let titles = try emma.children(of: .root).map(\.title.string)
    #expect(Set(titles).isSuperset(of: ["Mine", "Vaccine card"]), "\(titles)")
  }

  /// Where nothing is noted the clock is believed.
  @Test func nothingIsCollectedByAClockOfWhichTheNoteCannotBeRead() throws {
    let stateStore = RefusingStore(adults.anna.stateStore)
    let process = try adults.anna.open(on: adults.anna.store, state: stateStore)
    let before = try adults.anna.stateStore.read("clock", limit: 1 << 10)
    stateStore.refuse(below: "clock")
    adults.anna.clock.advance(days: 1)
    #expect {
      try process.collect(keepDays: 90, isDryRun: false)
    } throws: {
      if case VaultError.io(_, EMFILE) = $0 { true } else { false }
    }
    // It keeps nobody from saving, and is not written over.
    let member = try #require(process.members.first)
    #expect(try member.commit([.newRecord("Mine", note: "saved")]).failures.isEmpty)
    #expect(try adults.anna.stateStore.read("clock", limit: 1 << 10) == before)
  }

  /// Under which names members show is not written anew by a machine that could not read how it was.
  @Test func namesThatCouldNotBeReadAreNotWrittenOver() throws {
    let stateStore = RefusingStore(adults.anna.stateStore)
    let process = try adults.anna.open(on: adults.anna.store, state: stateStore)
    let before = try adults.anna.stateStore.read("shown", limit: 1 << 20)
    stateStore.refuse(below: "shown")
    _ = try process.addMember(named: #require(FileName("Liam")))
    try #require(stateStore.refusedCount > 0)
    #expect(try adults.anna.stateStore.read("shown", limit: 1 << 20) == before)
    stateStore.refuse(below: nil)
    _ = try process.addMember(named: #require(FileName("Noah")))
    let later = try adults.anna.open(on: adults.anna.store)
    #expect(Set(later.shownNames.values.map(\.string)).isSuperset(of: ["Emma", "Liam", "Noah"]))
  }
}
